"""The parts of a data set: train, dev and test, in files of their own or cut from one."""

import gzip
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import IO

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.data.shared.repeated_texts import equal_groups
from pellucid.data.shared.rows import BadRow, ReadRow
from pellucid.text.example import Example, group_of

PARTS = ("train", "dev", "test")
Names = Mapping[str, tuple[str, ...]]  # part -> the names its files may have, with * for any characters


def part_file(path: Path, split: str, names: Names) -> Path:
    """A part's file: the first of its names that the folder has. A path to a file is returned as it is.

    Raises `BadFile` where the folder has none of these files, `BadSetting` for a part that the format does not have.
    """
    return part_files(path, split, names)[0]


def part_files(path: Path, split: str, names: Names) -> list[Path]:
    """All files of a part, sorted within each name; for data sets whose parts are several files."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadFile(f"There is no file or folder {path}.")
    one_of("split", split, names)
    files = [file for name in names[split] for file in sorted([*path.glob(name), *path.glob(f"{name}.gz")])]
    if not files:
        raise BadFile(f"{path} has no {' or '.join(names[split])} for {split}; there are: {_there(path)}.")
    return files


def _there(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "") if names else "no files"


def lines(path: Path, encoding: str = "utf-8-sig", newline: str | None = None) -> Iterator[str]:
    """The lines of a text file, without its byte order mark.

    Bytes that are not of the encoding become lone surrogates, which `read_rows` reports as a bad row. Raises `BadFile`
    where the file is missing, cannot be read, or is an incomplete archive.
    """
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    with disk_errors("read", path), _open(path, encoding, newline) as file:
        try:
            yield from file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadFile(f"{path} is not a whole gzip archive: {error}.") from None


def _open(path: Path, encoding: str, newline: str | None) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding=encoding, errors="surrogateescape", newline=newline)
    return path.open(encoding=encoding, errors="surrogateescape", newline=newline)


def filled_lines(path: Path, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
    """(number, line) of the lines that are not blank, without their ends."""
    for line_number, line in enumerate(lines(path, encoding), start=1):
        if line.strip():
            yield line_number, line.rstrip("\n")


def row_id(path: Path, line: int) -> str:
    """An id for a row that has none of its own: its file's name and line."""
    return f"{path.name.split('.')[0]}-{line}"


# Cuts examples into train, dev and test: minimal pairs and equal texts stay together, and the labels stay balanced.

SHARES = {"train": 0.70, "dev": 0.15, "test": 0.15}


def split_of(examples: Sequence[Example], split: str) -> list[Example]:
    """The examples of one part, 70 / 15 / 15 %, in their original order.

    Groups (`meta["group"]`, else the example's id, else its text) stay together, and so do groups with equal texts (but
    for case and blanks). Groups with the same labels are ordered by a digest of their name and cut in proportion, so
    every part has the same balance.
    """
    one_of("split", split, (*SHARES, "all"))
    return list(examples) if split == "all" else split_parts(examples)[split]


def split_parts(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """All parts that `split_of` gives, by name."""
    groups = _groups(examples)
    parts = _parts(examples, groups)
    cut: dict[str, list[Example]] = {name: [] for name in SHARES}
    for example, group in zip(examples, groups, strict=True):
        cut[parts[group]].append(example)
    return cut


def part_by_digest(name: str) -> str:
    """The part that a name falls into, 70 / 15 / 15 %, by a digest of it alone: for data sets too large for memory."""
    fraction = _fraction(name)
    return "train" if fraction < SHARES["train"] else "dev" if fraction < 1 - SHARES["test"] else "test"


def is_held_out(name: str) -> bool:
    """Whether a training row belongs to the 15 % that become dev, where a data set has no dev part."""
    return _fraction(name) < SHARES["dev"]


def _fraction(name: str) -> float:
    """A number in [0, 1), the same for a name at all times."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) / 2**64


def _groups(examples: Sequence[Example]) -> list[str]:
    """[example]: the name of its group; groups that have a text in common are one, under the name that is first in
    order.
    """
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while (higher := above.get(name, name)) != name:
            above[name] = above.get(higher, higher)  # the way gets shorter for the next one
            name = higher
        return name

    names = list(map(group_of, examples))
    for equal in equal_groups(examples):
        first, *others = sorted({top(names[position]) for position in equal})
        above |= dict.fromkeys(others, first)
    return list(map(top, names))


def _parts(examples: Sequence[Example], groups: Sequence[str]) -> dict[str, str]:
    labels: dict[str, list[str]] = defaultdict(list)
    for example, group in zip(examples, groups, strict=True):
        labels[group].append(example.label or "")
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, its_labels in labels.items():
        alike[tuple(sorted(its_labels))].append(name)
    parts: dict[str, str] = {}
    shared = dict.fromkeys(SHARES, 0)
    for group_labels, names in sorted(alike.items()):
        # Single examples: each label is cut by itself, so that every part has the same balance.
        sizes = dict.fromkeys(SHARES, 0) if len(group_labels) == 1 else shared
        parts |= _cut(names, len(group_labels), sizes)
    return parts


def _cut(names: list[str], size: int, sizes: dict[str, int]) -> dict[str, str]:
    """Cut groups of `size` examples in proportion.

    sizes: how many examples each part has so far; it is updated, so that rounding evens out over the calls.
    """
    order = sorted(names, key=lambda name: blake2b(name.encode(), digest_size=8).digest())
    total, first = sum(sizes.values()) + size * len(order), 0
    cut: dict[str, str] = {}
    for part, share in SHARES.items():
        wanted = round((share * total - sizes[part]) / size) if part != "test" else len(order)
        members = order[first : first + max(0, wanted)]
        cut |= dict.fromkeys(members, part)
        sizes[part] += size * len(members)
        first += len(members)
    return cut


# A dev part for data sets without one: 15 % of the training rows, by a digest of their ids; train is the rest.


def held_out(rows: Iterator[ReadRow], path: Path, split: str) -> Iterator[ReadRow]:
    """The rows of train or dev, of all training rows of a folder; the test part, and a single file, stay whole."""
    if path.is_file() or split == "test":
        yield from rows
        return
    for row in rows:
        if isinstance(row, BadRow) or is_held_out(row.id) == (split == "dev"):
            yield row
