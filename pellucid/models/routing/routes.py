"""Routes of a pass: how a network's passes are computed, never what; a function each."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import routes
from pellucid.models.routing.compiled_network import CompiledNetwork, lacks_openvino
from pellucid.models.routing.last_block import READ, last_block
from pellucid.models.routing.linear_product import (
    InputLinear,
    PackedWeights,
    TrainedLinear,
    has_bfloat16,
    lacks_product,
    linear_product,
)
from pellucid.models.routing.trial import own_call


@routes.add("eager")
class EagerRoute:
    """PyTorch's own operators, as the network's own call runs them; on every device and in every number type.

    PyTorch's own operators, one after another: what every other route is compared with.
    """

    def __init__(self, network: nn.Module) -> None:
        pass

    @staticmethod
    def lacks() -> str:
        """Nothing: it is always there."""
        return ""

    def explaining(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    def training(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    answer = staticmethod(own_call)


@routes.add("first_position", trains=False, mixes=True)
class FirstPositionRoute(EagerRoute):
    """PyTorch's own operators, and of the last block the first position alone, where the head reads no other.

    Passes that leave answers behind, with gradients or without; all that is recorded stays eager. For encoders of
    BERT's kind and DistilBERT whose head reads the first position.
    """

    refusal = "its head reads more than the first position"

    def __init__(self, network: nn.Module) -> None:
        """Raises `ModelCannot` for a network that is built otherwise."""
        block = last_block(network)
        if block is None:
            raise ModelCannot("its last block is not built as those of BERT or DistilBERT, or hooks watch the network")
        self.block = block

    def answering(self) -> AbstractContextManager[object]:
        """The last block at the first position."""
        return self.block.at_first_position()

    shortened = answering


@routes.add("onednn", devices=frozenset({"cpu"}), mixes=True)
class OneDnnRoute:
    """Linear layers of float32 by oneDNN; in large passes without gradients their weights are packed once.

    Linear layers by oneDNN, which every PyTorch for processors contains; all else stays PyTorch's own. Where the head
    reads the first position alone, so is the last block computed, as by `first_position`.

    Source: PyTorch computes float32 products by MKL, which some processors run at a fraction of what
    oneDNN reaches on them.
    """

    def __init__(self, network: nn.Module) -> None:
        self._packed, self._block = PackedWeights(), last_block(network)

    @staticmethod
    def lacks() -> str:
        """What this PyTorch lacks of oneDNN."""
        return lacks_product()

    def explaining(self) -> AbstractContextManager[object]:
        """Products by oneDNN, and gradients by inputs."""
        return LinearLayers(self._packed)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """The same, and the last block at the first position."""
        with self.shortened(), self.explaining():
            yield

    def shortened(self) -> AbstractContextManager[object]:
        """The last block at the first position, where the head reads no other."""
        return nullcontext() if self._block is None else self._block.at_first_position()

    def read_all_positions(self) -> bool:
        """Compute the last block whole from now on; whether it was not."""
        was_short, self._block = self._block is not None, None
        return was_short

    def training(self) -> AbstractContextManager[object]:
        """Products by oneDNN, and gradients by inputs and weights."""
        return LinearLayers(None)

    answer = staticmethod(own_call)


@routes.add("openvino", devices=frozenset({"cpu"}), trains=False, answers_only=True)
class OpenVinoRoute:
    """Answers in float32 of classifiers of transformers, and of the encoders of models composed by Pellucid.

    Whole passes by OpenVINO, where that package is installed; passes with a graph, and all that is
    recorded, stay PyTorch's own.
    """

    def __init__(self, network: nn.Module) -> None:
        self._is_composed = READ in inspect.signature(network.forward).parameters
        encoder: Any = network.encoder if self._is_composed else network
        # A pooler of a composed network may read all states.
        self._compiled = CompiledNetwork(encoder, None if self._is_composed else last_block(network))

    @staticmethod
    def lacks() -> str:
        """That the package is not installed."""
        return lacks_openvino()

    def explaining(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    def training(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    def read_all_positions(self) -> bool:
        """Compile the last block whole from now on; whether it was not."""
        was_short, self._compiled = self._compiled.block is not None, self._compiled.whole()
        return was_short

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """Logits by OpenVINO, or by a composed network's own pooler and head from states by OpenVINO."""
        if self._is_composed:
            return network(**columns, **{READ: self._states})
        return self._compiled.answer(network, columns)

    def _states(self, encoder: nn.Module, columns: Mapping[str, Tensor]) -> Tensor:
        """[row piece width]: an encoder's last states."""
        answer: Any = self._compiled.answer(encoder, columns)
        states: Tensor = answer[0]
        return states


# While active, the linear layers of this thread are computed by oneDNN, wherever they stand in the network.

FEWEST_ROWS = 16  # of a product; for fewer, starting oneDNN costs more than it saves
FEWEST_PACKED = 256  # rows of a product by a packed weight: below, checking the weight costs more than packing saves


class LinearLayers(TorchFunctionMode):
    """Calls of `F.linear` with plain float32 tensors on a processor go to oneDNN; every other call runs unchanged.

    Without a graph so do calls that autocast rounds to bfloat16.

    packed: the network's packed weights, for passes that are explained; None in a training step, where gradients lead
    to weights too.
    """

    def __init__(self, packed: PackedWeights | None) -> None:
        super().__init__()
        self._packed = packed

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[Any, Any] | None = None
    ) -> object:
        if kwargs:
            return func(*args, **kwargs)
        if func is F.linear and _is_computed(*args):
            return self._product(*args)
        if func is F.linear and self._packed is not None and _is_rounded(*args):
            return self._rounded(*args)
        return func(*args)

    def _product(self, inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not torch.is_grad_enabled():
            return linear_product(inputs, self._in_order(inputs, weight), bias)
        if self._packed is None:
            trained: Tensor = TrainedLinear.apply(inputs, weight, bias)
            return trained
        if any(_is_explained(each) for each in (weight, bias)):
            return F.linear(inputs, weight, bias)
        explained: Tensor = InputLinear.apply(inputs, weight.detach(), None if bias is None else bias.detach())
        return explained

    def _rounded(self, inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """The product that autocast would compute, of a weight that is rounded and packed once."""
        assert self._packed is not None
        rounded = None if bias is None else bias.to(torch.bfloat16)
        return linear_product(inputs.to(torch.bfloat16), self._packed.copy_of(weight, torch.bfloat16), rounded)

    def _in_order(self, inputs: Tensor, weight: Tensor) -> Tensor:
        """The weight, packed where that pays; one that is computed anew in each pass is not worth packing."""
        if self._packed is None or not _is_worth_packing(inputs, weight):
            return weight
        return self._packed.copy_of(weight)


def _is_computed(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    """Whether oneDNN computes this product: plain float32 tensors on a processor, of enough rows, not under autocast.

    A network that is traced shall be traced as it is.
    """
    tensors = (inputs, weight) if bias is None else (inputs, weight, bias)
    return (
        all(_is_plain(each) for each in tensors)
        and inputs.ndim >= 2
        and weight.ndim == 2
        and inputs.numel() >= FEWEST_ROWS * max(1, inputs.shape[-1])
        and not torch.is_autocast_enabled("cpu")
        and not torch.jit.is_tracing()
    )


def _is_rounded(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    """Whether autocast rounds this product to bfloat16 and its weight is worth packing; without a graph."""
    return (
        torch.is_autocast_enabled("cpu")
        and torch.get_autocast_dtype("cpu") == torch.bfloat16
        and not torch.is_grad_enabled()
        and has_bfloat16()
        and all(_is_plain(each) for each in (weight, bias) if each is not None)
        and type(inputs) is Tensor
        and inputs.dtype in (torch.float32, torch.bfloat16)
        and inputs.device.type == "cpu"
        and _is_worth_packing(inputs, weight)
        and not torch.jit.is_tracing()
    )


def _is_worth_packing(inputs: Tensor, weight: Tensor) -> bool:
    """Whether a pass is large and its weight no product of other ones, which each pass would compute anew."""
    return (
        isinstance(weight, nn.Parameter)
        and weight.ndim == 2
        and inputs.ndim >= 2
        and inputs.numel() >= FEWEST_PACKED * max(1, inputs.shape[-1])
    )


def _is_explained(weight: Tensor | None) -> bool:
    """Whether a weight is computed from what the pass may be explained by: its gradient counts."""
    return weight is not None and weight.requires_grad and not isinstance(weight, nn.Parameter)


def _is_plain(tensor: Tensor) -> bool:
    return (
        type(tensor) in (Tensor, nn.Parameter)
        and tensor.dtype == torch.float32
        and tensor.device.type == "cpu"
        and tensor.layout == torch.strided
    )
