"""Where units of work leave their numbers: a file each while a study runs, and one compressed file of them all after
it.

The one file has a line of JSON for each unit: its name and its numbers, sorted by name, so that the same units are the
same bytes. A unit's own file counts more than its line, so that an interrupted packing loses nothing.
"""

import json
import lzma
from functools import lru_cache
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, read_text, whole_file, write_text

RUNS = "runs"  # the folder of the units' own files
PACKED = "units.jsonl.xz"  # beside that folder

Numbers = dict[str, Any]  # a JSON object of names and numbers, whose form is its study's


def has_unit(folder: Path, name: str) -> bool:
    """Whether there are numbers of a unit. folder: of the units' own files."""
    return _own_file(folder, name).exists() or name in _packed(folder)


def unit_place(folder: Path, name: str) -> Path:
    """The file that a unit's numbers are read from, or written to."""
    own = _own_file(folder, name)
    return packed_path(folder) if not own.exists() and name in _packed(folder) else own


def read_unit(folder: Path, name: str) -> Numbers:
    """A unit's numbers, in the form in which they were written."""
    own = _own_file(folder, name)
    text = read_text(own) if own.exists() else _packed(folder)[name]
    numbers: Numbers = json.loads(text)
    return numbers


def units_of(folder: Path) -> list[Numbers]:
    """The numbers of all units, by name."""
    names = {path.stem for path in folder.glob("*.json")} | _packed(folder).keys()
    return [read_unit(folder, name) for name in sorted(names)]


def write_unit(folder: Path, name: str, numbers: Numbers) -> None:
    """Leave a unit's numbers in a file of their own."""
    write_text(_own_file(folder, name), json.dumps(numbers))


def pack_units(folder: Path) -> None:
    """Move the numbers of all units into one file beside their folder, and remove the folder."""
    own = {path.stem: path for path in folder.glob("*.json")}
    if not own:
        return
    texts = _packed(folder) | {name: json.dumps(json.loads(read_text(path))) for name, path in own.items()}
    lines = [f'{{"name": {json.dumps(name)}, "numbers": {texts[name]}}}\n' for name in sorted(texts)]
    with whole_file(packed_path(folder)) as file:
        file.write(lzma.compress("".join(lines).encode(), preset=6))
    for path in own.values():
        path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def unpack_units(folder: Path) -> None:
    """The reverse of `pack_units`, for whoever takes a unit out, so that it is done again."""
    for name, text in _packed(folder).items():
        if not _own_file(folder, name).exists():
            write_text(_own_file(folder, name), text)
    packed_path(folder).unlink(missing_ok=True)


def packed_path(folder: Path) -> Path:
    """The one file of all units of a folder of their own files."""
    return folder.parent / PACKED


def _own_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _packed(folder: Path) -> dict[str, str]:
    """unit -> the text of its numbers, of the one file."""
    path = packed_path(folder)
    if folder.name != RUNS or not path.is_file():
        return {}
    stat = path.stat()
    return _lines(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _lines(path: Path, changed: int, size: int) -> dict[str, str]:
    """The content of a file as it was then; a study reads it unit by unit."""
    with disk_errors("read", path):
        content = path.read_bytes()
    try:
        records = [json.loads(line) for line in lzma.decompress(content).decode().splitlines()]
        return {record["name"]: json.dumps(record["numbers"]) for record in records}
    except (lzma.LZMAError, ValueError, TypeError, KeyError) as error:
        raise BadFile(f"{path} is damaged ({error}); get it again, or remove it and run the study.") from None
