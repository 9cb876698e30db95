"""Public data sets in the common JSON-lines form are read whole, where they lie beside the project."""

import os
from itertools import islice
from pathlib import Path

import pytest

from pellucid.data.formats.json_lines import json_lines
from pellucid.data.shared.rows import BadRow

FOLDER = os.environ.get("PELLUCID_DATA")
ROWS = 300


def _files() -> list[Path]:
    """Every file of the form."""
    if FOLDER is None:
        return []
    return sorted(Path(FOLDER).glob("*/*.jsonl*"))


@pytest.mark.skipif(FOLDER is None, reason="PELLUCID_DATA names no folder of public data")
@pytest.mark.parametrize("path", _files(), ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_the_first_rows_are_read_with_their_evidence(path):
    examples = list(islice(json_lines(path, "all"), ROWS))
    assert examples
    assert not [row for row in examples if isinstance(row, BadRow)]
    for example in examples:
        for mark in example.rationales:
            assert example.segments[mark.segment][mark.start : mark.end].strip()


@pytest.mark.skipif(FOLDER is None, reason="PELLUCID_DATA names no folder of public data")
def test_sst2_has_the_published_sizes():
    sizes = {split: _count(Path(FOLDER) / "sst2", split) for split in ("train", "dev", "test")}
    assert sizes == {"train": 6920, "dev": 872, "test": 1821}


def _count(folder: Path, split: str) -> int:
    (path,) = folder.glob(f"{split}.jsonl*")
    return sum(1 for _ in json_lines(path, "all"))
