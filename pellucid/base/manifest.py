"""The manifest of a folder: names, sizes and digests of what a command left in it; and whether the folder is still
so.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, possible_path, readable, write_text
from pellucid.base.json_text import is_sealed, parsed, sealed, unsealed
from pellucid.base.temporary_files import TO_LOOK_AT

MANIFEST, FORM = "pellucid-manifest.json", "pellucid-manifest-1"
LARGEST = 64 << 20  # bytes of a manifest that is read: some 400,000 files
BLOCK = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FileDigest:
    """size: in bytes. sha256: 64 hexadecimal digits; "" for a file of another size than was wanted, which is not
    read.
    """

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """command: what made the folder. work: names its work. files: by name. folders: names of those with a manifest of
    their own.
    """

    command: str
    work: str
    files: Mapping[str, FileDigest]
    folders: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write it to a folder, whole or not at all."""
        content = {
            "form": FORM,
            "files": {name: asdict(digest) for name, digest in sorted(self.files.items())},
            "folders": sorted(self.folders),
        }
        owner = {"command": self.command, "work": self.work}
        write_text(folder / MANIFEST, json.dumps(sealed(content, owner), ensure_ascii=False, indent=1))

    def differing(self, folder: Path) -> tuple[list[str], list[str]]:
        """The names of the files that are missing from a folder, and of those that are there and are not as they
        were.
        """
        missing, changed = [], []
        for name, wanted in self.files.items():
            path = folder / name
            if not path.is_symlink() and not path.exists():
                missing.append(name)
            elif digest_inside(folder, name, wanted.size) != wanted:
                changed.append(name)
        return missing, changed


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None where there is none; raises `BadFile` where it is damaged or names files outside
    the folder.
    """
    path = folder / MANIFEST
    if not path.is_symlink() and not path.exists():
        return None
    damaged = BadFile(
        f"{path} is no manifest of ours, or was changed after it was written; run the command that made the folder "
        f"again."
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


def _manifest(content: Mapping[str, Any], owner: Mapping[str, Any]) -> Manifest:
    """The manifest of a record of unknown origin; raises whatever does not fit as an error of some kind."""
    files = {_inside(name): FileDigest(**record) for name, record in content["files"].items()}
    for digest in files.values():
        if type(digest.size) is not int or digest.size < 0 or not _SHA256.fullmatch(digest.sha256):
            raise ValueError("a digest")
    folders = tuple(_inside(name) for name in content["folders"])
    return Manifest(str(owner["command"]), str(owner["work"]), files, folders)


def _inside(name: object) -> str:
    """The name; raises `ValueError` for one that is not relative, or leads out of the folder."""
    path = PurePosixPath(name if isinstance(name, str) else "")
    if str(path) != name or "\0" in str(path) or path.is_absolute() or not path.parts or ".." in path.parts:
        raise ValueError(f"{quoted(name)} leads out of the folder")
    return str(path)


@contextmanager
def opened_inside(folder: Path, name: str) -> Iterator[BinaryIO | None]:
    """A file of a folder, open for reading; None where there is none, for a device, and for a link that leads out of
    the folder.
    """
    with disk_errors("read", folder / name):
        descriptor = _descriptor(folder, name)
        if descriptor is None:
            yield None
            return
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            yield file  # unbuffered, it is a raw file


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
    """Size and digest of a file of a folder; None where `opened_inside` has none. size: a file of another size is not
    read.
    """
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
            for name in [*files, *(link for link in folders if (Path(above) / link).is_symlink())]
        )


# Whether a folder is as the command left it that made it, by its manifest alone: without a model, and without
# network.


@dataclass(frozen=True)
class Verification:
    """folder: as it was named. checked: how many files the manifests list. missing, changed: names of files that are
    not there, or not as they were written; what is no file, and a link that leads out of the folder, is changed.
    foreign: files that no manifest lists; they are no failure.
    """

    folder: str
    checked: int
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no file is missing or changed."""
        return not (self.missing or self.changed)

    def record(self) -> dict[str, object]:
        """Every field, as JSON can hold it, and whether the folder is whole."""
        return asdict(self) | {"is_whole": self.is_whole}

    def __str__(self) -> str:
        kinds = {"Missing": self.missing, "Changed": self.changed, "Foreign": self.foreign}
        files = f"{self.checked:,} file{'' if self.checked == 1 else 's'}"
        outcome = "whole" if self.is_whole else "damaged"
        lines = [f"{self.folder} is {outcome}: {files} by its manifest."]
        lines += [f"{kind}: {listed(map(_in_one_line, names))}" for kind, names in kinds.items() if names]
        return "\n".join(lines)


def verify_folder(folder: str | Path) -> Verification:
    """Check a folder, and those inside it, against their manifests; raises `BadFile` where there is no manifest."""
    path = possible_path(folder)
    if not path.is_dir():
        raise BadFile(f"There is no folder {readable(path)}; give one that a command made.")
    names = names_below(path)
    manifests = {
        name.removesuffix(MANIFEST): _manifest_in(path / name) for name in names if PurePosixPath(name).name == MANIFEST
    }  # by the folder's name with its slash, "" for the outermost
    if not manifests:
        raise BadFile(
            f"{readable(path)} has no {MANIFEST}: no command of Pellucid made it, or the command has not ended, or it "
            f"was of an earlier version; run the command again, which writes one."
        )
    missing, changed, expected = set[str](), set[str](), set[str]()
    for root, manifest in manifests.items():
        if manifest is None:
            changed.add(root + MANIFEST)
            continue
        inner_manifests = [f"{subfolder}/{MANIFEST}" for subfolder in manifest.folders]
        absent, differing = manifest.differing(path / root)
        missing.update(
            root + name for name in [*absent, *(inner for inner in inner_manifests if root + inner not in names)]
        )
        changed.update(root + name for name in differing)
        expected.update(root + name for name in [*manifest.files, *inner_manifests])
    outermost = {root + MANIFEST for root in manifests if not _lies_in_another(root, manifests)}
    unlisted = [name for name in names if name not in expected | changed | outermost]
    # Where a manifest is damaged, nobody knows which of the folder's files it listed.
    unknown = tuple(root for root, manifest in manifests.items() if manifest is None)
    foreign = [readable(name) for name in unlisted if not (unknown and name.startswith(unknown))]
    count = sum(len(intact.files) for intact in manifests.values() if intact is not None)
    return Verification(readable(path), count, tuple(sorted(missing)), tuple(sorted(changed)), tuple(foreign))


def _manifest_in(path: Path) -> Manifest | None:
    """None where it is damaged."""
    try:
        return read_manifest(path.parent)
    except BadFile:
        return None


def _in_one_line(name: str) -> str:
    """A name as it is, or as Python writes it where it has line ends or other control characters."""
    return name if name.isprintable() else quoted(name)


def _lies_in_another(root: str, roots: Iterable[str]) -> bool:
    return any(root != outer and root.startswith(outer) for outer in roots)
