"""Modules that count as one function: activations written out by hand, and LSTMs, which torch computes in one call."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.overrides import handle_torch_function

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.module_hooks import hook_output
from pellucid.relevance.recurrent import lstm

REFUSED = (nn.GRU, nn.RNN, nn.GRUCell, nn.RNNCell, nn.LSTMCell)


@contextmanager
def treated_whole(network: nn.Module) -> Iterator[None]:
    """Inside, the active mode sees each such module of the network as one function call, in this thread only."""
    with ExitStack() as stack:
        for module in network.modules():
            replace = _replacement(module)
            if replace is not None:
                stack.callback(hook_output(module, replace))
        yield


def _replacement(module: nn.Module) -> Callable | None:
    if isinstance(module, torch.jit.ScriptModule):
        raise ModelCannot(
            f"Relevance cannot look into TorchScript ({module.original_name}); give the network itself."
        )
    if isinstance(module, REFUSED):
        raise ModelCannot(
            f"Relevance has no rule for {type(module).__name__}: it is one opaque call. nn.LSTM has one; or use "
            "integrated_gradients."
        )
    if isinstance(module, nn.LSTM):
        return lstm
    if type(module).__module__ == "transformers.activations" and type(module).__name__ != "LinearActivation":
        return _activation
    return None


@dataclass(frozen=True)
class Whole:
    """An activation module as one function of its input."""

    module: nn.Module
    kind: str = "activation"

    def __call__(self, input: Tensor) -> Tensor:
        """What the module computes, without its hooks."""
        return type(self.module).forward(self.module, input)


def _activation(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
    """The activation's output, computed as one function call that the mode sees, as it sees those of torch."""
    return handle_torch_function(Whole(module), args[:1], *args[:1])
