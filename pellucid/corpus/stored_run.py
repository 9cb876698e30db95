"""A run in an object store: the store has the run, and a folder of this machine has copies of what was needed here.

Whatever computes or reads sees files of that folder alone. Before, they are copied from the store; afterwards, what was
written goes there, receipts last. Copies of shards and rows are known by the digests that the run has of them, those of
receipts and arrays by size and time. Leases are objects, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.errors import BadFile
from pellucid.base.files import cache_folder, disk_errors, is_address, possible_path, whole_file
from pellucid.base.leases import Leases
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
from pellucid.corpus.store import LeaseObjects, RunStore


def copies_of(address: str) -> Path:
    """The folder of this machine with copies of what an address has."""
    return cache_folder() / "runs" / blake2b(address.encode(), digest_size=16).hexdigest()


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
