"""Files that are written whole or not at all, and one clear error when the disk fails."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pellucid.base.checks import clipped, quoted, reason
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.temporary_files import (
    RENAMES_OPEN_FILES,
    remove_abandoned,
    unfinished_file,
    unfinished_folder,
)

PART_NAMES = ("train", "dev", "val", "test")  # how the names of parts begin in a folder of data


@contextmanager
def disk_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an error of the disk into `BadFile`, which says what was being done to which file, and why it failed."""
    try:
        yield
    except BadFile:
        raise
    except OSError as error:
        raise BadFile(f"Cannot {doing} {clipped(str(path))}: {clipped(error.strerror or reason(error))}.") from None


def check_place(path: str | Path) -> None:
    """Raise `BadFile` when no file can be written there; call it before long work."""
    path = Path(path)
    with disk_errors("write", path):
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "a device"
            raise BadFile(f"Cannot write {path}: it is {kind}; give the name of a file.")
        _check_above(path, path.parent)


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise `BadFile` where a file cannot be written, is an input too, or is named twice; call it before long work.

    outputs: names of files. inputs: of files, and of folders with parts of data. None, and what is neither, count for
    nothing.
    """
    written: list[str] = []
    for path in (Path(output) for output in outputs if output is not None):
        check_place(path)
        if any(_is_read(path, source) for source in inputs if source is not None):
            raise BadFile(f"Cannot write {path}: it is read too, and would be lost; give another name.")
        if os.path.realpath(path) in written:
            raise BadFile(f"Cannot write {path} twice; give each output a name of its own.")
        written.append(os.path.realpath(path))


def _is_read(path: Path, source: str | Path) -> bool:
    """Whether a file is the source, or a part of the data in that folder."""
    try:
        is_part = path.is_file() and path.name.lower().startswith(PART_NAMES)
        return path.samefile(source) or (is_part and path.parent.samefile(source))
    except (OSError, ValueError):  # one of them is no file, but say a text or the name of a data set
        return False


def check_new(*paths: Path) -> None:
    """Raise `BadFile` for a file that exists, where replacing it would lose what people wrote."""
    for path in paths:
        if path.exists():
            raise BadFile(
                f"{path} exists, and what people filled in may belong to it; give another name, or remove it."
            )


def check_folder(path: str | Path) -> None:
    """Raise `BadFile` when no files can be written to this folder, whether it exists or not yet."""
    path = Path(path)
    with disk_errors("write", path):
        _check_above(path, path)


def _check_above(path: Path, folder: Path) -> None:
    """Check the folder, or, where it does not exist, the nearest folder above it that does."""
    folder = folder.absolute()
    nearest = next(above for above in (folder, *folder.parents) if above.exists())
    if not nearest.is_dir():
        raise BadFile(f"Cannot write {path}: {nearest} is a file, not a folder; give another place.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadFile(f"Cannot write {path}: nothing may be written to {nearest}; give another place.")


def remove_unfinished(folder: Path) -> None:
    """Remove unfinished files that killed processes left in a folder."""
    with disk_errors("clear", folder):
        remove_abandoned(folder)


def possible_path(path: str | Path) -> Path:
    """The path; raises `BadFile` where neither a file nor a folder can have that name."""
    if not isinstance(path, str | Path):
        raise BadFile(f"A path came as {type(path).__name__}; give a string or a pathlib.Path.")
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise BadFile(f"No file can be called {quoted(str(path))}; give a name without null characters.")
    with disk_errors("look for", Path(path)):
        Path(path).exists()  # fails for a name that is too long
    return Path(path)


def cache_folder() -> Path:
    """The user's folder for what can be made again: the one that PELLUCID_CACHE names, else `pellucid` in that of
    XDG_CACHE_HOME, else `~/.cache/pellucid`. Raises `BadFile` for a user without a home.
    """
    if named := os.environ.get("PELLUCID_CACHE"):
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pellucid"
    except RuntimeError as error:
        raise BadFile(f"There is no folder for copies ({reason(error)}); name one in PELLUCID_CACHE.") from None


def file_name(path: str | Path) -> Path:
    """The path of a file; raises `BadFile` where no file can have that name."""
    path = possible_path(path)
    if not path.name:
        raise BadFile(f"{quoted(str(path))} is a folder; give the name of a file.")
    return path


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters at least: one is a drive of Windows


def is_address(place: object) -> bool:
    """Whether a place is the address of an object store, such as s3://bucket/run, and no path."""
    return isinstance(place, str) and ADDRESS.match(place) is not None


def place_of(place: str | Path) -> str | Path:
    """The address as it is; of anything else the path, as `possible_path` gives it."""
    return place if is_address(place) else possible_path(place)


def readable(path: str | Path) -> str:
    """A path as text: bytes of its name that are not UTF-8 become replacement characters."""
    return os.fsencode(path).decode("utf-8", "replace")


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Yield an unfinished file beside the path; when the block succeeds, it replaces the file at the path in one step.

    When several processes write one path, each succeeds, and the last one's file stays. A new file gets the permissions
    of the umask, an existing file keeps its own. A link is replaced, not followed. A device is refused: replacing it
    would take it away from every program.
    """
    path = file_name(path)
    with disk_errors("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _permissions(path)
        with unfinished_file(path.parent, 0o666 if mode is None else 0o600) as (temporary, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            if not RENAMES_OPEN_FILES:
                file.close()
            temporary.replace(path)
        _sync(path.parent)


def _permissions(path: Path) -> int | None:
    """The permissions of an existing file; None where there is none. Raises `BadFile` for a device."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise BadFile(f"Cannot write {path}: it is a device; give the name of a file.")
    return mode & 0o777 if stat.S_ISREG(mode) else None


def _sync(folder: Path) -> None:
    """Write a folder's names to the disk; some disks, and Windows, cannot do this."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a folder that may be written and not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def whole_files(folder: str | Path) -> Iterator[Path]:
    """Yield a folder for a writer that chooses its own file names; when the block succeeds, its files appear one by
    one.
    """
    folder = Path(folder)
    with disk_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder) as temporary:
            yield temporary
            for source in sorted(path for path in temporary.rglob("*") if path.is_file()):
                with whole_file(folder / source.relative_to(temporary)) as file:
                    file.write(source.read_bytes())


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all, in UTF-8."""
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInput(
            f"Cannot write {path}: {quoted(text[max(error.start - 20, 0) : error.end])} holds half of a surrogate "
            "pair; decode it again or remove it."
        ) from None
    with whole_file(path) as file:
        file.write(encoded)


def read_text(path: str | Path) -> str:
    """Read a UTF-8 text file; raises `BadFile` when it is missing or not UTF-8."""
    path = file_name(path)
    with disk_errors("read", path):
        try:
            return path.read_text(encoding="utf-8-sig")  # a byte order mark is no part of the text
        except UnicodeDecodeError as error:
            raise BadFile(f"{path} is not UTF-8 text (byte {error.start}); convert it first.") from None
