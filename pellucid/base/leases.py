"""Leases: who computes a shard or part now. A file that is made exclusively and touched every few seconds; that of a
dead process is free after a minute, or at once where it ran on this machine.

No lock is needed, so a folder may lie on a network disk. Clocks of other machines are not trusted: a lease is stale
when it has not changed for a minute of one's own clock.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from glob import escape as glob_escape
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from pellucid.base.checks import in_syntax, quoted
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors
from pellucid.base.json_text import read_json

HEARTBEAT, STALE = 10.0, 60.0  # seconds
LOOK = 0.5  # seconds between two looks at a folder
HOST = socket.gethostname()


def holder_of(path: Path) -> dict[str, Any]:
    """What a lease says of its process; empty where nothing can be read."""
    try:
        record = read_json(path)
    except BadFile:
        return {}
    return record if isinstance(record, dict) else {}


def is_dead(holder: dict[str, Any]) -> bool:
    """Whether a process of this machine surely does not live any more."""
    process = holder.get("process")
    if os.name == "nt" or holder.get("host") != HOST or not isinstance(process, int) or process <= 0:
        return False  # on Windows, to ask is to end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def living(folder: Path) -> list[dict[str, Any]]:
    """What the leases of shards say that are kept alive, each with its shard."""
    leases = []
    for path in sorted(folder.glob("[0-9]*.json")):
        holder = holder_of(path)
        try:
            age = time.time() - path.stat().st_mtime
        except OSError:
            continue
        if holder and age < STALE and not is_dead(holder):
            leases.append({"shard": int(path.stem), **holder})
    return leases


class LeasePlace(Protocol):
    """Where leases are."""

    def make(self, path: Path, record: Mapping[str, Any]) -> bool:
        """Whether the lease was free, and has this record now."""

    def holder(self, path: Path) -> dict[str, Any]:
        """What the lease says of its process; empty where nothing can be read."""

    def stamp(self, path: Path) -> object:
        """What differs after each heartbeat; raises `OSError` where the lease is gone."""

    def touch(self, path: Path, record: Mapping[str, Any]) -> None:
        """One heartbeat."""

    def remove(self, path: Path) -> None: ...


class LeaseFiles:
    """Leases as files that are made exclusively; a heartbeat changes their time."""

    def make(self, path: Path, record: Mapping[str, Any]) -> bool:
        """See `LeasePlace`."""
        with disk_errors("write", path):
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                return False
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(record))
        return True

    def holder(self, path: Path) -> dict[str, Any]:
        """See `LeasePlace`."""
        return holder_of(path)

    def stamp(self, path: Path) -> object:
        """See `LeasePlace`."""
        return path.stat().st_mtime

    def touch(self, path: Path, record: Mapping[str, Any]) -> None:
        """See `LeasePlace`."""
        os.utime(path)

    def remove(self, path: Path) -> None:
        """See `LeasePlace`."""
        path.unlink()


@dataclass
class Leases:
    """The leases of this process, kept alive by a thread until they are released. slices: of how many it is. place:
    where they are.
    """

    slices: int = 1
    place: LeasePlace = field(default_factory=LeaseFiles)
    _paths: set[Path] = field(default_factory=set)
    _seen: dict[Path, tuple[object, float]] = field(default_factory=dict)  # a lease's stamp, and when we saw it first
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Leases":
        threading.Thread(target=self._touch_all, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        for path in list(self._paths):
            self.release(path)

    def take(self, path: Path) -> bool:
        """Whether the lease is this process's from now on; one that nobody keeps alive is taken over."""
        if self._make(path):
            return True
        if not self._is_stale(path):
            return False
        self._remove(path)
        return self._make(path)

    def release(self, path: Path) -> None:
        """Give a lease back."""
        with self._lock:
            self._paths.discard(path)
        self._remove(path)

    def record(self) -> dict[str, Any]:
        """What a lease says of this process."""
        return {"host": HOST, "process": os.getpid(), "since": time.time(), "slices": self.slices}

    def _make(self, path: Path) -> bool:
        is_ours = self.place.make(path, self.record())
        if is_ours:
            with self._lock:
                self._paths.add(path)
        return is_ours

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            self.place.remove(path)

    def _is_stale(self, path: Path) -> bool:
        if is_dead(self.place.holder(path)):
            return True
        try:
            touched = self.place.stamp(path)
        except OSError:
            return False
        with self._lock:
            before, since = self._seen.get(path, (touched, time.monotonic()))
            self._seen[path] = (touched, since if before == touched else time.monotonic())
            return time.monotonic() - self._seen[path][1] > STALE

    def _touch_all(self) -> None:
        while not self._ended.wait(HEARTBEAT):
            with self._lock:
                paths = list(self._paths)
            for path in paths:
                with suppress(OSError):  # another process took it for stale, or the disk is full
                    self.place.touch(path, self.record())


# Slices: commands that share the parts of one folder, on one machine or several.

Share = tuple[int, int]  # (i, n) of slice i of n


def share_of(written: str | None) -> Share:
    """(i, n) of "i/n"; raises `BadSetting` for anything else, and for i outside 1 to n."""
    if written is None:
        return 1, 1
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", str(written))
    option = in_syntax("slice=", "--slice ")
    if match is None:
        raise BadSetting(f"{option}{quoted(written)} is not possible; give i/n, such as 3/64.")
    index, count = int(match[1]), int(match[2])
    if not 1 <= index <= count:
        raise BadSetting(f"{option}{written} is out of range; give 1/{count} to {count}/{count}.")
    return index, count


def shares_first(share: Share, count: int) -> Iterator[int]:
    """The numbers below count, i - 1, i - 1 + n … first."""
    index, slices = share
    mine = range(index - 1, count, slices)
    return chain(mine, (part for part in range(count) if part % slices != index - 1))


def computed_by_slices(
    folder: Path, share: Share, count: int, is_there: Callable[[int], bool], compute: Callable[[int], None]
) -> None:
    """Compute the parts of a folder that are not there, beside other slices; of those that others compute this one
    waits for the end.
    """
    with _slice_of(folder, share) as leases:
        _compute_all(folder, share, count, leases, is_there, compute)


@contextmanager
def joined_by_slices(
    folder: Path, share: Share, count: int, is_there: Callable[[int], bool], compute: Callable[[int], None]
) -> Iterator[None]:
    """The same; then hold the folder alone, to join its parts."""
    with _slice_of(folder, share) as leases:
        _compute_all(folder, share, count, leases, is_there, compute)
        while not leases.take(_lease(folder, "join")):
            time.sleep(LOOK)
        yield


def clear_dead_leases(folder: Path) -> None:
    """Remove the leases of processes of this machine that were ended while they computed a part."""
    for path in folder.parent.glob(f"{glob_escape(folder.name)}.lease-*.json"):
        if is_dead(holder_of(path)):
            path.unlink(missing_ok=True)


def _slice_of(folder: Path, share: Share) -> Leases:
    with disk_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
    return Leases(share[1])


def _lease(folder: Path, part: object) -> Path:
    """Of a part, beside the folder, since a manifest knows its files."""
    return folder.with_name(f"{folder.name}.lease-{part}.json")


def _compute_all(
    folder: Path,
    share: Share,
    count: int,
    leases: Leases,
    is_there: Callable[[int], bool],
    compute: Callable[[int], None],
) -> None:
    left = list(shares_first(share, count))
    while left := [part for part in left if not is_there(part)]:
        free = [part for part in left if _computed(part, leases, _lease(folder, part), is_there, compute)]
        if not free:
            time.sleep(LOOK)


def _computed(
    part: int, leases: Leases, lease: Path, is_there: Callable[[int], bool], compute: Callable[[int], None]
) -> bool:
    """Whether a part was free, and is there now."""
    if not leases.take(lease):
        return False
    try:
        if not is_there(part):
            compute(part)
    finally:
        leases.release(lease)
    return True
