"""Transformer: every piece looks at all pieces, block by block; trained from word vectors on.

Vaswani et al. (2017), "Attention Is All You Need", section 3, with its positions (3.5) and its norms after the sums; Guan et
al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", train one of three blocks.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.base.checks import at_least, between
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.models.composed.word_vectors import (
    WIDTH,
    BlocksOnVectors,
    Encoded,
    Vectors,
    WordVectors,
    check_own_width,
)

LONGEST_WAVE = 10_000.0  # of the sines that say where a piece stands, divided by 2 pi


@encoders.add("transformer", learning_rate=3e-4, sees="text")
class TransformerEncoder(BlocksOnVectors):
    """Self-attention on word vectors: a piece's state has read the whole text, and attention weights are visible.

    A piece that is not attended is looked at by none, and the others keep their positions. Positions are sines and need no
    table, so no length is the last one. The word vectors are multiplied by the root of their width, as in section 3.4, so
    that they are as large as the sines.

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
            raise BadSetting(
                f"width={width} is not possible; give an even number that heads={heads} divides."
            )
        check_own_width(vectors, vector_width)
        own = width if vectors == "random" else WIDTH
        table = WordVectors(vocabulary, vectors, dropout, vector_width or own)
        blocks = (TransformerBlock(width, heads, feed_forward, dropout) for _ in range(layers))
        super().__init__(table, blocks, width)
        fits = table.width == width
        self.widened = nn.Identity() if fits else nn.Linear(table.width, width, bias=False)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None
    ) -> Encoded:
        """[batch piece] -> states [batch piece width]; position_ids: where each piece stands, None for one after the other."""
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
        # In a row without any piece all would be masked, and its softmax nan: there everything is looked at, and becomes 0.
        keys = attended | ~attended.any(1, keepdim=True)
        query, key, value = (self._by_head(part(states)) for part in (self.query, self.key, self.value))
        read = F.scaled_dot_product_attention(query, key, value, attn_mask=keys[:, None, None])
        return self.out(read.transpose(1, 2).flatten(2))

    def _by_head(self, states: Tensor) -> Tensor:
        """[batch piece width] -> [batch head piece width of a head]"""
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def waves(positions: Tensor, width: int) -> Tensor:
    """[batch piece] -> [batch piece width]: sines and cosines of each position, slower ones towards the end (section 3.5)."""
    pairs = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32)
    angles = positions[..., None] * torch.exp(pairs * (-math.log(LONGEST_WAVE) / width))
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)
