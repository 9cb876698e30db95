"""A model's desk: one thread that computes what readers ask, each reader in turn, and drops what nobody waits for."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from pellucid.base.errors import BadInput
from pellucid.base.processes import Progress

PATIENCE = 1.0  # seconds that a page waits for its answer before it says that it is being computed
LEFT = 20.0  # seconds without a question after which a reader has left
WAITING, OF_READER = 400, 12  # jobs that may wait for one model, and of these for one reader
REMEMBERED = 120  # answers of one model
CHARACTERS = 400_000  # of the questions that they answer: an answer takes about 500 bytes a sign of its text

Work = Callable[[Progress], Any]


class ReaderLeft(Exception):
    """Nobody waits for the job any more."""


@dataclass(eq=False)
class DeskJob:
    """A computation that a reader asked for. stage, done, total: how far it is. seen: when its reader last asked.
    is_lasting: it goes on after its reader has left. is_dropped: it ends at its next report.
    """

    reader: str
    work: Work
    is_lasting: bool = False
    is_dropped: bool = False
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    answer: Any = None
    error: BaseException | None = None
    seen: float = field(default_factory=time.monotonic)
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def has_reader(self) -> bool:
        """Whether its reader has asked for it lately."""
        return not self.is_dropped and (self.is_lasting or time.monotonic() - self.seen < LEFT)

    def run(self) -> None:
        """Compute the answer, or keep the error."""
        try:
            self.stage = "computing"
            self.answer = self.work(self._report)
        except Exception as error:  # of the model's own code, too: the page says it
            self.error = error
        self.finished.set()

    def _report(self, stage: str, done: int, total: int) -> None:
        self.stage, self.done, self.total = stage, done, total
        if not self.has_reader:
            raise ReaderLeft


class StillComputing(Exception):
    """An answer that is not there yet. job: what computes it."""

    def __init__(self, job: DeskJob) -> None:
        super().__init__("still computing")
        self.job = job


class Desk:
    """The questions to one model. One thread computes; readers take turns, so nobody waits for all of another's.

    Answers are remembered, the latest `REMEMBERED` of them; fewer to long questions.
    """

    def __init__(self, name: str) -> None:
        self._jobs: OrderedDict[object, DeskJob] = OrderedDict()
        self._turns: OrderedDict[str, deque[DeskJob]] = OrderedDict()
        self._changed = threading.Condition()
        self._running: DeskJob | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._compute, name=f"studio {name}", daemon=True)
        self._thread.start()

    def answer(self, key: object, reader: str, work: Work, is_lasting: bool = False, patience: float = PATIENCE) -> Any:
        """The answer to a question, computed once. key: what is asked.

        Raises `StillComputing` where it takes longer than `patience` seconds, `BadInput` where too many wait, and what
        the work raised.
        """
        job = self._job(key, reader, work, is_lasting)
        job.seen = time.monotonic()
        if not job.finished.wait(patience):
            raise StillComputing(job)
        if job.error is not None:
            self._forget(key, job)
            raise job.error
        return job.answer

    def known(self, key: object) -> Any:
        """The answer that is there already; None where it is not."""
        job = self._jobs.get(key)
        return None if job is None or not job.finished.is_set() else job.answer

    def forget(self, key: object) -> None:
        """Do not remember an answer: it is large, and who asked has it."""
        with self._changed:
            self._jobs.pop(key, None)

    def _job(self, key: object, reader: str, work: Work, is_lasting: bool) -> DeskJob:
        with self._changed:
            job = self._jobs.get(key)
            if job is not None and not (job.finished.is_set() and isinstance(job.error, ReaderLeft)):
                self._jobs.move_to_end(key)
                return job
            if sum(map(len, self._turns.values())) >= WAITING:
                raise BadInput(f"{WAITING} questions wait for this model; ask again in a minute.")
            if len(self._turns.get(reader, ())) >= OF_READER:
                raise BadInput(f"{OF_READER} questions of yours wait for this model; ask again in a minute.")
            self._jobs[key] = job = DeskJob(reader, work, is_lasting)
            self._turns.setdefault(reader, deque()).append(job)
            self._drop_oldest()
            self._changed.notify()
            return job

    def _drop_oldest(self) -> None:
        sizes = {key: len(repr(key)) for key in self._jobs}
        count, size = len(sizes), sum(sizes.values())
        for key in [key for key, job in self._jobs.items() if job.finished.is_set()]:
            if count <= REMEMBERED and size <= CHARACTERS:
                break
            count, size = count - 1, size - sizes[key]
            del self._jobs[key]

    def _forget(self, key: object, job: DeskJob) -> None:
        with self._changed:
            if self._jobs.get(key) is job:
                del self._jobs[key]

    def close(self) -> None:
        """Compute nothing more; what is being computed ends at its next report."""
        with self._changed:
            self._is_closed = True
            if self._running is not None:
                self._running.is_dropped = True
            self._changed.notify()
        _CLOSED.add(self._thread)

    def _compute(self) -> None:
        while True:
            with self._changed:
                while not (self._turns or self._is_closed):
                    self._changed.wait()
                if self._is_closed:
                    return
                self._running = job = self._next()
            if job.has_reader:
                job.run()
            else:
                job.error = ReaderLeft()
                job.finished.set()

    def _next(self) -> DeskJob:
        """The first job of the reader whose turn it is; that reader then stands last."""
        reader, jobs = self._turns.popitem(last=False)
        job = jobs.popleft()
        if jobs:
            self._turns[reader] = jobs
        return job


_CLOSED: "WeakSet[threading.Thread]" = WeakSet()  # threads of desks that were closed


def ended(seconds: float) -> bool:
    """Whether all closed desks have ended, after so many seconds at most.

    Python cannot stop a thread within a library's code: a process that ends beside one is aborted there.
    """
    last = time.monotonic() + seconds
    while any(thread.is_alive() for thread in _CLOSED):
        if time.monotonic() > last:
            return False
        time.sleep(0.02)
    return True
