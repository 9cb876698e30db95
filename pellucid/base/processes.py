"""Child processes: how they start without a stranger's code, share work, and say how far it is."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, util
from multiprocessing.sharedctypes import SynchronizedArray
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.base.errors import ModelCannot

if TYPE_CHECKING:  # torch takes seconds to import, and who only reports progress needs none of it
    from pellucid.base.torch_state import AutocastTypes

Share = Callable[[float], None]  # called with the share of a task that is done, from 0 to 1
Task = Callable[[Share], None]


def no_report(share: float) -> None:
    """A `Share` for work that reports to nobody."""


def begin_nothing() -> None:
    """For processes that need nothing before their first task."""


@dataclass(frozen=True)
class Processes:
    """count: so many at once. threads: of each. begin: what each does before its first task, such as loading a model; a
    top-level function or a `partial` of one.
    """

    count: int
    threads: int = 1
    begin: Callable[[], None] = begin_nothing

    def run(self, tasks: Sequence[Task], report: Callable[[float], None]) -> None:
        """Do the tasks, top-level functions or `partial`s of these; report: called with how many are done, parts
        counted as parts.

        Raises what the first failing task raised, after those that had begun are finished, and `ModelCannot` where a
        process ended by itself.
        """
        from pellucid.base.torch_state import autocast_types

        context = get_context("spawn")
        with safe_path():  # sharing starts a process, too
            shares = context.Array("d", len(tasks))
        waiting, running = list(enumerate(tasks)), set[Future[None]]()
        count = min(self.count, len(tasks))
        with safe_path():  # its queues share as well
            executor = ProcessPoolExecutor(count, context, _start, (shares, self.threads, autocast_types(), self.begin))
        with executor as pool, _ended_by_interruption(pool):
            while waiting or running:
                # A task is submitted only when a process is free for it. So after an error no further task begins.
                with safe_path():
                    while waiting and len(running) < count:
                        running.add(pool.submit(_do, *waiting.pop(0)))
                done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                report(sum(shares[:]))
                for future in done:
                    _check(future)


@contextmanager
def _ended_by_interruption(pool: ProcessPoolExecutor) -> Iterator[None]:
    """After Ctrl-C the processes end at once: what one of them works on may take a minute, and is done anew later."""
    try:
        yield
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.kill()
        raise


def _check(future: Future[None]) -> None:
    try:
        future.result()
    except BrokenProcessPool:
        raise ModelCannot(
            "A process that worked beside this one ended before its work. Memory may not suffice for so many: name "
            "fewer. In a script, the call that starts them stands under `if __name__ == '__main__':`."
        ) from None


# In a worker: how much of each task is done, shared with the parent; and what it does before its first task.
_shares: SynchronizedArray[float] | None = None
_begin = begin_nothing


def _start(shares: SynchronizedArray[float], threads: int, autocast: AutocastTypes, begin: Callable[[], None]) -> None:
    import torch

    from pellucid.base.torch_state import autocast_for_good

    global _shares, _begin
    _shares, _begin = shares, begin
    hand_on_safe_path()
    autocast_for_good(autocast)
    torch.set_num_threads(threads)
    end_with_parent()


def end_with_parent() -> None:
    """Have this process end when its parent ends. The workers of a killed parent would go on writing otherwise."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(index: int, task: Task) -> None:
    global _begin
    _begin()  # here and not at the start, where an error would not reach the parent
    _begin = begin_nothing

    def share(done: float) -> None:
        assert _shares is not None
        _shares[index] = done

    task(share)


# Processes that import nothing from the current folder, where a stranger's data may lie.

SAFE_PATH = "PYTHONSAFEPATH"  # Python's own variable: no folder of the program's surroundings is put first on the path
# What a program sees of the environment: neither the user's variables nor programs outside the system's folders.
PROGRAM_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": os.defpath, SAFE_PATH: "1"}

_starting = threading.Lock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Whatever `multiprocessing` starts meanwhile, its tracker of resources too, begins with Python's option -P.

    It starts Python as `python -c`, which looks for every module in the current folder first. The list of options that
    it hands on is the one place that all of these processes share; the environment would also be seen by the user's
    threads.
    """
    with _starting:
        shared: Any = util
        inherited = shared._args_from_interpreter_flags
        shared._args_from_interpreter_flags = lambda: [*inherited(), "-P"]
        try:
            yield
        finally:
            shared._args_from_interpreter_flags = inherited


def hand_on_safe_path() -> None:
    """Let every Python program that this process starts, itself or by a library, leave out the current folder."""
    os.environ[SAFE_PATH] = "1"


def program_path(name: str) -> str | None:
    """The absolute path of a program that the user names, by a path or by its name alone; None where it is not
    installed.

    A name alone is looked up in the absolute folders of PATH: a `.` or nothing there is the current folder.
    """
    if Path(name).name != name:
        path = shutil.which(name)
        return None if path is None else str(Path(path).absolute())
    folders = [folder for folder in os.get_exec_path() if Path(folder).is_absolute()]
    path = shutil.which(name, path=os.pathsep.join(folders))
    return path if path is not None and Path(path).is_absolute() else None


# Progress of long work: a callback with the stage, how much is done, and how much there is to do.

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """A callback that does nothing."""
