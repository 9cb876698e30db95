"""Parts of a trace that stand in several tensors of the graph: of a translator's layer those of encoder and decoder.

A method reads one tensor a layer. It is put together when it is read, beside the graph, so that who reads none pays for
none; gradients by it are put together from those by the tensors that the network really computes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from torch import Tensor

Join = Callable[[Sequence[Tensor]], Tensor]


@dataclass(frozen=True)
class JoinedPart:
    """tensors: nodes of the graph. value: the tensors -> the part. gradient: gradients by the tensors -> the gradient by the part."""

    tensors: tuple[Tensor, ...]
    value: Join
    gradient: Join


class JoinedParts(Sequence[Tensor]):
    """Of each layer the part, computed whenever it is read."""

    def __init__(self, parts: Sequence[JoinedPart]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, layer: int) -> Tensor: ...
    @overload
    def __getitem__(self, layer: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, layer: int | slice) -> Tensor | Sequence[Tensor]:
        """[example unit width] of a layer, or of several."""
        if isinstance(layer, slice):
            return JoinedParts(self.parts[layer])
        part = self.parts[layer]
        return part.value(part.tensors)


def graph_nodes(parts: Sequence[Tensor]) -> list[Tensor]:
    """The nodes of the graph behind the parts, one after another."""
    if isinstance(parts, JoinedParts):
        return [tensor for part in parts.parts for tensor in part.tensors]
    return list(parts)


def gradients_by(parts: Sequence[Tensor], by_nodes: Iterator[Tensor]) -> Sequence[Tensor]:
    """The gradients by the parts; by_nodes: those by `graph_nodes`, of which this takes as many as there are."""
    if not isinstance(parts, JoinedParts):
        return tuple(next(by_nodes) for _ in parts)
    return JoinedParts(
        [
            JoinedPart(tuple(next(by_nodes) for _ in part.tensors), part.gradient, part.gradient)
            for part in parts.parts
        ]
    )
