"""The objects of a run in an object store, by pyarrow: looked for, read, written, and copied to and from a folder.

An object is there whole or not at all. Whether a copy is that of the object is known by size and time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from pellucid.base.checks import clipped, quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, whole_file

ALLOWED = "give a folder, s3://bucket/run, gs://bucket/run or file:///folder/run"
AT_ONCE = 16  # objects that are copied at the same time
ONE_REQUEST = {"s3": "allow_delayed_open=true", "gs": "retry_limit_seconds=60"}  # less waiting than by default

Stamp = tuple[int, int]  # size in bytes, time of the last change in seconds


@lru_cache(maxsize=8)
def _opened(address: str) -> tuple[Any, str]:
    """pyarrow's file system of an address, and the path there; raises `BadFile` where it cannot be used.

    It stays in this process: keys for the store are read from its environment, and are never sent to another.
    """
    from pyarrow import fs  # takes a moment to import, and most runs are in folders

    parts = urlsplit(address)
    if "@" in parts.netloc:
        raise BadFile(
            f"An address that begins with {parts.scheme}:// came with a password; leave it away, and set "
            f"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if address.partition("://")[0] not in ("s3", "gs", "file"):
        raise BadFile(f"{quoted(address)} is no place for a run; {ALLOWED}.")
    more = ONE_REQUEST.get(parts.scheme, "")
    with _store_errors("use", address):
        system, path = fs.FileSystem.from_uri(f"{address}{'&' if parts.query else '?'}{more}" if more else address)
    if not path.strip("/"):
        raise BadFile(f"{quoted(address)} names no folder; {ALLOWED}.")
    return system, path.rstrip("/")


@contextmanager
def _store_errors(doing: str, address: str) -> Iterator[None]:
    """Turn an error of the store into `BadFile`: what was being done where, why it failed, and what to do."""
    try:
        yield
    except BadFile:
        raise
    except (OSError, ValueError, NotImplementedError) as error:
        raise BadFile(f"Cannot {doing} {address}: {_why(str(error))}; {_way_out(str(error))}.") from None


def _why(error: str) -> str:
    """What a store says, without where: that stands before it."""
    bare = re.sub(r" \(Request ID:.*?\)|[.] Detail: .*", "", " ".join(error.split()))
    of_store = re.search(r"AWS Error (\w+) during \w+ operation: (?:.*Details: )?(.*)", bare)
    return clipped(f"{of_store[1].replace('_', ' ').lower()}, {of_store[2]}" if of_store else bare).rstrip(".")


def _way_out(error: str) -> str:
    """What to do about an error of a store."""
    ways = {
        "NETWORK_CONNECTION|connect|resolve host|timed? ?out": "check the network, and region and endpoint_override of "
        "the address",
        "NO_SUCH_BUCKET|NoSuchBucket|[Bb]ucket '.*' not found": "make the bucket, or name another",
        "ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|SIGNATURE|UNAUTHORI|[Cc]redentials|403": "set "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of someone who may read and write there",
        "without|not built|NotImplemented": "install the pyarrow of the package index, which has this kind of store",
    }
    return next((way for signs, way in ways.items() if re.search(signs, error)), ALLOWED)


@dataclass(frozen=True)
class RunStore:
    """The objects of a run, by their names below its address. fetched: what this process has copied once."""

    address: str
    fetched: set[str] = field(default_factory=set, compare=False)

    @property
    def title(self) -> str:
        """The address without its options, for people."""
        return self.address.partition("?")[0]

    def check(self) -> None:
        """Raise `BadFile` where the store does not answer, has no such bucket, or nothing may be read there."""
        system, path = _opened(self.address)
        bucket = path.partition("/")[0]
        with _store_errors("read", self.title):
            is_there = system.type_name == "local" or system.get_file_info(bucket).type.name != "NotFound"
        if not is_there:
            raise BadFile(f"{self.title} is in no bucket: {quoted(bucket)} is not there; make it, or name another.")

    def stamps(self, part: str = "") -> dict[str, Stamp]:
        """The objects directly below a part of the run, by name."""
        return {each.base_name: _stamp(each) for each in self._infos(part) if each.is_file and each.base_name}

    def parts(self) -> list[str]:
        """What stands directly below the address: objects and parts."""
        return sorted(each.base_name for each in self._infos("") if each.base_name)

    def _infos(self, part: str) -> list[Any]:
        system, path = _opened(self.address)
        from pyarrow import fs

        selector = fs.FileSelector(f"{path}/{part}".rstrip("/"), allow_not_found=True)
        with _store_errors("read", self.title):
            return system.get_file_info(selector)  # type: ignore[no-any-return]

    def stamp(self, name: str) -> Stamp | None:
        """The stamp of an object; None where it is not there."""
        system, path = _opened(self.address)
        with _store_errors("read", f"{self.title}/{name}"):
            info = system.get_file_info(f"{path}/{name}")
        return _stamp(info) if info.is_file else None

    def read(self, name: str) -> bytes | None:
        """What an object holds; None where it is not there."""
        system, path = _opened(self.address)
        with _store_errors("read", f"{self.title}/{name}"):
            try:
                with system.open_input_stream(f"{path}/{name}") as stream:
                    return stream.read()  # type: ignore[no-any-return]
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        """Write an object, whole or not at all."""
        system, path = _opened(self.address)
        with _store_errors("write", f"{self.title}/{name}"):
            if system.type_name == "local":
                with whole_file(f"{path}/{name}") as file:
                    file.write(content)
                return
            with system.open_output_stream(f"{path}/{name}") as stream:
                stream.write(content)

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        system, path = _opened(self.address)
        with _store_errors("write", f"{self.title}/{name}"), suppress(FileNotFoundError):
            system.delete_file(f"{path}/{name}")

    def copy_there(self, folder: Path, names: Iterable[str]) -> None:
        """Copy files of the folder to the store, several at a time."""
        _at_once(lambda name: self.write(name, _content(folder / name)), names)

    def copy_here(self, folder: Path, names: Iterable[str]) -> None:
        """Copy objects to the folder, several at a time; of those that are gone no copy stays."""
        _at_once(lambda name: self._copy(folder / name, name), names)

    def copy_all(self, folder: Path) -> None:
        """Copy every object to the folder."""
        objects = self.stamps()
        self.copy_here(folder, objects)
        for part in set(self.parts()) - set(objects):
            (folder / part).mkdir()
            self.copy_here(folder, [f"{part}/{name}" for name in self.stamps(part)])

    def copy_changed(self, folder: Path, part: str, stamps: dict[str, Stamp]) -> None:
        """Copy those objects of a part whose copies have another size or time; the copies get theirs."""
        changed = [name for name, stamp in stamps.items() if _stamp_here(folder / part / name) != stamp]
        self.copy_here(folder, [f"{part}/{name}" for name in changed])
        for name in changed:
            with suppress(OSError):
                os.utime(folder / part / name, (stamps[name][1],) * 2)

    def copy_once(self, folder: Path, part: str, name: str) -> None:
        """Copy an object that changed since it was copied, at its first use in this process."""
        full = f"{part}/{name}"
        if full not in self.fetched:
            stamp = self.stamp(full)
            if stamp is not None:
                self.copy_changed(folder, part, {name: stamp})
            self.fetched.add(full)

    def _copy(self, path: Path, name: str) -> None:
        content = self.read(name)
        if content is None:
            path.unlink(missing_ok=True)
            return
        with whole_file(path) as file:
            file.write(content)


def _stamp(info: Any) -> Stamp:
    return info.size, int(info.mtime_ns // 10**9)


def _stamp_here(path: Path) -> Stamp | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, int(state.st_mtime)


def _content(path: Path) -> bytes:
    with disk_errors("read", path):
        return path.read_bytes()


def _at_once(copy: Callable[[str], None], names: Iterable[str]) -> None:
    names = list(names)
    if len(names) == 1:
        copy(names[0])
    elif names:
        with ThreadPoolExecutor(min(AT_ONCE, len(names))) as pool:
            list(pool.map(copy, names))


@dataclass
class LeaseObjects:
    """Leases in an object store, where nothing can be made exclusively: written with a token and read back, and written
    again as a heartbeat.

    Two processes that look at the same moment may both take a shard. That costs time and never data: both write the
    same bytes. store: of the objects. folder: a path in it stands for the object of that name.
    """

    store: RunStore
    folder: Path
    token: str = field(default_factory=lambda: token_hex(8))
    _contents: dict[Path, bytes] = field(default_factory=dict)  # what leases held when they were looked at last
    _beats: int = 0

    def make(self, path: Path, record: Mapping[str, Any]) -> bool:
        """See `LeasePlace`."""
        if self._look(path):
            return False
        content = self._write(path, record)
        return self._look(path) == content

    def holder(self, path: Path) -> dict[str, Any]:
        """See `LeasePlace`; as it was when it was looked at last."""
        try:
            record = json.loads(self._contents.get(path, b""))
        except ValueError:
            return {}
        return record if isinstance(record, dict) else {}

    def stamp(self, path: Path) -> object:
        """See `LeasePlace`."""
        return self._contents.get(path)

    def touch(self, path: Path, record: Mapping[str, Any]) -> None:
        """See `LeasePlace`; a lease that another process took for stale is left to it."""
        self._look(path)
        if self.holder(path).get("token") == self.token:
            self._write(path, record)

    def remove(self, path: Path) -> None:
        """See `LeasePlace`."""
        self.store.remove(self._name(path))

    def _write(self, path: Path, record: Mapping[str, Any]) -> bytes:
        """Write the record with the token and the number of heartbeats: no two contents are equal."""
        self._beats += 1
        content = json.dumps({**record, "token": self.token, "beat": self._beats}).encode()
        self.store.write(self._name(path), content)
        return content

    def _look(self, path: Path) -> bytes:
        content = self._contents[path] = self.store.read(self._name(path)) or b""
        return content

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()
