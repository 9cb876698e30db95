"""A run in an object store: the store has the run, and a folder of this machine has copies of what was needed here.

Whatever computes or reads sees files of that folder alone. Before, they are copied from the store; afterwards, what was
written goes there, receipts last. An object is there whole or not at all. Copies of shards and rows are known by the
digests that the run has of them, those of receipts and arrays by size and time. Leases are objects, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from pellucid.base.checks import clipped, quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import cache_folder, disk_errors, is_address, possible_path, whole_file
from pellucid.base.leases import LeaseObjects, Leases
from pellucid.corpus.folder import (
    AGAIN,
    FILES,
    FIRST,
    INPUTS,
    JOB,
    KEYS,
    LEASES,
    REUSED,
    ROWS,
    SHARDS,
    Job,
    Receipt,
    RunFolder,
    numbers_in,
)

ALLOWED = "give a folder, s3://bucket/run, gs://bucket/run or file:///folder/run"
AT_ONCE = 16  # objects that are copied at the same time
ONE_REQUEST = {"s3": "allow_delayed_open=true", "gs": "retry_limit_seconds=60"}  # less waiting than by default

Stamp = tuple[int, int]  # size in bytes, time of the last change in seconds


def copies_of(address: str) -> Path:
    """The folder of this machine with copies of what an address has."""
    return cache_folder() / "runs" / blake2b(address.encode(), digest_size=16).hexdigest()


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


@dataclass(frozen=True)
class StoredFolder(RunFolder):
    """The files of a run in an object store: path has copies of them."""

    store: RunStore

    @property
    def place(self) -> str | Path:
        """See `RunFolder`."""
        return self.store.address

    @property
    def title(self) -> str:
        """See `RunFolder`."""
        return self.store.title

    def job(self) -> Job | None:
        """See `RunFolder`. Where another run stands there than before, no array of that one stays here."""
        path, content = self.path / JOB, self.store.read(JOB)
        if content is None:
            self.store.check()
            return None
        self._make_private()
        before = path.read_bytes() if path.is_file() else b""
        if content != before:
            for array in (self.path / ROWS).glob("*.npy") if before else ():
                array.unlink(missing_ok=True)
            with whole_file(path) as file:
                file.write(content)
        return super().job()

    def _make_private(self) -> None:
        """Make the folder of copies, which may hold texts that are nobody else's business."""
        with disk_errors("write", self.path):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def prepare(self) -> None:
        """See `RunFolder`."""
        self._make_private()
        super().prepare()

    def save_job(self, job: Job) -> None:
        """See `RunFolder`."""
        super().save_job(job)
        self._publish([self.path / JOB])

    def array(self, name: str) -> np.ndarray:
        """See `RunFolder`."""
        self.store.copy_once(self.path, ROWS, name)
        return super().array(name)

    def save_array(self, name: str, values: np.ndarray) -> None:
        """See `RunFolder`."""
        super().save_array(name, values)
        self.store.fetched.add(f"{ROWS}/{name}")

    def has_shard(self, shard: int) -> bool:
        """See `RunFolder`; the receipt was written last."""
        return self.store.stamp(self.name_of(self.receipt_file(shard))) is not None

    def receipts(self) -> set[int]:
        """See `RunFolder`; they are copied."""
        stamps = self.store.stamps(SHARDS)
        shards = numbers_in(stamps, ".json")
        names = [self.receipt_file(shard).name for shard in shards]
        self.store.copy_changed(self.path, SHARDS, {name: stamps[name] for name in names})
        return shards

    def leases(self, slices: int = 1) -> Leases:
        """See `RunFolder`."""
        return Leases(slices, LeaseObjects(self.store, self.path))

    def living(self) -> list[dict[str, Any]]:
        """See `RunFolder`."""
        there = self.store.stamps(LEASES)
        self._make_private()
        for path in (self.path / LEASES).glob("[0-9]*.json"):
            if path.name not in there:
                path.unlink(missing_ok=True)
        self.store.copy_changed(self.path, LEASES, there)
        return super().living()

    def remove(self, path: Path) -> None:
        """See `RunFolder`; the object goes, too."""
        super().remove(path)
        self.store.remove(self.name_of(path))

    def damaged_rows(self, job: Job) -> set[int]:
        """See `RunFolder`. Only what is missing: who needs rows copies them, and removes damaged ones."""
        return set(range(job.shards)) - numbers_in(self.store.stamps(ROWS), ".parquet")

    def _inside(self) -> list[str]:
        return self.store.parts()

    def _names(self, part: str) -> Collection[str]:
        return self.store.stamps(part)

    def _publish(self, paths: Iterable[Path]) -> None:
        self.store.copy_there(self.path, map(self.name_of, paths))

    def publish_plan(self, shards: Iterable[int]) -> None:
        """See `RunFolder`."""
        arrays = (self.path / ROWS / name for name in (FIRST, KEYS, INPUTS, FILES, REUSED))
        self._publish([*(self.rows_file(shard) for shard in shards), *(path for path in arrays if path.is_file())])

    def publish_shard(self, shard: int, receipt: Receipt) -> None:
        """See `RunFolder`; the receipt goes last."""
        failures = self.failures_file(shard)
        self._publish([self.shard_file(shard), *([failures] if receipt.failures else [])])
        if not receipt.failures:
            self.store.remove(self.name_of(failures))
        self._publish([self.receipt_file(shard)])

    def fetch_rows(self, shards: Iterable[int]) -> None:
        """See `RunFolder`. Raises `BadFile` for damaged ones, which are removed: the next command writes them anew."""
        missing = {shard: self.name_of(self.rows_file(shard)) for shard in shards if not self.has_whole_rows(shard)}
        self.store.copy_here(self.path, missing.values())
        for shard, name in missing.items():
            if not self.has_whole_rows(shard):
                self.remove(self.path / name)
                raise BadFile(f"{self.title}/{name} is damaged; {AGAIN}.")

    def fetch_shards(self, job: Job, shards: Iterable[int], anew: bool = False) -> None:
        """See `RunFolder`."""
        missing = [shard for shard in shards if anew or not self.is_whole(job, shard)]
        paths = [path for shard in missing for path in (self.shard_file(shard), self.receipt_file(shard))]
        self.store.copy_here(self.path, map(self.name_of, paths))


def run_folder(place: str | Path) -> RunFolder:
    """The files of the run at a path or an address; raises `BadFile` where there can be none."""
    if isinstance(place, str) and is_address(place):
        return StoredFolder(copies_of(place), RunStore(place))
    return RunFolder(possible_path(place))
