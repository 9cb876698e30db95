"""Layers of any torch network: the outputs of modules that the user names, read and replaced while the network runs.

Layer 0 are the word embeddings; layer l is what the l-th named module returns.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence
from torch.overrides import TorchFunctionMode

from pellucid.base.checks import every
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.classifiers.hooks import Enough, with_first
from pellucid.models.families.encoder import attention_scores, shared_heads
from pellucid.run.module_hooks import hook_output
from pellucid.run.trace import ChangeAttention, KeepBlocks, every_block


@dataclass
class LayerRun:
    """What one run reads off the named modules, and what it puts there instead.

    embedding: the module of layer 0. layers: the modules. name: what messages call the model. shape: (rows, pieces) of
    the run. deepest: the network stops, raising `Enough`, after this layer's states; None: it runs to its end. layer,
    instead: the states [row piece width] that the network reads as those of this layer; a leaf of the graph. states: of
    the layers above 0, in the order of the modules, filled while the network runs.
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
        """The named modules are read, and one of them replaced, inside; raises `ModelCannot` where they do not run in
        order, once each.
        """
        with ExitStack() as stack:
            if self.deepest == 0:
                stack.callback(hook_output(self.embedding, _stop))
            for position, module in enumerate(self.layers, start=1):
                stack.callback(hook_output(module, self._hook(position)))
            yield
        if len(self.states) < len(self.layers):
            raise ModelCannot(
                f"{self.name}: logits did not run layers[{len(self.states)}]; name only modules that every text goes "
                f"through, in the order in which they run."
            )

    def _hook(self, layer_number: int) -> Callable[..., Any]:
        def read(_: nn.Module, __: tuple[Any, ...], output: object) -> object:
            if layer_number != len(self.states) + 1:
                raise ModelCannot(
                    f"{self.name}: layers[{layer_number - 1}] ran when {len(self.states)} layers had run; name modules "
                    f"that run once for all pieces together, in the order in which they run."
                )
            first = output[0] if isinstance(output, tuple | list) and output else output
            self._check(layer_number, output if isinstance(output, PackedSequence) else first)
            return with_first(output, self._record)  # type: ignore[arg-type]  # checked above

        return read

    def _check(self, layer_number: int, state: object) -> None:
        """Raise `ModelCannot` for what is not one vector a piece."""
        shape = tuple(state.shape) if isinstance(state, Tensor) else None
        if shape is None or len(shape) != 3 or shape[:2] != self.shape:
            came = type(state).__name__ if shape is None else shape
            raise ModelCannot(
                f"{self.name}: layers[{layer_number - 1}] must return one vector a piece, here a tensor of shape "
                f"({self.shape[0]}, {self.shape[1]}, width); {came} came."
            )

    def _record(self, state: Tensor) -> Tensor:
        layer_number = len(self.states) + 1
        if self.instead is not None and layer_number == self.layer:
            if self.instead.shape != state.shape:
                raise BadSetting(
                    f"The states instead of those of layer {layer_number} of {self.name} must have the shape "
                    f"{tuple(state.shape)}; {tuple(self.instead.shape)} came."
                )
            state = self.instead.to(state.dtype).detach().requires_grad_(torch.is_grad_enabled())
        self.states.append(state)
        if layer_number == self.deepest:
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
        raise BadSetting("layers= needs embedding=, whose vectors are layer 0; give the module that reads the ids.")
    if len(set(modules)) < len(modules) or embedding in modules:
        raise BadSetting("layers= must be different modules, without the embedding, which is layer 0.")
    return modules


def layer_names(network: nn.Module, layers: Sequence[nn.Module]) -> list[str]:
    """What the network calls the modules; "" for those that are no parts of it."""
    names = {module: name for name, module in network.named_modules()}
    return [names.get(layer, "") for layer in layers]


# Attention weights of each block, and what each head would carry from each piece, recorded while a network runs.
#
# Works on fused attention (scaled_dot_product_attention) and on attention written out with a softmax, without
# switching the model's implementation, which models of one configuration share.

SOFTMAX = (F.softmax, torch.softmax, Tensor.softmax)
FACTORS = {F.linear: 1, torch.addmm: 2}  # linear maps, and the index of their weight among the arguments
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)


class RecordedAttention(TorchFunctionMode):
    """While active, computes attention written out and records it, block by block, as nodes of the graph.

    weights: [example head query key] of each block, or what `keep` makes of them. head_values: with values=True,
    [example head key width], what a head would add to a piece that looked at this key alone: its value through the
    block's output projection; likewise kept, and empty where a block's projection was not found. oblong: a softmax over
    other keys than there are queries counts too, as where a decoder reads a source. change: what the network computes
    with in place of its weights. keep: what stays in memory, block by block.
    """

    def __init__(
        self,
        values: bool = False,
        *,
        oblong: bool = False,
        change: ChangeAttention | None = None,
        keep: KeepBlocks = every_block,
        keep_values: KeepBlocks | None = None,
    ) -> None:
        super().__init__()
        self._oblong, self._change, self._keep, self._keep_values = oblong, change, keep, keep_values or keep
        self._blocks = self._projected = 0
        self._shape = torch.Size()  # of the newest weights
        self.weights: Sequence[Tensor] = ()
        self._head_values: Sequence[Tensor] = ()
        self._values = values
        self._waiting: tuple[Tensor, Tensor] | None = None  # a block's values and outputs, heads apart

    @property
    def head_values(self) -> Sequence[Tensor]:
        """See above."""
        return self._head_values if self._projected == self._blocks else ()

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[Any, Any] | None = None
    ) -> object:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            return self._open(*args, **kwargs)
        if self._waiting is not None and len(args) > FACTORS.get(func, len(args)):
            self._project(func, *args)
        output = func(*args, **kwargs)
        if func in SOFTMAX and output.ndim == 4 and (self._oblong or output.shape[-1] == output.shape[-2]):
            output = self._of_block(output, args[0])
        elif self._values and self._blocks and func in PRODUCTS and _same_size(args[0], self._shape):
            shape = (*self._shape[:2], -1, output.shape[-1])
            self._waiting = args[1].reshape(shape), output.reshape(shape)
        return output

    def _open(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        if enable_gqa:
            key, value = shared_heads(query, key, value)
        scores = attention_scores(query, key, attn_mask, is_causal=is_causal, scale=scale, lowest=float("-inf"))
        weights = self._of_block(_softmax(scores, attn_mask), scores)
        output = weights @ value
        if self._values:
            self._waiting = value, output
        return output

    def _of_block(self, weights: Tensor, scores: Tensor) -> Tensor:
        """The weights that the block computes with: its own, or what `change` makes of them."""
        if self._change is not None:
            weights = self._change(self._blocks, weights, open_keys(scores)).to(weights.dtype)
        self._blocks += 1
        self._shape = weights.shape
        self.weights = self._keep(self.weights, weights)
        return weights

    def _project(self, func: Callable[..., Any], *args: Tensor) -> None:
        """Record the head values, if this linear map is the one that the joined heads go through."""
        assert self._waiting is not None
        value, output = self._waiting
        factor, weight = (args[0], args[1].T) if func is F.linear else (args[1], args[2])
        joined = output.transpose(1, 2).reshape(factor.shape) if factor.numel() == output.numel() else None
        if joined is None or not torch.equal(factor, joined):
            return
        heads = weight.reshape(value.shape[1], value.shape[-1], -1)
        values = torch.einsum("bhkd,hdw->bhkw", value, heads)
        self._head_values, self._projected = self._keep_values(self._head_values, values), self._projected + 1
        self._waiting = None


MASKED = 1000.0  # scores further below a row's largest are a mask: -1e4, the lowest number or minus infinity


def open_keys(scores: Tensor) -> Tensor:
    """[example head query key] scores -> bool: the keys that no mask of padding, causality or a window hides.

    A score of the network's own so far below the largest has the weight 0 as well.
    """
    return scores > scores.amax(-1, keepdim=True) - MASKED


def _softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """A row whose keys are all masked (a padded query) would be nan, and so would every gradient; its weights are 0."""
    if mask is None:
        return scores.softmax(-1)
    nothing = (~mask if mask.dtype == torch.bool else mask.isneginf()).all(-1, keepdim=True)
    if not nothing.any():  # looked up in the mask, which all heads share
        return scores.softmax(-1)
    return scores.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)


def _same_size(factor: Tensor, shape: torch.Size) -> bool:
    return factor.numel() == shape.numel() and factor.shape[-2:] == shape[-2:]
