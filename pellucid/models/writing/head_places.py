"""Only places from which a piece is written reach the head over the vocabulary: that product is most of a small model's work.

In a pass with gradients the product is recorded, so that the way back takes one word's places alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from pellucid.core.passes.module_hooks import hook_input, hook_output, is_watched
from pellucid.core.passes.trace import HeadProduct


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


@contextmanager
def recorded_product(head: nn.Module | None) -> Iterator[list[HeadProduct]]:
    """The head's product, once it has run inside; nothing of a head that is more than a linear map, or that somebody else hooks."""
    products: list[HeadProduct] = []
    if type(head) is not nn.Linear or is_watched(head) or head._backward_hooks or head._backward_pre_hooks:
        yield products
        return
    weight = head.weight.detach()
    remove = hook_output(head, lambda _, args, output: products.append(HeadProduct(args[0], output, weight)))
    try:
        yield products
    finally:
        remove()


def at_places(states: Tensor, places: Tensor) -> Tensor:
    """[row place width] -> [row piece width]"""
    return states[torch.arange(len(states), device=states.device)[:, None], places]
