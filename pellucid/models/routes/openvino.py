"""Whole passes by OpenVINO, where that package is installed; passes with a graph, and all that is recorded, stay PyTorch's own."""

import inspect
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor, nn

from pellucid.core.foundation.kinds import routes
from pellucid.models.routing.compiled_network import CompiledNetwork, lacks_openvino

READ = "read"  # the keyword of a composed network's forward: how its encoder's states are computed


@routes.add("openvino", devices=frozenset({"cpu"}), trains=False)
class OpenVinoRoute:
    """Answers in float32 of classifiers of transformers, and of the encoders of models composed by Pellucid."""

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
