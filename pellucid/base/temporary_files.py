"""Unfinished files and folders: beside their final path, under random names, locked while the process that writes lives.

They are created with `O_EXCL` (or `mkdir`), so no existing file is opened, and no link is followed. The lock ends with the
process, however it ends: a file without a lock was left by a process that was killed, and only such files are removed.
"""

import contextlib
import fcntl
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

PREFIX, SUFFIX = ".pellucid-", ".part"
_NAME = re.compile(r"\.pellucid-[0-9a-f]{16}\.part")
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_TO_LOOK_AT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
SURELY_DEAD = 24 * 3600.0  # seconds without a write, on disks that know no locks


@contextmanager
def unfinished_file(folder: Path, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in a folder: its path, and the file open for writing; removed at the end unless it was renamed.

    mode: its permissions, before the umask.
    """

    def make(path: Path) -> int:
        return os.open(path, _NEW_FILE, mode)

    with _unfinished(folder, make) as (path, descriptor), os.fdopen(descriptor, "wb", closefd=False) as file:
        yield path, file


@contextmanager
def unfinished_folder(folder: Path) -> Iterator[Path]:
    """A new folder in a folder, for its user alone; removed at the end with everything in it."""

    def make(path: Path) -> int:
        path.mkdir(0o700)
        return os.open(path, _TO_LOOK_AT)

    with _unfinished(folder, make) as (path, _):
        yield path


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left in a folder; what a living process writes, and any other file, stays."""
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        if not _NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(FileNotFoundError), _opened(path) as descriptor:
            if descriptor is not None and _is_abandoned(descriptor):
                _remove(path)


@contextmanager
def _unfinished(folder: Path, make: Callable[[Path], int]) -> Iterator[tuple[Path, int]]:
    """The path and the descriptor of what `make` creates under a random name, locked."""
    path, descriptor = _locked(folder, make)
    try:
        yield path, descriptor
    finally:
        with contextlib.suppress(OSError):
            _remove(path)
        os.close(descriptor)


def _locked(folder: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    while True:
        path = folder / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
        descriptor = make(path)
        with contextlib.suppress(OSError):  # a disk without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process removed it before it was locked


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A read-only descriptor; None for a link and for what may not be read."""
    try:
        descriptor = os.open(path, _TO_LOOK_AT)
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
