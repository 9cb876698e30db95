"""What was recognised in a file is said in one sentence: its form, its encoding, and which columns were taken."""

from pathlib import Path

from pellucid.core.foundation.notices import Notice, notify
from pellucid.datasets.shared.columns import Columns


class RecognisedData(Notice):
    """How a file was read where its name alone does not say it."""


def say_how_read(path: Path, form: str, columns: Columns) -> None:
    """Warn with one sentence, if anything was recognised that does not go without saying.

    form: what is unusual of the file ("a table with ';' between fields, UTF-16"); empty where nothing is.
    """
    if form or columns.is_recognised:
        sentence = f"Read {path.name}{f' as {form}' if form else ''}; {columns.in_words()}."
        notify(sentence, RecognisedData)
