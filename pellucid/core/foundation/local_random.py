"""Random numbers that neither change nor read the process's random state, which all threads share."""

from collections.abc import Callable

import torch
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
        draws = any(argument.name == "generator" for argument in func._schema.arguments)  # type: ignore[attr-defined]
        if draws and options.get("generator") is None:
            options["generator"] = self._generator
        return func(*args, **options)
