"""PyTorch's own operators, one after another: what every other route is compared with."""

from contextlib import AbstractContextManager, nullcontext

from torch import nn

from pellucid.core.foundation.kinds import routes
from pellucid.models.routing.route import own_call


@routes.add("eager")
class EagerRoute:
    """PyTorch's own operators, as the network's own call runs them; on every device and in every number type."""

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
