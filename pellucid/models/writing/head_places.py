"""Only places from which a piece is written reach the head over the vocabulary: that product is most of a small model's work."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from pellucid.core.passes.module_hooks import hook_input


@contextmanager
def head_at(head: nn.Module | None, places: Tensor) -> Iterator[None]:
    """The head reads the states of these places [row piece] and of no others; None: there is no module to ask.

    Heads read each place by itself, so nothing else changes.
    """
    if head is None:
        yield
        return

    def at_those(_: nn.Module, args: tuple) -> tuple:
        return (at_places(args[0], places), *args[1:])

    remove = hook_input(head, at_those)
    try:
        yield
    finally:
        remove()


def at_places(states: Tensor, places: Tensor) -> Tensor:
    """[row place width] -> [row piece width]"""
    return states[torch.arange(len(states), device=states.device)[:, None], places]
