"""A model's desk computes what readers ask, one question at a time and each reader in turn; a long question pauses for
short ones, and what nobody waits for is dropped.
"""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any
from weakref import WeakSet

from pellucid.base.errors import BadInput
from pellucid.base.processes import Progress

PATIENCE = 1.0  # seconds that a page waits for its answer before it says that it is being computed
LEFT = 20.0  # seconds without a question after which a reader has left
SLICE = 1.0  # seconds that a job computes before it lets others by at its next report
UNDER_WAY = 3  # jobs that have begun, of which all but one are paused
WAITING, OF_READER = 400, 12  # jobs that may wait for one model, and of these for one reader
REMEMBERED = 120  # answers of one model
CHARACTERS = 400_000  # of the questions that they answer: an answer takes about 500 bytes a sign of its text

Work = Callable[[Progress], Any]


class ReaderLeft(Exception):
    """Nobody waits for the job any more."""


@dataclass(eq=False)
class DeskJob:
    """A computation that a reader asked for. stage, done, total: how far it is. seen: when its reader last asked.
    is_lasting: it goes on after its reader has left. is_dropped: it ends at its next report. key: by which its reader
    can stop it. resumed: since when it computes.
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
    key: str = field(default_factory=lambda: token_hex(8))
    resumed: float = 0.0

    @property
    def has_reader(self) -> bool:
        """Whether its reader has asked for it lately."""
        return not self.is_dropped and (self.is_lasting or time.monotonic() - self.seen < LEFT)

    def run(self, let_by: Callable[["DeskJob"], None]) -> None:
        """Compute the answer, or keep the error. let_by: called at every report; may wait there for other jobs."""

        def report(stage: str, done: int, total: int) -> None:
            self.stage, self.done, self.total = stage, done, total
            let_by(self)
            if not self.has_reader:
                raise ReaderLeft

        try:
            if not self.has_reader:
                raise ReaderLeft
            self.stage, self.resumed = "computing", time.monotonic()
            self.answer = self.work(report)
        except Exception as error:  # of the model's own code, too: the page says it
            self.error = error
        self.finished.set()


class StillComputing(Exception):
    """An answer that is not there yet. job: what computes it."""

    def __init__(self, job: DeskJob) -> None:
        super().__init__("still computing")
        self.job = job


class Desk:
    """The questions to one model. One of them is computed at a time; readers take turns, so nobody waits for all of
    another's. A question that takes longer than a slice pauses at its next report while others wait, and goes on in
    turn: a short question never waits for a long text.

    Answers are remembered, the latest `REMEMBERED` of them; fewer to long questions.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: OrderedDict[object, DeskJob] = OrderedDict()
        self._turns: OrderedDict[str, deque[DeskJob]] = OrderedDict()
        self._changed = threading.Condition()
        self._running: DeskJob | None = None
        self._paused: deque[DeskJob] = deque()
        self._is_new_next = True  # whether a job that has not begun comes before a paused one
        self._is_closed = False
        self._threads: list[threading.Thread] = []
        self._begin_thread()

    def _begin_thread(self) -> None:
        """A thread more: each pause leaves one inside its job."""
        title = f"studio {self._name} {len(self._threads) + 1}"
        self._threads.append(threading.Thread(target=self._compute, name=title, daemon=True))
        self._threads[-1].start()

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
            is_over = job is not None and (job.is_dropped or isinstance(job.error, ReaderLeft))
            if job is not None and not is_over:
                self._jobs.move_to_end(key)
                return job
            if sum(map(len, self._turns.values())) >= WAITING:
                raise BadInput(f"{WAITING} questions wait for this model; ask again in a minute.")
            if len(self._turns.get(reader, ())) >= OF_READER:
                raise BadInput(f"{OF_READER} questions of yours wait for this model; ask again in a minute.")
            self._jobs[key] = job = DeskJob(reader, work, is_lasting)
            self._turns.setdefault(reader, deque()).append(job)
            self._drop_oldest()
            self._changed.notify_all()
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

    def stop(self, key: str, reader: str) -> None:
        """Drop a job that this reader asked for; it ends at its next report."""
        with self._changed:
            for job in self._jobs.values():
                if job.key == key and job.reader == reader and not job.finished.is_set():
                    job.is_dropped = True

    def close(self) -> None:
        """Compute nothing more; what is being computed ends at its next report."""
        with self._changed:
            self._is_closed = True
            for job in (self._running, *self._paused):
                if job is not None:
                    job.is_dropped = True
            self._changed.notify_all()
        _CLOSED.update(self._threads)

    def _compute(self) -> None:
        while (job := self._begun_job()) is not None:
            job.run(self._let_by)
            with self._changed:
                self._pass_on()

    def _begun_job(self) -> DeskJob | None:
        """The first job of the reader whose turn it is, once nothing else runs; that reader then stands last. None
        after the desk was closed.
        """
        with self._changed:
            while not self._is_closed and (self._running is not None or not self._turns):
                self._changed.wait()
            if self._is_closed:
                return None
            reader, jobs = self._turns.popitem(last=False)
            self._running = job = jobs.popleft()
            if jobs:
                self._turns[reader] = jobs
            return job

    def _let_by(self, job: DeskJob) -> None:
        """Pause a job that has computed for a slice while others wait. Hooks on a network and torch's modes are of a
        thread, so each paused job stays in its own.
        """
        with self._changed:
            if time.monotonic() - job.resumed < SLICE or not (self._turns or self._paused) or self._is_closed:
                return
            self._paused.append(job)
            if len(self._paused) == len(self._threads) < UNDER_WAY:
                self._begin_thread()
            self._pass_on()
            while self._running is not job and not self._is_closed:
                self._changed.wait()
            job.resumed = time.monotonic()

    def _pass_on(self) -> None:
        """Let the next job run: paused jobs and those that have not begun take turns, as far as threads are free."""
        is_new = bool(self._turns) and len(self._paused) < UNDER_WAY and (self._is_new_next or not self._paused)
        self._running = None if is_new or not self._paused else self._paused.popleft()
        self._is_new_next = not is_new
        self._changed.notify_all()


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
