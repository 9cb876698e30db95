"""The door `examples`: examples of a data set, a file or a folder."""

from pathlib import Path
from typing import Any

from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples


def examples(
    source: str | Path,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: Any,
) -> list[Example]:
    """Examples of a data set by name ("pocket", "pocket_pairs"), or of a file or folder in one of many formats.

    format: see `formats`; told from the name where that is clear (JSON lines, tables). settings are the format's.
    skip_bad_rows: leave rows out that cannot be read, with a warning that counts them.
    """
    return load_examples(source, split, format, skip_bad_rows, **settings)
