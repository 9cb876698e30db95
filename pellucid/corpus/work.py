"""The work of a run that is left: which shards, who takes them, and the threads that watch workers."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from pellucid.base.checks import in_syntax
from pellucid.base.errors import BadSetting, FolderMended, ModelCannot, PellucidError, notify
from pellucid.base.leases import LOOK, Leases, shares_first
from pellucid.base.processes import Progress
from pellucid.corpus.careful import MOST_DEATHS, OnPart, Rows
from pellucid.corpus.folder import SHARD, Job, Receipt, RunFolder

STAGE = "explaining"


class WorkerAway(Exception):
    """A worker ended with its machine, and may come back on another."""


class ShardWorker(Protocol):
    """What computes a shard; `compute` may raise `WorkerAway`."""

    def is_ready(self, seconds: float) -> bool:
        """Whether it can compute now, or can after at most so many seconds."""

    def compute(self, shard: int) -> Any:
        """The receipt of the shard."""

    def end(self) -> None:
        """End at once."""

    def close(self) -> None:
        """End after its work."""


class Remote(Protocol):
    """What a worker on another machine needs: plain values."""

    @property
    def gpus(self) -> int:
        """How many it computes on, 0 or 1."""

    def here(self) -> Remote:
        """The same, for the machine that it has come to."""

    def worker(self, on_part: OnPart) -> ShardWorker:
        """What computes, by a child of this process."""

    def refusal(self) -> PellucidError | None:
        """Why this machine cannot compute; None where it can."""


class Work(Protocol):
    """What engines compute: the shards of a run, or the slices of a call. `begin` makes a worker, whose `computation`
    is a `Remote` where it computes by a child.
    """

    @property
    def begin(self) -> Callable[[OnPart], Any]: ...
    @property
    def threads(self) -> int:
        """Of each worker."""

    @property
    def is_done(self) -> bool:
        """Whether every shard is whole."""

    def leases(self) -> Leases:
        """Takes shards for this process."""

    def shards(self, leases: Leases, ended: threading.Event) -> Generator[int]:
        """Shards that this thread may compute now."""

    def finish(self, shard: int, receipt: Any) -> None:
        """Count a shard that a worker has computed."""

    def lose(self, shard: int, reason: str) -> None:
        """Note that a worker ended with a shard."""

    def take_in(self) -> None:
        """Count what other processes have finished meanwhile."""

    def begin_part(self, rows: Rows) -> None:
        """Note how far this thread is."""

    def report(self) -> None:
        """Say how far the work is."""


@dataclass
class RunWork:
    """The work of a run that is left.

    share: (i, n), the shards i, i + n … come first, counted from 1. max_failures: more failed rows end the run. begin:
    makes a worker, which calls its argument with the rows that it begins.
    """

    folder: RunFolder
    job: Job
    share: tuple[int, int]
    max_failures: int
    begin: Callable[[OnPart], ShardWorker]
    progress: Progress
    failures: int = 0
    _whole: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _losses: Counter[int] = field(default_factory=Counter)
    _begun: dict[int, int] = field(default_factory=dict)  # thread -> rows of its shard that were begun

    @property
    def threads(self) -> int:
        """Of each worker."""
        return self.job.threads

    def order(self) -> Iterator[int]:
        """The shards, those of the share first."""
        return shares_first(self.share, self.job.shards)

    def check(self) -> None:
        """Take the receipts that are there; those of the share are compared with their files to the last bit.

        A damaged shard is named, and computed again.
        """
        index, count = self.share
        damaged, finished, there = [], self.folder.finished(), sorted(self.folder.receipts())
        self.folder.fetch_shards(self.job, [shard for shard in there if shard % count == index - 1], anew=True)
        for shard in there:
            mine = shard % count == index - 1
            receipt = self.folder.receipt(self.job, shard)
            if receipt is None or not (self.folder.is_whole(self.job, shard) if mine else shard in finished):
                damaged.append(shard)
                self.folder.remove(self.folder.receipt_file(shard))
            else:
                self._count(shard, receipt)
        if damaged:
            names = ", ".join(self.folder.shard_file(shard).name for shard in damaged[:5])
            more = f" and {len(damaged) - 5} more" if len(damaged) > 5 else ""
            notify(
                f"Damaged in {self.folder.title}, and computed again: {names}{more}.",
                FolderMended,
            )

    def leases(self) -> Leases:
        """Takes shards for this process; raises `BadSetting` where a process that cuts the run otherwise is at work."""
        mine = self.share[1]
        for lease in self.folder.living():
            count = lease.get("slices", 1)
            if isinstance(count, int) and 1 not in (count, mine) and count != mine:
                raise BadSetting(
                    f"{in_syntax('slice=', '--slice ')}{self.share[0]}/{mine} is of {mine:,} slices, and a process of "
                    f"{lease.get('host')} computes this run in {count:,}: give i/{count}, or no slice."
                )
        return self.folder.leases(mine)

    def _count(self, shard: int, receipt: Receipt) -> None:
        with self._lock:
            if shard in self._whole:
                return
            self._whole.add(shard)
            self.failures += len(receipt.failures)
        if self.failures > self.max_failures:
            first = next(self.folder.failures(self.job), None)
            why = "" if first is None else f"; the first, row {first.row:,}: {first.reason.rstrip('.')}"
            raise ModelCannot(
                f"{self.failures:,} texts could not be explained{why}. More than {self.max_failures:,} end the run: "
                f"allow more failures, or mend the texts."
            )

    def take_in(self) -> None:
        """Count the shards that other processes have finished meanwhile."""
        new = self.folder.receipts() - self._whole
        for shard in new & self.folder.finished() if new else new:
            receipt = self.folder.receipt(self.job, shard)
            if receipt is not None:
                self._count(shard, receipt)

    def is_open(self, shard: int) -> bool:
        """Whether a shard is still to be computed."""
        return shard not in self._whole

    @property
    def is_done(self) -> bool:
        """Whether every shard is whole."""
        return len(self._whole) == self.job.shards

    def finish(self, shard: int, receipt: Receipt) -> None:
        """Count a shard that a worker of this process has written."""
        self._count(shard, receipt)

    def lose(self, shard: int, reason: str) -> None:
        """Note that a worker ended with a shard; raises `ModelCannot` where that happens to it again and again."""
        self._losses[shard] += 1
        if self._losses[shard] >= MOST_DEATHS:
            raise ModelCannot(
                f"Shard {shard} lost its worker {self._losses[shard]} times ({reason}); name fewer workers, or give "
                f"them more memory, and run the command again."
            )

    def begin_part(self, rows: Rows) -> None:
        """Note how far this thread is within its shard."""
        self._begun[threading.get_ident()] = rows[0] % SHARD

    def report(self) -> None:
        """Say how far the run is."""
        whole = sum(len(self.job.rows_of(shard)) for shard in list(self._whole))
        self.progress(STAGE, min(self.job.rows, whole + sum(self._begun.copy().values())), self.job.rows)

    def shards(self, leases: Leases, ended: threading.Event) -> Generator[int]:
        """Shards that this thread may compute now; waits while others compute the last ones."""
        while not ended.is_set() and not self.is_done:
            for shard in self.order():
                if ended.is_set():
                    return
                path = self.folder.lease_file(shard)
                if not self.is_open(shard) or not leases.take(path):
                    continue
                try:
                    if self.folder.has_shard(shard):  # another process finished it before we looked, and maybe more
                        self.take_in()
                    if not self.is_open(shard):
                        continue
                    yield shard
                finally:
                    self._begun.pop(threading.get_ident(), None)
                    leases.release(path)
            self.take_in()
            if not self.is_done:
                ended.wait(LOOK)


def work_by_threads(work: Work, crew: list[ShardWorker], leases: Leases) -> None:
    """A thread watches each child; where the work fails or is interrupted, all children end at once."""
    ended, errors = threading.Event(), list[BaseException]()
    threads = [
        threading.Thread(target=_work, args=(work, worker, leases, ended, errors), daemon=True) for worker in crew
    ]
    try:
        for thread in threads:
            thread.start()
        while not errors and any(thread.is_alive() for thread in threads):
            time.sleep(LOOK / 5)
            work.report()
    finally:
        if errors or any(thread.is_alive() for thread in threads):
            ended.set()
            for worker in crew:
                worker.end()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def _work(work: Work, worker: ShardWorker, leases: Leases, ended: threading.Event, errors: list[BaseException]) -> None:
    try:
        while not ended.is_set() and not work.is_done:
            if worker.is_ready(LOOK):
                _compute_while_there(work, worker, leases, ended)
            else:
                work.take_in()
    except BaseException as error:  # raised again by the thread that started this one
        if not ended.is_set():
            errors.append(error)
    finally:
        worker.close()


def _compute_while_there(work: Work, worker: ShardWorker, leases: Leases, ended: threading.Event) -> None:
    """Compute shards until no more are left, or until the worker is away, whose shard is free at once."""
    with closing(work.shards(leases, ended)) as shards:
        for shard in shards:
            try:
                work.finish(shard, worker.compute(shard))
            except WorkerAway as away:
                work.lose(shard, str(away))
                return
