"""Encoders that are trained from word vectors, a function each."""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.base.checks import at_least, between, one_of, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.models.composed.lower_layers import BidirectionalLayer
from pellucid.models.composed.word_vectors import (
    WIDTH,
    BlocksOnVectors,
    Encoded,
    Vectors,
    WordVectors,
    check_own_width,
)

Retention = Literal["none", "concat", "residual"]


@encoders.add(
    "bilstm", learning_rate=1e-3, sees="text", later={"vector_width", "retention", "min_texts", "vector_scale"}
)
class BiLSTMEncoder(BlocksOnVectors):
    """A bidirectional LSTM on word vectors: a piece's state has read the text up to it from either side.

    Word vectors read once from the left and once from the right, block by block.

    Source: Graves & Schmidhuber (2005), "Framewise Phoneme Classification with Bidirectional LSTM"; Sun
    et al. (2020), "Self-Explaining Structures Improve NLP Models", section 3.1, name it as one of the
    encoders under a span layer. What states retain of the word vectors is Tutek & Šnajder (2020),
    "Staying True to Your Word", section 3.1.

    A piece that is not attended is passed over, as if it were not there.

    The two halves of a state are its parts "forward", which has read the text up to the piece, and "backward", from it
    on.

    vectors: "minilm" begins with MiniLM's word vectors, "random" with small random ones; or the path of a text file of
    word vectors, as GloVe and fastText have them, whose words are then whole words in lower case. All are trained.
    width: numbers of a state of the LSTM, an even number; half of them from each direction.
    layers: blocks, each on the states of the one before.
    dropout: share of the numbers of word vectors and states that training hides, 0 to 0.9.
    vector_width: numbers of a random word vector; None for 384, as MiniLM's have, or for those of the file.
    retention: what the last states keep of the word vectors e: "none"; "concat", [rnn(e); e]; "residual", e + rnn(e),
    for which the word vectors have as many numbers as the states. The states of layers are the LSTM's own.
    min_texts: of a vector file, in how many train texts a word must occur, or else it is unknown.
    vector_scale: how many times as large the word vectors are in the beginning as in their source, above 0. 8.8 gives
    MiniLM's the root mean square of GloVe's numbers, .49.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        vectors: Vectors = "minilm",
        width: int = 384,
        layers: int = 1,
        dropout: float = 0.3,
        vector_width: int | None = None,
        retention: Retention = "none",
        min_texts: int = 2,
        vector_scale: float = 1.0,
    ) -> None:
        at_least("width", width, 2)
        at_least("layers", layers, 1)
        at_least("min_texts", min_texts, 1)
        between("vector_scale", vector_scale, 0.001, 1000)
        one_of("retention", retention, get_args(Retention))
        between("dropout", dropout, 0, 0.9)
        if width % 2:
            raise BadSetting(f"width={width} is odd; each direction has half of it, so give an even number.")
        check_own_width(vectors, vector_width)
        table = WordVectors(vocabulary, vectors, dropout, vector_width or WIDTH)
        if retention == "residual" and table.width != width:
            raise BadSetting(
                f"retention='residual' adds word vectors of {table.width} numbers to states of {width}; give "
                f"width={table.width}, or retention='concat'."
            )
        sizes = [table.width, *[width] * (layers - 1)]
        blocks = (BidirectionalLayer(size, width // 2, dropout) for size in sizes)
        super().__init__(table, blocks, width + table.width if retention == "concat" else width)
        self.retention = retention

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None) -> Encoded:
        """[batch piece] -> states [batch piece width]; position_ids are not read."""
        vectors, attended = self.vectors(input_ids), attention_mask.bool()
        states = vectors
        for block in self.blocks:
            states = block(states, attended)
        if self.retention == "none":
            return Encoded(states)
        retained = vectors * attended[..., None]
        return Encoded(torch.cat([states, retained], -1) if self.retention == "concat" else states + retained)


@encoders.add("cnn", learning_rate=1e-3, sees="neighbours", later={"vector_width"})
class CNNEncoder(BlocksOnVectors):
    """Filters of several widths around each piece: a state knows its neighbours and nothing farther away.

    Filters over a few neighbouring words, block by block.

    Source: Kim (2014), "Convolutional Neural Networks for Sentence Classification", equation 2; Sun et
    al. (2020), "Self-Explaining Structures Improve NLP Models", section 3.1, name it as one of the
    encoders under a span layer. Kim pools at once; here each piece keeps its own state, so that any
    pooler can follow (`maximum` is Kim's).

    Neighbours are those that stand beside each other in the row; a piece that is not attended is a gap: zeros in its
    place.

    The answers of the filters of one width are a part of a state, with the width as its name: "3", "4", "5". (Where a
    width is named twice, the second part is "3 (2)".)

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
        raise BadSetting(f"widths={quoted(widths)} is not possible; give a list of whole numbers, such as [3, 4, 5].")


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
    for index, width in enumerate(widths):
        earlier = list(widths[:index]).count(width)
        name = str(width) if not earlier else f"{width} ({earlier + 1})"
        parts[name] = slice(index * filters, (index + 1) * filters)
    return parts


def _between_zeros(around: Tensor, width: int) -> Tensor:
    """[batch size piece], with zeros at both ends, so that a filter of this width has one output a piece."""
    return nn.functional.pad(around, ((width - 1) // 2, width // 2))


LONGEST_WAVE = 10_000.0  # of the sines that say where a piece stands, divided by 2 pi


@encoders.add("transformer", learning_rate=3e-4, sees="text")
class TransformerEncoder(BlocksOnVectors):
    """Self-attention on word vectors: a piece's state has read the whole text, and attention weights are visible.

    Every piece looks at all pieces, block by block; trained from word vectors on.

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3, with its positions (3.5) and
    its norms after the sums; Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep
    Neural Models in NLP", train one of three blocks.

    A piece that is not attended is looked at by none, and the others keep their positions. Positions are sines and need
    no table, so no length is the last one. The word vectors are multiplied by the root of their width, as in section
    3.4, so that they are as large as the sines.

    vectors: "random" begins with small random word vectors, "minilm" with MiniLM's; both are trained.
    vector_width: numbers of a random word vector; None for the width of a state. MiniLM's have 384. Word vectors of
        another width than the states go through a linear map.
    width: numbers of a state, a multiple of heads.
    heads: how many ways of looking each block has.
    feed_forward: numbers of the layer inside each block.
    layers: blocks, each on the states of the one before.
    dropout: share of the numbers of word vectors and of what each block adds that training hides, 0 to 0.9.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        vectors: Vectors = "random",
        vector_width: int | None = None,
        width: int = 256,
        heads: int = 4,
        feed_forward: int = 1024,
        layers: int = 3,
        dropout: float = 0.1,
    ) -> None:
        for name, value in {
            "width": width,
            "heads": heads,
            "feed_forward": feed_forward,
            "layers": layers,
        }.items():
            at_least(name, value, 1)
        between("dropout", dropout, 0, 0.9)
        if width % heads or width % 2:
            raise BadSetting(f"width={width} is not possible; give an even number that heads={heads} divides.")
        check_own_width(vectors, vector_width)
        own_width = width if vectors == "random" else WIDTH
        table = WordVectors(vocabulary, vectors, dropout, vector_width or own_width)
        blocks = (TransformerBlock(width, heads, feed_forward, dropout) for _ in range(layers))
        super().__init__(table, blocks, width)
        fits = table.width == width
        self.widened = nn.Identity() if fits else nn.Linear(table.width, width, bias=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None) -> Encoded:
        """[batch piece] -> states [batch piece width]; position_ids: where each piece stands, None for one after the
        other.
        """
        attended = attention_mask.bool()
        states = self.widened(self.vectors(input_ids) * math.sqrt(self.vectors.width))
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=states.device).expand_as(input_ids)
        states = states + waves(position_ids, self.width).to(states.dtype)
        for block in self.blocks:
            states = block(states, attended)
        return Encoded(states)


class TransformerBlock(nn.Module):
    """Self-attention and a feed-forward layer; each is added to what it read, and the sum is normed."""

    def __init__(self, width: int, heads: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.after_attention, self.after_feed_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, attended: Tensor) -> Tensor:
        """[batch piece width] -> [batch piece width], 0 where nothing is attended."""
        states = self.after_attention(states + self.dropout(self._looked_at(states, attended)))
        added = self.outer(F.relu(self.inner(states)))
        return self.after_feed_forward(states + self.dropout(added)) * attended[..., None]

    def _looked_at(self, states: Tensor, attended: Tensor) -> Tensor:
        # In a row without any piece all would be masked, and its softmax nan: there everything is looked at, and
        # becomes 0.
        keys = attended | ~attended.any(1, keepdim=True)
        query, key, value = (self._by_head(part(states)) for part in (self.query, self.key, self.value))
        read = F.scaled_dot_product_attention(query, key, value, attn_mask=keys[:, None, None])
        return self.out(read.transpose(1, 2).flatten(2))

    def _by_head(self, states: Tensor) -> Tensor:
        """[batch piece width] -> [batch head piece width of a head]"""
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def waves(positions: Tensor, width: int) -> Tensor:
    """[batch piece] -> [batch piece width]: sines and cosines of each position, slower ones towards the end (section
    3.5).
    """
    pairs = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32)
    angles = positions[..., None] * torch.exp(pairs * (-math.log(LONGEST_WAVE) / width))
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)
