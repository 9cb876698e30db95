"""Manifests: the names, sizes and digests of the files that a command left in a folder, so that damage to any of them is seen.

    pellucid-manifest.json   of every file its bytes and SHA-256, by its name from the folder on; sealed, and written last

A manifest is of finished work. Its names are relative, so a folder that was moved or mailed still fits its manifest. Digests find
accidents and careless changes, not a forger, who can write a manifest too. Nothing of a folder is run, drawn or interpreted here.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, write_text
from pellucid.base.json_text import is_sealed, parsed, sealed, unsealed
from pellucid.base.temporary_files import TO_LOOK_AT
from pellucid.base.wording import quoted

MANIFEST, FORM = "pellucid-manifest.json", "pellucid-manifest-1"
LARGEST = 64 << 20  # bytes of a manifest that is read: some 400,000 files
BLOCK = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FileDigest:
    """size: in bytes. sha256: 64 hexadecimal digits; "" for a file of another size than was wanted, which is not read."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """command: what made the folder. of: names its work. files: by name. folders: names of those with a manifest of their own."""

    command: str
    of: str
    files: Mapping[str, FileDigest]
    folders: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write it to a folder, whole or not at all."""
        content = {
            "form": FORM,
            "files": {name: asdict(one) for name, one in sorted(self.files.items())},
            "folders": sorted(self.folders),
        }
        of = {"command": self.command, "work": self.of}
        write_text(folder / MANIFEST, json.dumps(sealed(content, of), ensure_ascii=False, indent=1))

    def differing(self, folder: Path) -> tuple[list[str], list[str]]:
        """The names of the files that are missing from a folder, and of those that are there and are not as they were."""
        missing, changed = [], []
        for name, wanted in self.files.items():
            path = folder / name
            if not path.is_symlink() and not path.exists():
                missing.append(name)
            elif digest_inside(folder, name, wanted.size) != wanted:
                changed.append(name)
        return missing, changed


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None where there is none; raises `BadFile` where it is damaged or names files outside the folder."""
    path = folder / MANIFEST
    if not path.is_symlink() and not path.exists():
        return None
    damaged = BadFile(
        f"{path} is no manifest of ours, or was changed after it was written; run the command that made the folder again."
    )
    with opened_inside(folder, MANIFEST) as file:
        text = b"" if file is None else file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise damaged
    try:
        content = parsed(text.decode("utf-8"))
        assert content["form"] == FORM and is_sealed(content)
        return _manifest(unsealed(content, content["seal"]["of"], path), content["seal"]["of"])
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, BadFile):
        raise damaged from None


def remove_manifest(folder: Path) -> None:
    """Remove it, where there is one: it is of finished work, and work begins."""
    with disk_errors("write", folder):
        (folder / MANIFEST).unlink(missing_ok=True)


def _manifest(content: Mapping[str, Any], of: Mapping[str, Any]) -> Manifest:
    """The manifest of a record of unknown origin; raises whatever does not fit as an error of some kind."""
    files = {_inside(name): FileDigest(**record) for name, record in content["files"].items()}
    for one in files.values():
        if type(one.size) is not int or one.size < 0 or not _SHA256.fullmatch(one.sha256):
            raise ValueError("a digest")
    folders = tuple(_inside(name) for name in content["folders"])
    return Manifest(str(of["command"]), str(of["work"]), files, folders)


def _inside(name: object) -> str:
    """The name; raises `ValueError` for one that is not relative, or leads out of the folder."""
    path = PurePosixPath(name if isinstance(name, str) else "")
    if str(path) != name or "\0" in str(path) or path.is_absolute() or not path.parts or ".." in path.parts:
        raise ValueError(f"{quoted(name)} leads out of the folder")
    return str(path)


@contextmanager
def opened_inside(folder: Path, name: str) -> Iterator[BinaryIO | None]:
    """A file of a folder, open for reading; None where there is none, for a device, and for a link that leads out of the folder."""
    with disk_errors("read", folder / name):
        descriptor = _descriptor(folder, name)
        if descriptor is None:
            yield None
            return
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            yield file  # type: ignore[misc]  # unbuffered, it is a raw file


def _descriptor(folder: Path, name: str) -> int | None:
    try:
        target = (folder / name).resolve(strict=True)
        if not target.is_relative_to(folder.resolve()):
            return None
        # A pipe that took the file's place is not waited for.
        descriptor = os.open(target, TO_LOOK_AT)
    except PermissionError:
        raise
    except (OSError, RuntimeError):  # there is none, or links lead in a circle
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def digest_inside(folder: Path, name: str, size: int | None = None) -> FileDigest | None:
    """Size and digest of a file of a folder; None where `opened_inside` has none. size: a file of another size is not read."""
    with opened_inside(folder, name) as file:
        if file is None:
            return None
        there = os.fstat(file.fileno()).st_size
        if size is not None and there != size:
            return FileDigest(there, "")
        digest, left = sha256(), there
        while left and (block := file.read(min(left, BLOCK))):  # no more than it had, also where it grows
            digest.update(block)
            left -= len(block)
        return FileDigest(there - left, digest.hexdigest())


def names_below(folder: Path) -> list[str]:
    """Every file below a folder, by its name from there on, links to folders among them; links are not followed."""

    def refuse(error: OSError) -> None:
        raise error

    with disk_errors("read", folder):
        return sorted(
            (Path(above) / name).relative_to(folder).as_posix()
            for above, folders, files in os.walk(folder, onerror=refuse)
            for name in [*files, *(one for one in folders if (Path(above) / one).is_symlink())]
        )
