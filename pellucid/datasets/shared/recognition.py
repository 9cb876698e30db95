"""How data were read is said in one sentence: a file's form and encoding, and which columns were taken."""

from pellucid.core.foundation.notices import InputReading, notify
from pellucid.datasets.shared.columns import Columns


def say_how_read(name: str, form: str, columns: Columns) -> None:
    """Warn with one sentence, if anything was recognised that does not go without saying.

    name: what was read, such as "reviews.csv". form: what is unusual of a file ("a table with ';' between fields, UTF-16");
    empty where nothing is.
    """
    if form or columns.is_recognised:
        notify(f"Read {name}{f' as {form}' if form else ''}; {columns.in_words()}.", InputReading)
