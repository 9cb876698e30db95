"""What readers of large knowledge bases share: numbered lines, and concepts that must be there."""

import bz2
import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.text.concept import Concept


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return bz2.open(path, "rt", encoding="utf-8") if path.suffix == ".bz2" else path.open(encoding="utf-8")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of a UTF-8 file, also of one that gzip or bzip2 packed; empty lines are passed over.

    Raises `BadFile` for a file that is missing, of another encoding or cut off.
    """
    number = 0
    with disk_errors("read", path):
        try:
            with _opened(path) as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield number, line.rstrip("\r\n")
        except (UnicodeDecodeError, EOFError):
            raise BadFile(
                f"{path} cannot be read after line {number}: it is not UTF-8 text, or is cut off."
            ) from None


def named_or_refused(path: Path, words: Mapping[str, Sequence[str]], most: int) -> list[Concept]:
    """A concept for each name with the first of its words; raises `BadFile` where a name has none."""
    empty = [name for name, of_name in words.items() if not of_name]
    if empty:
        raise BadFile(
            f"{path} has no words of {listed(map(quoted, empty))}; give names as the file writes them."
        )
    return [Concept(name, tuple(of_name[:most])) for name, of_name in words.items()]
