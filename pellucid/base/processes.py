"""Tasks in several processes at once, each process with its own share of the threads."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.sharedctypes import SynchronizedArray

import torch

from pellucid.base.errors import ModelCannot
from pellucid.base.safe_start import hand_on_safe_path, safe_path
from pellucid.base.torch_contexts import AutocastTypes, autocast_for_good, autocast_types

Share = Callable[[float], None]  # called with the share of a task that is done, from 0 to 1
Task = Callable[[Share], None]


def no_report(share: float) -> None:
    """A `Share` for work that reports to nobody."""


def begin_nothing() -> None:
    """For processes that need nothing before their first task."""


@dataclass(frozen=True)
class Processes:
    """count: so many at once. threads: of each. begin: what each does before its first task, such as loading a model; a top-level
    function or a `partial` of one.
    """

    count: int
    threads: int = 1
    begin: Callable[[], None] = begin_nothing

    def run(self, tasks: Sequence[Task], report: Callable[[float], None]) -> None:
        """Do the tasks, top-level functions or `partial`s of these; report: called with how many are done, parts counted as parts.

        Raises what the first failing task raised, after those that had begun are finished, and `ModelCannot` where a process ended
        by itself.
        """
        context = get_context("spawn")
        with safe_path():  # sharing starts a process, too
            shares = context.Array("d", len(tasks))
        waiting, running = list(enumerate(tasks)), set[Future[None]]()
        count = min(self.count, len(tasks))
        with safe_path():  # its queues share as well
            executor = ProcessPoolExecutor(
                count, context, _start, (shares, self.threads, autocast_types(), self.begin)
            )
        with executor as pool:
            while waiting or running:
                # A task is submitted only when a process is free for it. So after an error no further task begins.
                with safe_path():
                    while waiting and len(running) < count:
                        running.add(pool.submit(_do, *waiting.pop(0)))
                done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                report(sum(shares[:]))
                for future in done:
                    _check(future)


def _check(future: "Future[None]") -> None:
    try:
        future.result()
    except BrokenProcessPool:
        raise ModelCannot(
            "A process that worked beside this one ended before its work. Memory may not suffice for so many: name fewer. In a "
            "script, the call that starts them stands under `if __name__ == '__main__':`."
        ) from None


# In a worker: how much of each task is done, shared with the parent; and what it does before its first task.
_shares: "SynchronizedArray[float] | None" = None
_begin = begin_nothing


def _start(
    shares: "SynchronizedArray[float]", threads: int, autocast: AutocastTypes, begin: Callable[[], None]
) -> None:
    global _shares, _begin
    _shares, _begin = shares, begin
    hand_on_safe_path()
    autocast_for_good(autocast)
    torch.set_num_threads(threads)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent ends. The workers of a killed parent would go on writing otherwise."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(number: int, task: Task) -> None:
    global _begin
    _begin()  # here and not at the start, where an error would not reach the parent
    _begin = begin_nothing

    def share(done: float) -> None:
        assert _shares is not None
        _shares[number] = done

    task(share)
