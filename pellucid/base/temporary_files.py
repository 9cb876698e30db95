"""Unfinished files and folders: beside their final path, under random names, locked while the process that writes
lives.

They are created with `O_EXCL` (or `mkdir`), so no existing file is opened, and no link is followed. The lock ends with
the process, however it ends: a file without a lock was left by a process that was killed, and only such files are
removed. Windows has no such locks, as some disks have none: there a file is abandoned when nobody has written it for a
day.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ModuleNotFoundError:  # on Windows
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".pellucid-", ".part"
_NAME = re.compile(r"\.pellucid-[0-9a-f]{16}\.part")
# Windows knows some of the flags only; its own one leaves line ends as they are.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK
TO_LOOK_AT = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)  # neither follows a link nor waits for a pipe
RENAMES_OPEN_FILES = os.name != "nt"
_NOTHING = -1  # the descriptor of a folder that cannot be opened
SURELY_DEAD = 24 * 3600.0  # seconds without a write, where there are no locks


@contextmanager
def unfinished_file(folder: Path, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in a folder: its path, and the file open for writing; removed at the end unless it was renamed.

    mode: its permissions, before the umask.
    """
    path, descriptor = _locked(folder, lambda path: os.open(path, _NEW_FILE, mode))
    with os.fdopen(descriptor, "wb") as file:
        try:
            yield path, file
        finally:
            if not RENAMES_OPEN_FILES:  # nor removes them
                file.close()
            with contextlib.suppress(OSError):
                _remove(path)


@contextmanager
def unfinished_folder(folder: Path) -> Iterator[Path]:
    """A new folder in a folder, for its user alone; removed at the end with everything in it."""

    def make(path: Path) -> int:
        path.mkdir(0o700)
        return os.open(path, TO_LOOK_AT) if RENAMES_OPEN_FILES else _NOTHING

    path, descriptor = _locked(folder, make)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            _remove(path)
        if descriptor != _NOTHING:
            os.close(descriptor)


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left in a folder; what a living process writes, and any other file, stays."""
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        if not _NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(FileNotFoundError), _opened(path) as descriptor:
            if descriptor is not None and _is_abandoned(descriptor):
                _remove(path)


def _locked(folder: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """The path and the descriptor of what `make` creates under a random name, locked."""
    while True:
        path = folder / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
        descriptor = make(path)
        if fcntl is None:
            return path, descriptor
        with contextlib.suppress(OSError):  # a disk without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process removed it before it was locked


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A read-only descriptor; None for a link and for what may not be read."""
    try:
        descriptor = os.open(path, TO_LOOK_AT)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    """Whether no living process writes it; if so, it is locked until the descriptor is closed."""
    state = os.fstat(descriptor)
    if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
        return False
    try:
        if fcntl is None:
            raise OSError(errno.ENOTSUP, "no locks")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return time.time() - state.st_mtime > SURELY_DEAD
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
