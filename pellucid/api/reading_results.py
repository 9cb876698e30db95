"""The door `read`: results from a file."""

from pathlib import Path

from pellucid.core.corpus.results import Results
from pellucid.core.results import storage


def read(path: str | Path) -> Results:
    """Read what `save` wrote.

    path: a .parquet or .json file.

    Returns `Results`. Raises `BadFile` for anything else.
    """
    return Results(tuple(storage.read(path)))
