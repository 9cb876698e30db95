"""Layers of any torch network: the outputs of modules that the user names, read and replaced while the network runs.

Layer 0 are the word embeddings; layer l is what the l-th named module returns.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from pellucid.base.checks import every
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.classifiers.hooks import Enough, with_first
from pellucid.run.module_hooks import hook_output


@dataclass
class LayerRun:
    """What one run reads off the named modules, and what it puts there instead.

    embedding: the module of layer 0. layers: the modules. name: what messages call the model. shape: (rows, pieces) of the run. deepest: the network stops,
    raising `Enough`, after this layer's states; None: it runs to its end. layer, instead: the states [row piece width] that
    the network reads as those of this layer; a leaf of the graph. states: of the layers above 0, in the order of the
    modules, filled while the network runs.
    """

    embedding: nn.Module
    layers: Sequence[nn.Module]
    name: str
    shape: tuple[int, int]
    deepest: int | None = None
    layer: int | None = None
    instead: Tensor | None = None
    states: list[Tensor] = field(default_factory=list)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """The named modules are read, and one of them replaced, inside; raises `ModelCannot` where they do not run in order, once each."""
        with ExitStack() as stack:
            if self.deepest == 0:
                stack.callback(hook_output(self.embedding, _stop))
            for number, module in enumerate(self.layers, start=1):
                stack.callback(hook_output(module, self._hook(number)))
            yield
        if len(self.states) < len(self.layers):
            raise ModelCannot(
                f"{self.name}: logits did not run layers[{len(self.states)}]; name only modules that every text goes through, "
                "in the order in which they run."
            )

    def _hook(self, number: int) -> Callable:
        def read(_: nn.Module, __: tuple, output: object) -> object:
            if number != len(self.states) + 1:
                raise ModelCannot(
                    f"{self.name}: layers[{number - 1}] ran when {len(self.states)} layers had run; name modules that run "
                    "once for all pieces together, in the order in which they run."
                )
            first = output[0] if isinstance(output, tuple | list) and output else output
            self._check(number, output if isinstance(output, PackedSequence) else first)
            return with_first(output, self._record)  # type: ignore[arg-type]  # checked above

        return read

    def _check(self, number: int, state: object) -> None:
        """Raise `ModelCannot` for what is not one vector a piece."""
        shape = tuple(state.shape) if isinstance(state, Tensor) else None
        if shape is None or len(shape) != 3 or shape[:2] != self.shape:
            came = type(state).__name__ if shape is None else shape
            raise ModelCannot(
                f"{self.name}: layers[{number - 1}] must return one vector a piece, here a tensor of shape "
                f"({self.shape[0]}, {self.shape[1]}, width); {came} came."
            )

    def _record(self, state: Tensor) -> Tensor:
        number = len(self.states) + 1
        if self.instead is not None and number == self.layer:
            if self.instead.shape != state.shape:
                raise BadSetting(
                    f"The states instead of those of layer {number} of {self.name} must have the shape "
                    f"{tuple(state.shape)}; {tuple(self.instead.shape)} came."
                )
            state = self.instead.to(state.dtype).detach().requires_grad_(torch.is_grad_enabled())
        self.states.append(state)
        if number == self.deepest:
            raise Enough
        return state.clone()  # the network may go on in place


def _stop(*_: object) -> None:
    raise Enough


def checked_layers(layers: object, embedding: nn.Module | None) -> tuple[nn.Module, ...]:
    """The modules that a user names as layers; raises `BadSetting` for what cannot be layers."""
    if layers is None:
        return ()
    listed = list(layers) if isinstance(layers, nn.ModuleList) else layers
    modules = tuple(every("layers", listed, nn.Module, "give a list of torch modules"))
    if modules and embedding is None:
        raise BadSetting(
            "layers= needs embedding=, whose vectors are layer 0; give the module that reads the ids."
        )
    if len(set(modules)) < len(modules) or embedding in modules:
        raise BadSetting("layers= must be different modules, without the embedding, which is layer 0.")
    return modules


def layer_names(network: nn.Module, layers: Sequence[nn.Module]) -> list[str]:
    """What the network calls the modules; "" for those that are no parts of it."""
    names = {module: name for name, module in network.named_modules()}
    return [names.get(layer, "") for layer in layers]
