"""A careful worker: a child process computes shards, and its death loses nothing.

On Linux the first child is a copy of this process, which has the model already; others load it themselves. When a child
dies (killed, out of memory, a segmentation fault), the shard is tried again, and then the part in which it died is
halved down to the text that kills. That text becomes a failure, and all others are explained.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import nn

from pellucid.base.errors import BadFile, ModelCannot, PellucidError
from pellucid.base.packages import __version__
from pellucid.base.torch_state import AutocastTypes, autocast_types
from pellucid.corpus.child import ENDED, Child, ChildDied, begin_in_child, loaded_in_child
from pellucid.corpus.folder import FIRST, INPUTS, KEYS, Job, Receipt, RunFolder
from pellucid.corpus.plan import read_rows
from pellucid.corpus.record import fetch_reused, reused_rows
from pellucid.corpus.shard import OfRow, compute_shard, explain_rows
from pellucid.corpus.stored_run import run_folder
from pellucid.explaining.explained_texts import TextQuestion
from pellucid.run.diagnostics import EAGER
from pellucid.run.explaining import Request
from pellucid.run.model import Model

TRIES = 2  # of a shard before the part in which it died is searched
MOST_DEATHS = 8  # of one shard, in which no text was found that kills
TOKENIZERS = "TOKENIZERS_PARALLELISM"  # a variable: their threads do not live on in a copy of a process

Rows = Sequence[int]
OnPart = Callable[[Rows], None]


@dataclass(frozen=True)
class Computation:
    """What a child needs to compute shards: plain values, so that another process can have them.

    load: how it gets the model, whose digest must be model_hash. gpus: how many a child computes on, 0 or 1. place: the
    folder that relative names of the model are of; an actor of Ray stands in another.
    """

    folder: RunFolder
    job: Job
    question: TextQuestion
    load: Callable[[], Model]
    model_hash: str
    gpus: int = 0
    place: str = field(default_factory=os.getcwd)

    @property
    def threads(self) -> int:
        """Of the child."""
        return self.job.threads

    def here(self) -> Computation:
        """For this machine, which has copies of its own where the folder is in a store."""
        return replace(self, folder=run_folder(self.folder.place))

    def worker(self, on_part: OnPart) -> CarefulWorker:
        """What computes shards by a child of this process."""
        return CarefulWorker(self, on_part)

    def refusal(self) -> PellucidError | None:
        """Why this machine cannot compute the run; None where it can."""
        folder, host = self.folder, socket.gethostname()
        version = self.job.question["version"]
        if version != __version__:
            return ModelCannot(f"{host} has Pellucid {__version__}, and the run is of {version}; install that there.")
        try:
            job = folder.job()
            for name in (FIRST, KEYS, INPUTS):  # of a store, they are copied now: children do not ask it
                folder.array(name)
        except BadFile as error:
            return error
        if job is None or job.digest != self.job.digest:
            return BadFile(f"{host} does not see {folder.title}; give a folder that all machines of the cluster share.")
        return None


# In the child.


def serve(
    connection: Connection, computation: Computation, autocast: AutocastTypes, request: Request | None = None
) -> None:
    """Compute what is sent until nothing more comes. request: None where the model is not here yet."""
    begin_in_child(computation.place, computation.threads, autocast)
    try:
        request = _request(computation) if request is None else request
        while (task := connection.recv()) != ENDED:
            connection.send(("done", _answer(request, computation, task, connection)))
    except EOFError:  # the parent ended
        return
    except PellucidError as error:
        connection.send(("error", error))


def _request(computation: Computation) -> Request:
    return computation.question.request(loaded_in_child(computation.load, computation.model_hash))


def _answer(request: Request, computation: Computation, task: Any, connection: Connection) -> Any:
    """The receipt of a shard; of rows that are only tried, nothing."""
    folder, job = computation.folder, computation.job
    kind, shard, detail = task
    if kind == "shard":
        report = partial(_send_part, connection)
        return compute_shard(request, folder, job, shard, detail, report, reused_rows(folder, job))
    examples = dict(zip(job.rows_of(shard), read_rows(folder, shard), strict=True))
    with suppress(Exception):  # an error is no death
        explain_rows(request, [examples[row] for row in detail])
    return None


def _send_part(connection: Connection, rows: Rows) -> None:
    connection.send(("part", list(rows)))


# In the process that watches it.


def computed_for(folder: RunFolder, job: Job, shard: int, compute: Callable[[], Receipt]) -> Receipt:
    """The receipt of a shard that is computed from files of this machine; a store has its results then."""
    folder.fetch_rows([shard])
    fetch_reused(folder, job, shard)
    receipt = compute()
    folder.publish_shard(shard, receipt)
    return receipt


@dataclass
class CarefulWorker:
    """Computes shards in a child process, which is started when it is needed and again after each death.

    request: what is asked of the model of this process, of which the first child may be a copy.
    """

    computation: Computation
    on_part: OnPart
    request: Request | None = None
    _child: Child = field(default_factory=Child)
    _running: Rows = field(default_factory=list)  # those that the child is computing

    def is_ready(self, seconds: float) -> bool:
        """Always: the child is started when it is needed."""
        return True

    def compute(self, shard: int) -> Receipt:
        """The receipt of a shard, which is then in the folder. Raises what the child raised, and `ModelCannot` where it
        dies again and again and no text is to blame.
        """
        return computed_for(self.computation.folder, self.computation.job, shard, lambda: self._by_child(shard))

    def _by_child(self, shard: int) -> Receipt:
        excluded: dict[int, str] = {}
        deaths = 0
        while True:
            try:
                return self._ask("shard", shard, excluded)
            except ChildDied as death:
                if self._child.was_ended:
                    raise
                deaths, running = deaths + 1, self._running
                if deaths < TRIES or not running:
                    self._give_up_after(deaths, shard, death)
                    continue
                killer = self._killer(shard, running)
                if killer is None:
                    self._give_up_after(deaths, shard, death)
                else:
                    excluded[killer] = f"The process that explained this text {death}, each time it was tried."
                    deaths = 0

    def _give_up_after(self, deaths: int, shard: int, death: ChildDied) -> None:
        if deaths >= MOST_DEATHS:
            raise ModelCannot(
                f"The process that computed shard {shard} {death}, {deaths} times, and no single text is to "
                f"blame. Memory may not suffice for so many processes: name fewer, and run the command again. In a "
                f"script, the call stands under `if __name__ == '__main__':`."
            )

    def _killer(self, shard: int, rows: Rows) -> int | None:
        """The row that ends the process also when it is alone, twice; None where none does."""
        if not self._dies(shard, rows):
            return None
        alone = len(rows) == 1  # whether the row has ended the process alone already
        while len(rows) > 1:
            half = rows[: len(rows) // 2]
            died = self._dies(shard, half)
            rows = half if died else rows[len(rows) // 2 :]
            alone = died and len(half) == 1
        return rows[0] if (alone or self._dies(shard, rows)) and self._dies(shard, rows) else None

    def _dies(self, shard: int, rows: Rows) -> bool:
        try:
            self._ask("trial", shard, list(rows))
        except ChildDied:
            if self._child.was_ended:
                raise
            return True
        return False

    def _ask(self, kind: str, shard: int, detail: OfRow | Rows) -> Any:
        self._running = []
        if not self._child.is_there:
            self._start()
        self._child.send((kind, shard, detail))
        while True:
            answer, value = self._child.answer()
            if answer != "part":
                return value
            self._running = value
            self.on_part(value)

    def begin(self) -> None:
        """Start the first child as a copy of this process, where that is safe: it saves seconds of importing."""
        if self.request is not None and _may_be_copied(self.request.model, self.computation.job.threads):
            with _quiet_copy():
                self._start("fork", self.request)

    def _start(self, way: str = "spawn", request: Request | None = None) -> None:
        here = RunFolder(self.computation.folder.path)  # the child asks no store
        self._child.start(serve, replace(self.computation, folder=here), autocast_types(), request, way=way)

    def end(self) -> None:
        """End the child at once."""
        self._child.end()

    def close(self) -> None:
        """End the child after its work."""
        self._child.close()


def _may_be_copied(model: Model, threads: int) -> bool:
    """Whether a copy of this process can compute: it has but the thread that copied it, and no device."""
    by_torch = isinstance(getattr(model, "network", None), nn.Module) and model.device.type == "cpu"
    alone = threads == 1 and threading.current_thread() is threading.main_thread()
    route = getattr(model, "route_in_use", EAGER) == EAGER == getattr(model, "route", EAGER)
    return sys.platform == "linux" and by_torch and alone and route and not torch.cuda.is_initialized()


@contextmanager
def _quiet_copy() -> Iterator[None]:
    """Tokenizers that are copied use no threads, and neither they nor Python warn of it."""
    before = os.environ.get(TOKENIZERS)
    os.environ[TOKENIZERS] = "false"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        os.environ.pop(TOKENIZERS)
        os.environ |= {} if before is None else {TOKENIZERS: before}


@dataclass
class InProcess:
    """Computes shards in this process, for a model that is only in its memory: a death ends all, and what is in the
    folder stays.
    """

    request: Request
    folder: RunFolder
    job: Job
    on_part: OnPart

    def is_ready(self, seconds: float) -> bool:
        """Always: the model is here."""
        return True

    def compute(self, shard: int) -> Receipt:
        """The receipt of a shard, which is then in the folder."""
        folder, job, here = self.folder, self.job, RunFolder(self.folder.path)

        def compute() -> Receipt:
            return compute_shard(self.request, here, job, shard, {}, self.on_part, reused_rows(here, job))

        return computed_for(folder, job, shard, compute)

    def end(self) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to end."""
