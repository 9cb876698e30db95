"""What a run made the network compute: calls, sequences and tokens, padding included."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass
class Counted:
    """calls and sequences: of the network. forward, backward: tokens, padding included."""

    calls: int = 0
    sequences: int = 0
    forward: int = 0
    backward: int = 0

    def seen(self, network: Any, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
        """After a call: count it, and count its backward pass when that comes."""
        given = kwargs.get("input_ids", kwargs.get("inputs_embeds", args[0] if args else None))
        tokens = given.shape[0] * given.shape[1]
        self.calls += 1
        self.sequences += given.shape[0]
        self.forward += tokens
        if output.logits.requires_grad:
            output.logits.register_hook(lambda slope: self._backward(slope, tokens))

    def _backward(self, slope: Tensor, tokens: int) -> None:
        self.backward += tokens


@contextmanager
def counting(network: Any) -> Iterator[Counted]:
    """Count what happens inside."""
    counted = Counted()
    handle = network.register_forward_hook(counted.seen, with_kwargs=True)
    try:
        yield counted
    finally:
        handle.remove()
