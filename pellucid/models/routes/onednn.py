"""Linear layers by oneDNN, which every PyTorch for processors contains; all else stays PyTorch's own.

PyTorch computes float32 products by MKL, which some processors run at a fraction of what oneDNN reaches on them.
"""

from contextlib import AbstractContextManager

from torch import nn

from pellucid.core.foundation.kinds import routes
from pellucid.models.routing.linear_layers import LinearLayers
from pellucid.models.routing.linear_product import lacks_product
from pellucid.models.routing.packed_weights import PackedWeights
from pellucid.models.routing.route import own_call


@routes.add("onednn", devices=frozenset({"cpu"}), mixes=True)
class OneDnnRoute:
    """Linear layers of float32 by oneDNN; in large passes without gradients their weights are packed once."""

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
