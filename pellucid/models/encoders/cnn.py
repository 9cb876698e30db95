"""CNN: filters over a few neighbouring words, block by block.

Kim (2014), "Convolutional Neural Networks for Sentence Classification", equation 2; Sun et al. (2020),
"Self-Explaining Structures Improve NLP Models", section 3.1, name it as one of the encoders under a span layer. Kim pools
at once; here each piece keeps its own state, so that any pooler can follow (`maximum` is Kim's).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pellucid.base.checks import at_least, between
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.base.wording import quoted
from pellucid.models.composed.word_vectors import (
    WIDTH,
    BlocksOnVectors,
    Vectors,
    WordVectors,
    check_own_width,
)


@encoders.add("cnn", learning_rate=1e-3, sees="neighbours", later={"vector_width"})
class CNNEncoder(BlocksOnVectors):
    """Filters of several widths around each piece: a state knows its neighbours and nothing farther away.

    Neighbours are those that stand beside each other in the row; a piece that is not attended is a gap: zeros in its place.

    The answers of the filters of one width are a part of a state, with the width as its name: "3", "4", "5". (Where a width
    is named twice, the second part is "3 (2)".)

    vectors: "minilm" begins with MiniLM's word vectors, "random" with small random ones; both are trained.
    widths: how many pieces each kind of filter reads, one or more whole numbers.
    filters: how many of each width; a state has one number a filter.
    layers: blocks, each on the states of the one before.
    dropout: share of the numbers of word vectors and states that training hides, 0 to 0.9.
    vector_width: numbers of a random word vector; None for 384, as MiniLM's have.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        vectors: Vectors = "minilm",
        widths: Sequence[int] = (3, 4, 5),
        filters: int = 128,
        layers: int = 1,
        dropout: float = 0.3,
        vector_width: int | None = None,
    ) -> None:
        at_least("filters", filters, 1)
        at_least("layers", layers, 1)
        between("dropout", dropout, 0, 0.9)
        _check_widths(widths)
        check_own_width(vectors, vector_width)
        table = WordVectors(vocabulary, vectors, dropout, vector_width or WIDTH)
        width = filters * len(widths)
        sizes = [table.width, *[width] * (layers - 1)]
        super().__init__(table, (_FilterLayer(size, widths, filters, dropout) for size in sizes), width)


def _check_widths(widths: object) -> None:
    whole = isinstance(widths, list | tuple) and all(type(width) is int and width > 0 for width in widths)
    if not whole or not widths:
        raise BadSetting(
            f"widths={quoted(widths)} is not possible; give a list of whole numbers, such as [3, 4, 5]."
        )


class _FilterLayer(nn.Module):
    def __init__(self, size: int, widths: Sequence[int], filters: int, dropout: float) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.parts = _parts(widths, filters)
        self.filters = nn.ModuleList(nn.Conv1d(size, filters, width) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, attended: Tensor) -> Tensor:
        """[batch piece size] -> [batch piece width], 0 where nothing is attended."""
        attended = attended[..., None]
        around = (states * attended).transpose(1, 2)
        sides = zip(self.filters, self.widths, strict=True)
        features = [layer(_between_zeros(around, width)) for layer, width in sides]
        return self.dropout(torch.cat(features, 1).transpose(1, 2).relu() * attended)


def _parts(widths: Sequence[int], filters: int) -> dict[str, slice]:
    """Where the answers of each width's filters stand in a state."""
    parts: dict[str, slice] = {}
    for number, width in enumerate(widths):
        earlier = list(widths[:number]).count(width)
        name = str(width) if not earlier else f"{width} ({earlier + 1})"
        parts[name] = slice(number * filters, (number + 1) * filters)
    return parts


def _between_zeros(around: Tensor, width: int) -> Tensor:
    """[batch size piece], with zeros at both ends, so that a filter of this width has one output a piece."""
    return nn.functional.pad(around, ((width - 1) // 2, width // 2))
