"""Which files hold a part of a data set, and the lines of a file, plain or gzipped."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors

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
    for number, line in enumerate(lines(path, encoding), start=1):
        if line.strip():
            yield number, line.rstrip("\n")


def row_id(path: Path, line: int) -> str:
    """An id for a row that has none of its own: its file's name and line."""
    return f"{path.name.split('.')[0]}-{line}"
