"""What a run made the network compute: calls, sequences, tokens with their padding; and how long that took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass
class Counted:
    """calls and sequences: of the network. forward, backward: tokens, padding included.

    forward_seconds, backward_seconds: inside the network, for a device that does not run ahead of Python.
    """

    calls: int = 0
    sequences: int = 0
    forward: int = 0
    backward: int = 0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0
    _began: float = 0.0

    def begin(self, *_: Any) -> None:
        """Before a call."""
        self._began = time.perf_counter()

    def seen(self, network: Any, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
        """After a call: count it, and count its backward pass when that comes."""
        self.forward_seconds += time.perf_counter() - self._began
        ids = kwargs.get("input_ids", kwargs.get("inputs_embeds", args[0] if args else None))
        tokens = ids.shape[0] * ids.shape[1]
        self.calls += 1
        self.sequences += ids.shape[0]
        self.forward += tokens
        if output.logits.requires_grad:
            output.logits.register_hook(lambda gradient: self._backward(gradient, tokens))

    def _backward(self, gradient: Tensor, tokens: int) -> None:
        self.backward += tokens


@contextmanager
def counting(network: Any) -> Iterator[Counted]:
    """Count what happens inside."""
    counted, plain = Counted(), torch.autograd.grad

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        output = plain(*args, **kwargs)
        counted.backward_seconds += time.perf_counter() - start
        return output

    before = network.register_forward_pre_hook(counted.begin)
    after = network.register_forward_hook(counted.seen, with_kwargs=True)
    torch.autograd.grad = timed
    try:
        yield counted
    finally:
        torch.autograd.grad = plain
        before.remove()
        after.remove()
