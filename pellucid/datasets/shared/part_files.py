"""Which files hold a part, and their lines, plain or gzipped."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors

PARTS = ("train", "dev", "test")
Names = Mapping[str, tuple[str, ...]]  # part -> the names its files may have, with * for any characters


def part_file(path: Path, split: str, names: Names) -> Path:
    """A part's file: the first of its names that is in the folder; a file given itself is the part.

    Raises `BadFile` when the folder has none of them, `BadSetting` for a part that the original does not have.
    """
    return part_files(path, split, names)[0]


def part_files(path: Path, split: str, names: Names) -> list[Path]:
    """All files of a part, sorted within each name; for originals that cut a part into several."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadFile(f"There is no file or folder {path}.")
    one_of("split", split, names)
    found = [file for name in names[split] for file in sorted([*path.glob(name), *path.glob(f"{name}.gz")])]
    if not found:
        raise BadFile(f"{path} has no {' or '.join(names[split])} for {split}; there are: {_there(path)}.")
    return found


def _there(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "") if names else "no files"


def lines(path: Path, encoding: str = "utf-8-sig", newline: str | None = None) -> Iterator[str]:
    """The lines of a text file, without its byte order mark; bytes that are not of the encoding become lone surrogates, which no row accepts.

    Raises `BadFile` when the file is not there, cannot be read, or is an archive that is not whole.
    """
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    with disk_errors("read", path), _open(path, encoding, newline) as file:
        try:
            yield from file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadFile(f"{path} is not a whole gzip archive: {error}.") from None


def _open(path: Path, encoding: str, newline: str | None) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding=encoding, errors="surrogateescape", newline=newline)
    return path.open(encoding=encoding, errors="surrogateescape", newline=newline)


def filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of the lines that are not blank, without their ends."""
    for number, line in enumerate(lines(path), start=1):
        if line.strip():
            yield number, line.rstrip("\n")


def row_id(path: Path, line: int) -> str:
    """The id of a row whose original has none: its file's name and line."""
    return f"{path.name.split('.')[0]}-{line}"
