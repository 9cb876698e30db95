"""Folders in which every text is a file, and its folder's name the class."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors
from pellucid.core.text.example import Example
from pellucid.datasets.shared.rows import ReadRow, read_rows

MakeText = Callable[[str, str, Path], list[Example]]  # takes a text, its class and its file


def text_files(folders: dict[str, Path], pattern: str = "*") -> list[tuple[str, Path]]:
    """(class, file) of all files in the classes' folders; the order mixes the classes and is always the same.

    Raises `BadFile` when a folder is missing.
    """
    for folder in folders.values():
        if not folder.is_dir():
            raise BadFile(f"There is no folder {folder}.")
    files = [
        (name, file)
        for name, folder in folders.items()
        for file in folder.glob(pattern)
        if file.is_file() and not file.name.startswith(".")
    ]
    return sorted(files, key=lambda entry: blake2b(f"{entry[0]}/{entry[1].name}".encode()).digest())


def read_text_files(files: list[tuple[str, Path]], encoding: str, make: MakeText) -> Iterator[ReadRow]:
    """The examples that make(text, class, file) returns for each file; a file that it refuses is a bad row at line 1."""
    for label, file in files:
        with disk_errors("read", file):
            text = file.read_bytes().removeprefix(BOM_UTF8).decode(encoding, errors="surrogateescape")
        yield from read_rows(file, [(1, text)], partial(_from_text, make=make, label=label, file=file))


def _from_text(text: str, _: int, *, make: MakeText, label: str, file: Path) -> list[Example]:
    return make(text, label, file)
