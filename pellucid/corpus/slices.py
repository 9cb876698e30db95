"""Slices of a call: `compare`, `attack` and `extract` by several processes, which an engine starts.

These cut their texts into parts, and any number of processes may join their folder, each as slice i of n
(`base/leases.py`). So a worker is a process with a slice of its own, here or on another machine.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import torch

from pellucid.base.catalogue import Choice
from pellucid.base.checks import in_syntax, reason, whole
from pellucid.base.errors import BadFile, BadSetting, ModelCannot, PellucidError
from pellucid.base.kinds import engines
from pellucid.base.leases import LOOK, Leases, Share, clear_dead_leases
from pellucid.base.packages import __version__
from pellucid.base.processes import Progress
from pellucid.base.torch_state import AutocastTypes, autocast_types
from pellucid.corpus.careful import OnPart, Rows
from pellucid.corpus.child import ENDED, Child, ChildDied, begin_in_child, loaded_in_child
from pellucid.explaining.inputs.loading import MOST_WORKERS, loading_of
from pellucid.run.model import Model

TRIES = 3  # of a slice whose process dies; each time it goes on after the parts that are there
ComputeShare = Callable[[Model, Share], None]


@dataclass(frozen=True)
class Parts:
    """The parts of a folder. count: how many. is_there: whether one is in the folder. compute: computes those of a
    slice that are not there; a top-level function or a `partial` of plain values. stage, texts: of the progress.
    """

    folder: Path
    count: int
    is_there: Callable[[int], bool]
    compute: ComputeShare
    stage: str
    texts: int


@dataclass(frozen=True)
class Crew:
    """Who computes parts. model: of this process. load: how a worker gets it. engine: with its settings."""

    model: Model
    load: Callable[[], Model]
    workers: int
    engine: Choice

    def compute(self, parts: Parts, progress: Progress) -> None:
        """Compute all parts that are not there; raises what a worker raised, and `ModelCannot` for one that dies."""
        name, changes = (self.engine, {}) if isinstance(self.engine, str) else self.engine
        threads = max(1, torch.get_num_threads() // self.workers)
        gpus = int(self.model.device.type == "cuda")
        remote = SliceComputation(
            parts.folder.absolute(), parts.compute, self.load, self.model.hash, self.workers, threads, gpus
        )
        _check_can_be_sent(remote)
        work = SlicesWork(parts, remote, progress)
        try:
            if not work.is_done:
                engines.get(name).make(work, **{"workers": self.workers, **changes})
        finally:  # children that were ended give none back
            clear_dead_leases(parts.folder)


def crew_of(model: Model, workers: int, engine: Choice, slice: str | None, folder: str | Path | None) -> Crew | None:
    """The crew that the arguments of a call name; None where this process computes alone.

    Raises `BadSetting` for workers without a folder, or of a slice, `UnknownName` for an engine, and `ModelCannot` for
    a model that other processes cannot load.
    """
    whole("workers", workers, 1, MOST_WORKERS)
    name, changes = (engine, {}) if isinstance(engine, str) else engine
    engines.get(name).settings({"workers": workers, **changes})
    place = in_syntax("folder=", "--out")
    if slice is not None and folder is None:
        raise BadSetting(f"slice={slice} shares the parts of a folder with other calls; give {place}.")
    if name == "local" and workers == 1:
        return None
    option = in_syntax("workers=", "--workers ") + str(workers)
    option = option if workers > 1 else in_syntax("engine=", "--engine ") + name
    if slice is not None:
        raise BadSetting(f"{option} does not go with a slice, which is of one worker; leave one of them away.")
    if folder is None:
        raise BadSetting(
            f"{option} is not possible in memory: workers write what they compute to a folder; give {place}."
        )
    return Crew(model, loading_of(model), workers, engine)


def _check_can_be_sent(remote: SliceComputation) -> None:
    """Raise `BadSetting` where an argument is of this process alone, such as a function without a name."""
    try:
        ForkingPickler.dumps(remote)
    except Exception as error:  # whatever an argument's own code raises
        raise BadSetting(
            f"Workers get the arguments of the call, and one of them is only in this process ({reason(error)}); give "
            f"names and files, or leave workers= and engine= away."
        ) from None


@dataclass(frozen=True)
class SliceComputation:
    """What a worker needs; see `work.Remote`. count: how many slices there are. place: the folder that relative names
    of the model are of.
    """

    folder: Path
    compute: ComputeShare
    load: Callable[[], Model]
    model_hash: str
    count: int
    threads: int
    gpus: int
    version: str = __version__
    place: str = field(default_factory=os.getcwd)

    def here(self) -> SliceComputation:
        """The same: a folder has one path on all machines."""
        return self

    def worker(self, on_part: OnPart) -> SliceWorker:
        """What computes slices by a child of this process."""
        return SliceWorker(self)

    def refusal(self) -> PellucidError | None:
        """Why this machine cannot compute; None where it can."""
        host = socket.gethostname()
        if self.version != __version__:
            return ModelCannot(f"{host} has Pellucid {__version__}, and this call {self.version}; install that there.")
        if not self.folder.is_dir():
            return BadFile(f"{host} does not see {self.folder}; give a folder that all machines of the cluster share.")
        return None


def serve_slices(connection: Connection, computation: SliceComputation, autocast: AutocastTypes) -> None:
    """In the child: compute the slices that are sent until nothing more comes."""
    begin_in_child(computation.place, computation.threads, autocast)
    try:
        model = loaded_in_child(computation.load, computation.model_hash)
        while (index := connection.recv()) != ENDED:
            computation.compute(model, (index + 1, computation.count))
            connection.send(("done", None))
    except EOFError:  # the parent ended
        return
    except PellucidError as error:
        connection.send(("error", error))


@dataclass
class SliceWorker:
    """Computes slices in a child process, which is started again after a death."""

    computation: SliceComputation
    _child: Child = field(default_factory=Child)

    def is_ready(self, seconds: float) -> bool:
        """Always: the child is started when it is needed."""
        return True

    def compute(self, shard: int) -> None:
        """Compute a slice. Raises what the child raised, and `ModelCannot` where it dies again and again."""
        for deaths in range(1, TRIES + 1):
            try:
                if not self._child.is_there:
                    self._child.start(serve_slices, self.computation, autocast_types())
                self._child.send(shard)
                self._child.answer()
                return
            except ChildDied as death:
                if self._child.was_ended:
                    raise
                if deaths == TRIES:
                    raise ModelCannot(
                        f"The process that computed slice {shard + 1} of {self.computation.count} {death}, {TRIES} "
                        f"times. Memory may not suffice for so many: name fewer workers, and do the same again; it "
                        f"goes on. In a script, the call stands under `if __name__ == '__main__':`."
                    ) from None

    def end(self) -> None:
        """End the child at once."""
        self._child.end()

    def close(self) -> None:
        """End the child after its work."""
        self._child.close()


@dataclass
class SlicesWork:
    """The slices of a call, as engines take work; see `work.Work`. All are done when every part is there."""

    parts: Parts
    remote: SliceComputation
    progress: Progress
    _missing: set[int] = field(default_factory=set)  # parts
    _free: list[int] = field(default_factory=list)  # slices that nobody computes
    _whole: set[int] = field(default_factory=set)  # slices
    _losses: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looked: float = 0.0

    def __post_init__(self) -> None:
        self._free = list(range(self.remote.count))
        self._missing = set(range(self.parts.count))
        self.take_in()

    @property
    def threads(self) -> int:
        """Of each worker."""
        return self.remote.threads

    @property
    def is_done(self) -> bool:
        """Whether every part is there, or every slice was computed."""
        return not self._missing or len(self._whole) == self.remote.count

    def begin(self, on_part: OnPart) -> SliceWorker:
        """A worker."""
        return self.remote.worker(on_part)

    def leases(self) -> Leases:
        """Of this process: it holds none, since workers take parts."""
        return Leases(self.remote.count)

    def shards(self, leases: Leases, ended: threading.Event) -> Generator[int]:
        """Slices that this thread may compute now; one that it does not finish is free again."""
        while not ended.is_set() and not self.is_done:
            with self._lock:
                index = self._free.pop(0) if self._free else None
            if index is None:
                ended.wait(LOOK)
                self.take_in()
                continue
            try:
                yield index
            finally:
                if index not in self._whole:
                    with self._lock:
                        self._free.append(index)

    def finish(self, shard: int, receipt: None) -> None:
        """Count a slice, and look at once which parts are there."""
        self._whole.add(shard)
        self._looked = 0.0

    def lose(self, shard: int, reason: str) -> None:
        """Note that a worker ended with its machine; raises `ModelCannot` where that happens again and again."""
        self._losses[shard] += 1
        if self._losses[shard] >= TRIES:
            raise ModelCannot(
                f"Slice {shard + 1} lost its worker {TRIES} times ({reason}); name fewer workers, or give them more "
                f"memory, and do the same again: it goes on."
            )

    def take_in(self) -> None:
        """Look which parts are there, at most once a second: a folder may have many, on a slow disk."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        self._missing -= {part for part in list(self._missing) if self.parts.is_there(part)}

    def begin_part(self, rows: Rows) -> None:
        """Parts of a slice are seen in the folder."""

    def report(self) -> None:
        """Say how many texts are done, by the parts that are there."""
        self.take_in()
        there = self.parts.count - len(self._missing)
        self.progress(self.parts.stage, there * self.parts.texts // max(1, self.parts.count), self.parts.texts)
