"""The door `examples`: examples of a data set, a file or a folder."""

from pathlib import Path
from typing import Any

from pellucid.api.data_source import DataSource
from pellucid.core.text.example import Example


def examples(
    source: str | Path,
    /,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: Any,
) -> list[Example]:
    """Read the examples of a data set, a file or a folder.

    source: a data set's name ("pocket", "pocket_pairs"), a file, or a folder with a file a part.
    split: "train", "dev", "test" or "all"; a single file is all of them at once.
    format: a name of `formats`; None: known from the file's name, for JSON lines and tables; `parallel` where the settings name source and target.
    skip_bad_rows: leave out rows that cannot be read, with a warning that counts them.
    settings: the format's own.

    Returns the examples in the order of the file. Raises `BadFile` for a path that does not exist and for a bad row,
    `UnknownName` for a data set, format or setting that does not exist.

    >>> examples = pellucid.examples("pocket", split="dev")
    >>> examples[0].text, examples[0].label
    ('Pure joy from a first-time novelist.', 'positive')
    >>> len(pellucid.examples("reviews.csv"))
    48
    """
    return DataSource(source, split, format, settings, skip_bad_rows).examples()
