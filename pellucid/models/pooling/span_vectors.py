"""What a pooler must offer beyond its weights so that its spans can be analysed one by one."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from torch import Tensor

from pellucid.models.pooling.piece_tensors import PieceTensors

SpanVectors = Callable[[Tensor, Tensor], Tensor]  # first units [span], last units [span] -> [span width]


@runtime_checkable
class WithSpanVectors(Protocol):
    """A pooler whose span vectors and scores can be read; `SpanPooler` is one."""

    @property
    def score_vector(self) -> Tensor:
        """[width]: a span's score is its vector's product with it, up to a constant."""
        ...

    def vectors(self, states: Tensor, pieces: PieceTensors) -> SpanVectors:
        """For one text [1 piece width]: a function that computes the vectors of some spans."""
        ...
