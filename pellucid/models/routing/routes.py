"""Routes of a pass: how a network's passes are computed, never what; a function each."""

import inspect
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor, nn

from pellucid.base.kinds import routes
from pellucid.models.routing.compiled_network import CompiledNetwork, lacks_openvino
from pellucid.models.routing.linear_layers import LinearLayers
from pellucid.models.routing.linear_product import PackedWeights, lacks_product
from pellucid.models.routing.route import own_call


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


@routes.add("onednn", devices=frozenset({"cpu"}), mixes=True)
class OneDnnRoute:
    """Linear layers of float32 by oneDNN; in large passes without gradients their weights are packed once.

    Linear layers by oneDNN, which every PyTorch for processors contains; all else stays PyTorch's own.

    Source: PyTorch computes float32 products by MKL, which some processors run at a fraction of what
    oneDNN reaches on them.
    """

    def __init__(self, network: nn.Module) -> None:
        self._packed = PackedWeights()

    @staticmethod
    def lacks() -> str:
        """What this PyTorch lacks of oneDNN."""
        return lacks_product()

    def explaining(self) -> AbstractContextManager[object]:
        """Products by oneDNN, and gradients by inputs."""
        return LinearLayers(self._packed)

    def training(self) -> AbstractContextManager[object]:
        """Products by oneDNN, and gradients by inputs and weights."""
        return LinearLayers(None)

    answer = staticmethod(own_call)


READ = "read"  # the keyword of a composed network's forward: how its encoder's states are computed


@routes.add("openvino", devices=frozenset({"cpu"}), trains=False)
class OpenVinoRoute:
    """Answers in float32 of classifiers of transformers, and of the encoders of models composed by Pellucid.

    Whole passes by OpenVINO, where that package is installed; passes with a graph, and all that is
    recorded, stay PyTorch's own.
    """

    def __init__(self, network: nn.Module) -> None:
        self._is_composed = READ in inspect.signature(network.forward).parameters
        encoder: Any = network.encoder if self._is_composed else network
        self._compiled = CompiledNetwork(encoder)

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


@routes.add("openvino_onednn", devices=frozenset({"cpu"}), trains=False)
class OpenVinoOneDnnRoute:
    """Answers by the route openvino; gradients, and what is recorded on the way, by the route onednn.

    Whole passes by OpenVINO, and passes with a graph by PyTorch with oneDNN's linear layers: each where
    it is the fastest.
    """

    def __init__(self, network: nn.Module) -> None:
        self._layers = OneDnnRoute(network)
        self._answers = OpenVinoRoute(network)

    @staticmethod
    def lacks() -> str:
        """What this machine lacks of either."""
        return OpenVinoRoute.lacks() or OneDnnRoute.lacks()

    def explaining(self) -> AbstractContextManager[object]:
        """Products by oneDNN, where a pass is not OpenVINO's."""
        return self._layers.explaining()

    def training(self) -> AbstractContextManager[object]:
        """Products by oneDNN."""
        return self._layers.training()

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """Logits by OpenVINO, as far as it computes them."""
        return self._answers.answer(network, columns)
