"""Programs that are kept running, each reading what the one before writes, and answer texts one by one.

Every text ends with a null, at which all stages flush, so no text touches the next. It also ends with a superblank that
carries its number. An answer without that number comes from a stage that died, and is no answer: at their end, stages
write what they have.
"""

import os
import re
import selectors
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from pellucid.base.checks import between
from pellucid.base.errors import BadFile
from pellucid.base.processes import PROGRAM_ENVIRONMENT

TRIES = 5  # of a text while whose turn a stage died
START_SECONDS = 20.0  # within which the programs must answer their first text
GROUP = 64  # texts that share an exchange where programs can be spoilt
LONGEST_LIMIT = 3600.0  # seconds


class Pipeline:
    """Stages that are started at the first text, started again when one dies, and ended with the object, or with
    `close`.

    `start` starts them earlier. stages: programs with their arguments. seconds: the most that one text may take.
    spoilt_by: what the last stage writes beside its answers when later ones would depend on this text, with a group for
    the word; None where that cannot be. Threads take turns.
    """

    def __init__(
        self, stages: Sequence[Sequence[str]], seconds: float = 20.0, spoilt_by: re.Pattern[str] | None = None
    ) -> None:
        between("seconds", seconds, 0.001, LONGEST_LIMIT)
        self.stages = stages
        self.seconds = seconds
        self.spoilt_by = spoilt_by
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_tested = False  # whether these processes have answered
        self._end: Callable[[], object] = list
        self._lock = threading.Lock()
        self._number = 0

    def start(self) -> None:
        """Start the programs, if they do not run; they read their dictionaries while others work, and the first text
        waits for them.
        """
        with self._lock:
            try:
                self._launch()
            except OSError:  # tried again, and reported, at the first text
                self.close()

    def answers(self, streams: Sequence[str]) -> list[str | None]:
        """What comes out for each text in the stream format; None for one that took too long, or that stages died of.

        Raises `BadFile` where the stages cannot run at all.
        """
        answers: list[str | None] = []
        size, tries = GROUP if self.spoilt_by else max(len(streams), 1), 0
        with self._lock:
            while len(answers) < len(streams):
                group = streams[len(answers) : len(answers) + size]
                right, failure = self._group_answers(group)
                answers += right
                tries = 0 if right else tries
                tries += failure == "died"
                if failure == "late" or tries == TRIES:
                    answers.append(None)
                    tries = 0
        return answers

    def _group_answers(self, group: Sequence[str]) -> tuple[list[str], Literal["", "died", "late"]]:
        """The answers up to the first that fails, or that another has spoilt; and how it failed."""
        answers: list[str] = []
        messages = bytearray()
        failure: Literal["", "died", "late"] = ""
        try:
            if not self._is_tested:
                self._test()
            for answer in self._exchange(group, messages, self.seconds):
                answers.append(answer)
        except BaseException as error:  # also the user's interrupt: what is under way would answer the next text
            self.close()
            if not isinstance(error, OSError) or isinstance(error, BadFile):
                raise
            failure = "late" if isinstance(error, TimeoutError) else "died"
        spoilt = self._first_spoilt(group, messages.decode(errors="replace"))
        if spoilt is None:
            return answers, failure
        self.close()
        return answers[:spoilt], "" if spoilt < len(answers) or spoilt == len(group) else failure

    def _first_spoilt(self, group: Sequence[str], messages: str) -> int | None:
        """The number of the first text after the one that spoils its successors; None where none does."""
        words = [match[1] for match in self.spoilt_by.finditer(messages)] if self.spoilt_by else []
        if not words:
            return None
        spoiling = (index for index, stream in enumerate(group) if any(f"^{word}/" in stream for word in words))
        return next(spoiling, 0) + 1  # what comes first in a group is right in any case

    def close(self) -> None:
        """End the programs; the next text starts them again."""
        self._end()
        self._processes, self._is_tested = [], False

    @property
    def process_ids(self) -> list[int]:
        """Of the running programs."""
        return [process.pid for process in self._processes]

    def _launch(self) -> None:
        """Start the stages, if they do not run; raises `OSError` where one cannot be started."""
        if not self._processes:
            processes: list[subprocess.Popen[bytes]] = []
            self._end = weakref.finalize(self, end, processes)
            launch(self.stages, processes)
            self._processes = processes

    def _test(self) -> None:
        """See that the stages run and answer; raises `BadFile` where they do not."""
        for _ in range(TRIES):
            try:
                self._launch()
                list(self._exchange([""], bytearray(), max(self.seconds, START_SECONDS)))
                self._is_tested = True
                return
            except OSError:  # of which a timeout is one
                self.close()
        raise BadFile(
            f"Apertium's {self.stages[0][0]} does not run with {self.stages[0][-1]}; install its package again."
        )

    def _exchange(self, streams: Sequence[str], messages: bytearray, seconds: float) -> Iterator[str]:
        """Write texts while answers are read, so that no pipe fills up; raises `OSError` when a stage dies."""
        numbers = range(self._number, self._number + len(streams))
        self._number = numbers.stop
        parts = [f"{stream}[{text_number}]\0" for text_number, stream in zip(numbers, streams, strict=True)]
        payload = "".join(parts).encode(errors="replace")
        received = exchanged(self._processes, payload, seconds, messages)
        for text_number in numbers:
            answer = next(received).decode(errors="replace")
            if not answer.endswith(f"[{text_number}]"):
                raise OSError("an answer without its number")
            yield answer.removesuffix(f"[{text_number}]")


# Processes in a row: started without a shell, written to and read from at once, ended without a trace.

CHUNK = 1 << 16  # bytes


def exchanged(
    processes: list[subprocess.Popen[bytes]], payload: bytes, seconds: float, messages: bytearray
) -> Iterator[bytes]:
    """What comes out between nulls while the payload goes in.

    messages: what the last process writes beside is appended to it; that of a text is there when its answer is.

    Raises `TimeoutError` after so many seconds without an answer, `OSError` when a process ends.
    """
    source, sink, aside = processes[0].stdin, processes[-1].stdout, processes[-1].stderr
    assert source is not None and sink is not None and aside is not None
    rest, received = memoryview(payload), bytearray()
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(sink, selectors.EVENT_READ)
        selector.register(source, selectors.EVENT_WRITE)
        while True:
            ready = [key.fileobj for key, _ in selector.select(max(deadline - time.monotonic(), 0.0))]
            if time.monotonic() > deadline:
                raise TimeoutError
            if source in ready:
                rest = rest[os.write(source.fileno(), rest[:CHUNK]) :]
                if not rest:
                    selector.unregister(source)
            if sink in ready:
                chunk = os.read(sink.fileno(), CHUNK)
                if not chunk:
                    raise OSError("a process has ended")
                received += chunk
            messages += _waiting(aside.fileno())
            *answers, received = received.split(b"\0")
            for answer in answers:
                yield bytes(answer)
                deadline = time.monotonic() + seconds


def _waiting(file: int) -> bytes:
    """All that can be read at once."""
    content = b""
    try:
        while chunk := os.read(file, CHUNK):
            content += chunk
    except BlockingIOError:
        pass
    return content


def launch(stages: Sequence[Sequence[str]], processes: list[subprocess.Popen[bytes]]) -> None:
    """Start every stage on what the one before writes."""
    for stage in stages:
        before = processes[-1].stdout if processes else subprocess.PIPE
        aside = subprocess.PIPE if stage is stages[-1] else subprocess.DEVNULL
        process = subprocess.Popen(
            list(stage), stdin=before, stdout=subprocess.PIPE, stderr=aside, env=PROGRAM_ENVIRONMENT
        )
        processes.append(process)
        if len(processes) > 1:
            processes[-2].stdout.close()  # type: ignore[union-attr]  # the child has it: it must see when its end comes
    for pipe in (processes[0].stdin, processes[-1].stdout, processes[-1].stderr):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Kill the stages, and wait for them, so that none stays as a zombie."""
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    processes.clear()
