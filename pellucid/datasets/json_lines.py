"""JSON lines: one example a line, in the common form of development data.

Fields: `id`, `text` (or `premise`/`hypothesis`, `text_a`/`text_b`), `label`, and where people marked why
`evidence` (or `evidence_premise`, `evidence_hypothesis`, `evidence_a`, `evidence_b`): [start, end) characters.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from operator import index
from pathlib import Path
from typing import IO, Any

from pellucid.core.errors import BadFile, BadInput
from pellucid.core.example import Example, Rationale
from pellucid.core.files import disk_errors

FIELDS = (("text",), ("premise", "hypothesis"), ("text_a", "text_b"), ("source", "target"))
_USED = {name for names in FIELDS for name in names} | {"id", "label"}


def read_json_lines(path: str | Path) -> Iterator[Example]:
    """The examples of a .jsonl or .jsonl.gz file; a wrong row raises `BadFile` with file, line and reason."""
    path = Path(path)
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    with disk_errors("read", path), _open(path) as file:
        for number, line in enumerate(_lines(file, path), start=1):
            if line.strip():
                try:
                    yield _example(json.loads(line), str(number))
                except (ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
                    raise BadFile(f"{path}, line {number}: {error}") from None


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    try:
        yield from file
    except (
        UnicodeDecodeError,
        EOFError,
        zlib.error,
    ) as error:  # the last two: an archive that is cut short or spoiled
        raise BadFile(f"{path} is not UTF-8 text, or not whole: {error}") from None


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _example(row: dict[str, Any], number: str) -> Example:
    names = next((names for names in FIELDS if all(name in row for name in names)), None)
    if names is None:
        raise ValueError(f"none of the fields {' / '.join('+'.join(names) for names in FIELDS)} is there")
    marks = tuple(
        Rationale(segment, index(start), index(end))  # whole numbers only
        for segment, name in enumerate(names)
        for start, end in row.get(_evidence_field(name), [])
    )
    label = row.get("label")
    meta = {key: value for key, value in row.items() if key not in _USED and not key.startswith("evidence")}
    return Example(
        tuple(row[name] for name in names),
        _label(label),
        marks,
        str(row.get("id", number)),
        meta,
    )


def _evidence_field(name: str) -> str:
    return {"text": "evidence", "text_a": "evidence_a", "text_b": "evidence_b"}.get(name, f"evidence_{name}")


def split_file(folder: str | Path, split: str) -> Path:
    """A split's file in a folder of JSON lines, plain or gzipped."""
    folder = Path(folder)
    for name in (f"{split}.jsonl", f"{split}.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    there = ", ".join(sorted(path.name for path in folder.glob("*.jsonl*"))) or "none"
    raise BadFile(f"{folder} has no {split}.jsonl or {split}.jsonl.gz; JSON lines there: {there}.")


def _label(label: Any) -> str | None:
    """A label as a word; several labels, in a list, as words with commas between them."""
    if isinstance(label, list) and all(isinstance(name, str) for name in label):
        return ", ".join(label)
    if label is None or isinstance(label, str):
        return label
    if isinstance(label, int | float):
        return str(label)
    raise ValueError(f"the label {label!r} is no word, number or list of words")
