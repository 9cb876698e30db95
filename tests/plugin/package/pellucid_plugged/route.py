"""Plugged route: PyTorch's own operators, from another package."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import nn

from pellucid.base.kinds import routes


@routes.add("plugged_route", devices=frozenset({"cpu"}))
class PluggedRoute:
    """PyTorch's own operators."""

    def __init__(self, network: nn.Module) -> None:
        pass

    @staticmethod
    def lacks() -> str:
        """Nothing."""
        return ""

    def explaining(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    def training(self) -> AbstractContextManager[object]:
        """A context that changes nothing."""
        return nullcontext()

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """The network's own call."""
        return network(**columns)
