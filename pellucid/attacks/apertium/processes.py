"""Processes in a row: started without a shell, written to and read from at once, ended without a trace."""

import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence

from pellucid.core.processes.safe_start import PROGRAM_ENVIRONMENT

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
