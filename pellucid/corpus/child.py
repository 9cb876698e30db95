"""A child process that computes for this one: how it begins, answers, dies and ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import torch

from pellucid.base.errors import ModelCannot
from pellucid.base.processes import end_with_parent, hand_on_safe_path, safe_path
from pellucid.base.torch_state import AutocastTypes, autocast_for_good
from pellucid.run.model import Model

ENDED = "ended"  # what a child is sent when there is no more work


class ChildDied(Exception):
    """The child process ended by itself; the message says how."""


@dataclass
class Child:
    """A process and the pipe to it. was_ended: whether this process has ended it."""

    was_ended: bool = False
    _process: Any = None
    _connection: Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether it was started, and its end was not noticed yet."""
        return self._process is not None

    def start(self, serve: Callable[..., None], *arguments: Any, way: str = "spawn") -> None:
        """Start a process that calls `serve` with its end of the pipe and the arguments; way: "fork" for a copy."""
        context: Any = get_context(way)
        ours, theirs = context.Pipe()
        with safe_path():
            self._process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)
            self._process.start()
        theirs.close()
        self._connection = ours

    def send(self, task: object) -> None:
        """Hand on a task; raises `ChildDied`."""
        assert self._connection is not None
        try:
            self._connection.send(task)
        except OSError:
            raise ChildDied(self._how_it_ended()) from None

    def answer(self) -> tuple[str, Any]:
        """Its next answer, (kind, value). Raises the value of an "error", and `ChildDied`."""
        assert self._connection is not None
        try:
            kind, value = self._connection.recv()
        except (EOFError, OSError):
            raise ChildDied(self._how_it_ended()) from None
        if kind == "error":
            raise value
        return kind, value

    def _how_it_ended(self) -> str:
        process, self._process = self._process, None
        process.join()
        code = process.exitcode
        if code is not None and code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended by itself with status {code}"

    def end(self) -> None:
        """End it at once."""
        self.was_ended = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End it after its work."""
        if self._process is not None and self._connection is not None:
            with suppress(OSError):
                self._connection.send(ENDED)
            self._process.join()
            self._process = None


# In the child.


def begin_in_child(place: str, threads: int, autocast: AutocastTypes) -> None:
    """What each child does first. place: the folder that relative names are of; threads: as many as it has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    hand_on_safe_path()
    with suppress(OSError):  # a machine of a cluster may lack it, and the model's name may need no folder
        os.chdir(place)
    end_with_parent()
    autocast_for_good(autocast)
    torch.set_num_threads(threads)


def loaded_in_child(load: Callable[[], Model], model_hash: str) -> Model:
    """The model; raises `ModelCannot` where its files hold another one than the parent has in memory."""
    model = load()
    if model.hash != model_hash:
        raise ModelCannot(
            f"{model.name} has other weights in its files than in memory, and workers load the files; save the model "
            f"first."
        )
    return model
