"""Files that are there whole or not at all, and one clear sentence when a disk says no."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pellucid.core.errors import BadFile


@contextmanager
def disk_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an error of the disk into `BadFile`: what was done, to which file, and why it failed."""
    try:
        yield
    except BadFile:
        raise
    except OSError as error:
        raise BadFile(f"Cannot {doing} {path}: {error.strerror or error}.") from None


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside the file; when the block succeeds it takes the file's place at once."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with disk_errors("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all, in UTF-8."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_text(path: str | Path) -> str:
    """Read a UTF-8 text file; raises `BadFile` when it is missing or not UTF-8."""
    path = Path(path)
    with disk_errors("read", path):
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadFile(f"{path} is not UTF-8 text (byte {error.start}); convert it first.") from None
