"""What every route of a pass offers."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from torch import nn

from pellucid.base.kinds import routes


def own_call(network: nn.Module, columns: Mapping[str, Any]) -> object:
    """What the network itself answers to these keywords."""
    return network(**columns)


class Route(Protocol):
    """One way to compute the passes of a network; it is made once for each network that it computes.

    Its contexts change the running thread alone, and leave nothing behind. What a route does not recognise, PyTorch computes
    as ever.
    """

    def __init__(self, network: nn.Module) -> None: ...

    @staticmethod
    def lacks() -> str:
        """Why the route cannot compute on this machine, in words; "" where it can."""
        ...

    def explaining(self) -> AbstractContextManager[object]:
        """The context of a pass that is explained: its gradients lead to inputs and states, not to weights."""
        ...

    def training(self) -> AbstractContextManager[object]:
        """The context of the forward pass of a training step: its gradients lead to weights too."""
        ...

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """The answer of `network(**columns)`, or a tuple with its logits: of a pass of which only logits and word embeddings are wanted.

        columns: the keywords of the network's forward. Word embeddings are looked up by the network's own module.
        """
        ...


def route_class(name: str) -> type[Route]:
    """The class of a registered route; raises `UnknownName` for other names."""
    return cast(type[Route], routes.get(name).make)
