"""Whole passes by OpenVINO, and passes with a graph by PyTorch with oneDNN's linear layers: each where it is the fastest."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from torch import nn

from pellucid.core.foundation.kinds import routes
from pellucid.models.routes.onednn import OneDnnRoute
from pellucid.models.routes.openvino import OpenVinoRoute


@routes.add("openvino_onednn", devices=frozenset({"cpu"}), trains=False)
class OpenVinoOneDnnRoute:
    """Answers by the route openvino; gradients, and what is recorded on the way, by the route onednn."""

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
