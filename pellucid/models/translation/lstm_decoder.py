"""The decoder of an LSTM translator: what was written so far, and attention that looks back at the source.

Luong et al. (2015), "Effective Approaches to Attention-based Neural Machine Translation", equations 5 and 8 ("general"). As in Wu et
al. (2016), "Google's Neural Machine Translation System", section 3, the first layer asks the source and the layers above it read the
answer: so a step knows what the steps before it asked for, and all steps of a text are computed together.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions


@dataclass(frozen=True)
class RecurrentStates:
    """What a search goes on from, in place of all that was read before. hidden, cell: for each layer [1 batch width]."""

    hidden: tuple[Tensor, ...]
    cell: tuple[Tensor, ...]

    def of_rows(self, rows: Tensor) -> "RecurrentStates":
        """Those of other rows of the batch, such as of the best beginnings of a search."""
        hidden, cell = (tuple(one.index_select(1, rows) for one in of) for of in (self.hidden, self.cell))
        return RecurrentStates(hidden, cell)


class LstmDecoder(nn.Module):
    """Pieces written so far and the encoder's states -> for every place the state that writes the next piece.

    embed_tokens: the table of word vectors, as wide as states. A place that is not attended writes as the one before it.
    """

    def __init__(self, embed_tokens: nn.Embedding, layers: int, dropout: float) -> None:
        super().__init__()
        width = embed_tokens.embedding_dim
        self.embed_tokens = embed_tokens
        self.layers = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers))
        self.beginning = nn.Linear(width, 2 * layers * width)
        self.attention = SourceAttention(width)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        input_ids: Tensor,
        encoder_hidden_states: Tensor,
        encoder_attention_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        past_key_values: RecurrentStates | None = None,
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """input_ids: [batch place], after what `past_key_values` has read. Masks: 1 where a piece may be read; None: everywhere."""
        source, there = encoder_hidden_states, encoder_attention_mask
        there = torch.ones_like(source[..., 0]) if there is None else there.to(source)
        begin = past_key_values or self._begin(source, there)
        places = None if attention_mask is None else _ReadPlaces.of(attention_mask)
        states, ends = self.dropout(self.embed_tokens(input_ids)), []
        weights = None
        for number, layer in enumerate(self.layers):
            read, end = self._read(layer, states, (begin.hidden[number], begin.cell[number]), places)
            ends.append(end)
            if weights is None:
                states, weights = self.attention(read, source, there)
            else:
                states = states + read
            states = self.dropout(states)
        hidden, cell = zip(*ends, strict=True)
        return BaseModelOutputWithPastAndCrossAttentions(
            states,
            RecurrentStates(hidden, cell),  # type: ignore[arg-type]  # the library's caches are of Transformers
            cross_attentions=(weights,),  # type: ignore[arg-type]  # there is a layer
        )

    def _begin(self, source: Tensor, there: Tensor) -> RecurrentStates:
        """The states before anything is written, from the mean of the source's."""
        mean = (source * there[..., None]).sum(1) / there.sum(1).clamp_min(1)[:, None]
        parts = self.beginning(mean).tanh()[None].chunk(2 * len(self.layers), -1)
        parts = tuple(part.contiguous() for part in parts)
        return RecurrentStates(parts[: len(self.layers)], parts[len(self.layers) :])

    def _read(
        self, layer: nn.Module, states: Tensor, begin: tuple[Tensor, Tensor], places: "_ReadPlaces | None"
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """[batch place width], and the hidden and cell states at the end."""
        close = states if places is None else places.close(states)
        # cuDNN has no backward outside training, where explanations are made.
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and self.training):
            read, end = layer(close, begin)
        return read if places is None else places.spread(read), end


@dataclass(frozen=True)
class _ReadPlaces:
    """order: [batch place], the places that are read, then the others. last: [batch place], which of the read ones is the last up
    to each place."""

    order: Tensor
    last: Tensor

    @classmethod
    def of(cls, attended: Tensor) -> "_ReadPlaces":
        """attended: [batch place], 1 where a piece is read; at least at the first place."""
        order = attended.long().argsort(dim=1, descending=True, stable=True)
        return cls(order, (attended.long().cumsum(1) - 1).clamp_min(0))

    def close(self, states: Tensor) -> Tensor:
        """The states without gaps; behind them stand those that are not read."""
        return states.gather(1, self.order[..., None].expand_as(states))

    def spread(self, states: Tensor) -> Tensor:
        """At each place the state after what was read up to it."""
        return states.gather(1, self.last[..., None].expand_as(states))


class SourceAttention(nn.Module):
    """States of the target look at all states of the source, and take in what they see."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)
        self.joined = nn.Linear(2 * width, width)

    def forward(self, states: Tensor, source: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """[batch place width], [batch source width], [batch source] -> the states that saw it, and weights [batch 1 place source]."""
        scores = states @ self.key(source).transpose(1, 2)
        scores = scores.masked_fill(there[:, None] == 0, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        seen = weights.to(source.dtype) @ source
        return self.joined(torch.cat([seen, states.to(seen.dtype)], -1)).tanh(), weights[:, None]
