"""JSON lines: one example a line, in the common form of development data.

Fields: `id`, `text` (or `premise`/`hypothesis`, `text_a`/`text_b` and other usual names), `label`, and where people
marked why `evidence` (or `evidence_premise`, `evidence_hypothesis`, `evidence_a`, `evidence_b`): [start, end) characters.
"""

from collections.abc import Iterator
from functools import partial
from operator import index
from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.json_text import parsed
from pellucid.core.foundation.kinds import formats
from pellucid.core.text.example import Example, Rationale
from pellucid.datasets.shared.fields import label_field, text_fields
from pellucid.datasets.shared.part_files import filled_lines
from pellucid.datasets.shared.rows import ReadRow, read_rows


@formats.add(reads="one .jsonl file, or train.jsonl, dev.jsonl, test.jsonl", data="any", rationales=True)
def json_lines(
    path: Path, split: str, *, text: str | None = None, second: str | None = None, label: str | None = None
) -> Iterator[ReadRow]:
    """JSON lines, also gzipped, one object an example; other fields become its meta.

    text, second, label: the fields, where they have unusual names.
    """
    file = split_file(path, split) if path.is_dir() else path
    yield from read_rows(file, filled_lines(file), partial(_example, text=text, second=second, label=label))


def split_file(folder: Path, split: str) -> Path:
    """A split's file in a folder of JSON lines, plain or gzipped; raises `BadFile` when there is none."""
    for name in (f"{split}.jsonl", f"{split}.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    there = ", ".join(sorted(path.name for path in folder.glob("*.jsonl*"))) or "none"
    raise BadFile(f"{folder} has no {split}.jsonl or {split}.jsonl.gz; JSON lines there: {there}.")


def _example(
    line: str, number: int, *, text: str | None, second: str | None, label: str | None
) -> list[Example]:
    row = parsed(line)
    if not isinstance(row, dict):
        raise ValueError(f"it is {type(row).__name__}, not an object with fields")
    names, labelled = text_fields(row, text, second), label_field(row, label)
    marks = tuple(
        Rationale(segment, index(start), index(end))  # whole numbers only
        for segment, name in enumerate(names)
        for start, end in row.get(_evidence_field(name), [])
    )
    used = {*names, labelled, "id", *map(_evidence_field, names)}
    meta = {key: value for key, value in row.items() if key not in used}
    label_name = _label(row[labelled]) if labelled else None
    return [Example(tuple(row[name] for name in names), label_name, marks, str(row.get("id", number)), meta)]


def _evidence_field(name: str) -> str:
    return {"text": "evidence", "text_a": "evidence_a", "text_b": "evidence_b"}.get(name, f"evidence_{name}")


def _label(label: Any) -> str | None:
    """A label as a word; several labels, in a list, as words with commas between them."""
    if isinstance(label, list) and all(isinstance(name, str) for name in label):
        return ", ".join(label)
    if label is None or isinstance(label, str):
        return label
    if isinstance(label, int | float):
        return str(label)
    raise ValueError(f"the label {label!r} is no word, number or list of words")
