"""The answers of a service that are kept: in a file of SQLite, or in memory."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

from pellucid.base.checks import changes, reason
from pellucid.base.errors import BadFile
from pellucid.base.files import check_place, disk_errors
from pellucid.base.json_text import parsed

FORM, FILE = "pellucid-answers-1", "answers.sqlite"
CHECK = 8  # bytes of a digest in each kept answer
KEYS = 500  # that are looked up at once
KEY_BYTES = 16


def key_of(text: str | tuple[str, str]) -> bytes:
    """A digest of a text, or of a pair."""
    return blake2b(json.dumps(text).encode(), digest_size=KEY_BYTES).digest()


class AnswerStore:
    """The answers to texts by their keys, in a file of SQLite, which processes may share, or in memory."""

    def __init__(self, path: Path | None, seal: Mapping[str, object], width: int) -> None:
        self.width, self._lock, self.path = width, threading.Lock(), path
        if path is not None:
            self.path = path = path / FILE if path.is_dir() or not path.suffix else path
            check_place(path)
            with disk_errors("write", path):
                path.parent.mkdir(parents=True, exist_ok=True)
        with self._readable():
            self._base = sqlite3.connect(path or ":memory:", timeout=60, check_same_thread=False)
            self._base.execute("pragma trusted_schema = off")
            with self._base:
                self._base.execute("begin immediate")
                self._open(seal)

    def _open(self, seal: Mapping[str, object]) -> None:
        """Read the seal, or write it into an empty file; raises `BadFile` for one that belongs to something else."""
        if not self._base.execute("select count(*) from sqlite_master").fetchone()[0]:
            self._base.execute("create table seal (content text)")
            self._base.execute("create table answers (key blob primary key, numbers blob) without rowid")
            self._base.execute("insert into seal values (?)", (json.dumps(seal),))
        try:
            was = parsed(self._base.execute("select content from seal").fetchone()[0])
            assert isinstance(was, dict) and was.get("form") == FORM
        except (sqlite3.OperationalError, TypeError, ValueError, AssertionError):
            raise BadFile(f"{self.path} is a database of something else; give another file as cache.") from None
        if differing := changes(was, seal):
            raise BadFile(f"The cache {self.path} is of another question: {differing}; give another file.")

    def known(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """key -> its answer [number], for those that are there and whole."""
        known: dict[bytes, np.ndarray] = {}
        with self._lock, self._readable():
            for first in range(0, len(keys), KEYS):
                some = list(keys[first : first + KEYS])
                marks = ",".join("?" * len(some))
                rows = self._base.execute(f"select key, numbers from answers where key in ({marks})", some)
                known |= {key: np.frombuffer(value, "<f8", self.width) for key, value in rows if self._fits(key, value)}
        return known

    def _fits(self, key: bytes, value: object) -> bool:
        """Whether an answer is what was written, to the last bit; else it is asked again."""
        size = 8 * self.width
        return isinstance(value, bytes) and value[size:] == _check_of(key, value[:size])  # also one that is too short

    def keep(self, keys: Sequence[bytes], answers: np.ndarray) -> None:
        """Keep the answers [text number]."""
        values = [row.astype("<f8").tobytes() for row in answers]
        rows = [(key, value + _check_of(key, value)) for key, value in zip(keys, values, strict=True)]
        with self._lock, self._readable(), self._base:
            self._base.executemany("insert or replace into answers values (?, ?)", rows)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise BadFile(
                f"The cache {self.path} cannot be read or written ({reason(error)}); give another file."
            ) from None


def _check_of(key: bytes, value: bytes) -> bytes:
    return blake2b(key + value, digest_size=CHECK).digest()
