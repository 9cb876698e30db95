"""Random numbers that neither change nor read the process's random state, which all threads share."""

from collections.abc import Callable

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class OwnDraws(TorchDispatchMode):
    """While active, this thread draws random numbers on the CPU from a generator of its own.

    The numbers are those after `torch.manual_seed(seed)`. Use it to build networks, not to train them: every call of torch
    takes longer.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict[str, object] | None = None
    ) -> object:
        options = dict(kwargs or {})
        if _draws(func) and options.get("generator") is None:
            options["generator"] = self._generator
        return func(*args, **options)


class UndrawnParameters(TorchDispatchMode):
    """While active, this thread fills no parameter with random numbers: what a network begins with stays undefined.

    For a network all of whose parameters are loaded afterwards; drawing them takes as long as reading them. Other tensors,
    such as tables that are not saved, are drawn as ever.
    """

    def __torch_dispatch__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict[str, object] | None = None
    ) -> object:
        if args and isinstance(args[0], nn.Parameter) and _draws(func):
            return args[0]
        return func(*args, **(kwargs or {}))


def _draws(func: Callable) -> bool:
    return any(argument.name == "generator" for argument in func._schema.arguments)  # type: ignore[attr-defined]
