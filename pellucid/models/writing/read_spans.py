"""What a translator that explains itself read before each piece that it writes, by the pieces of the row."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pellucid.core.passes.trace import WrittenSpans
from pellucid.models.translation.explained_decoder import source_spans_of
from pellucid.models.translation.source_spans import SpanReading
from pellucid.models.writing.head_places import at_places


@dataclass(frozen=True)
class WrittenChoice:
    """What a model gives each written piece. logits: [row piece id]. ids: [row piece], -1 in padding. places: [row piece], the
    step that writes it."""

    logits: Tensor
    ids: Tensor
    places: Tensor

    @property
    def compared(self) -> Tensor:
        """[row piece 2]: each written piece and the likeliest other one."""
        own = self.ids.clamp_min(0)
        first, second = self.logits.topk(2).indices.unbind(-1)
        return torch.stack([own, torch.where(first == own, second, first)], -1)


@torch.no_grad()
def written_spans(
    network: Any,  # an encoder–decoder of some family
    reading: SpanReading,
    pieces: Tensor,
    choice: WrittenChoice,
) -> WrittenSpans:
    """pieces: [row source place], the number of the piece in its row, -1 where there is none."""
    weights = at_places(reading.weights, choice.places)
    there = weights.amax(1) > 0
    first, last = (
        torch.where(there, pieces[:, ends], torch.full_like(pieces[:, ends], -1))
        for ends in (reading.places.first, reading.places.last)
    )
    compared = choice.compared
    through = _through_spans(network, at_places(reading.pooled, choice.places), compared)
    own, rival = choice.logits.gather(-1, compared).unbind(-1)
    lead = own - rival
    return WrittenSpans(first, last, weights, torch.where(lead > 0, through / lead, torch.nan))


def _through_spans(network: Any, pooled: Tensor, compared: Tensor) -> Tensor:  # Any: see above
    """[row piece]: by how much the spans' part of the state puts the first of two pieces above the other.

    The head over the vocabulary is linear, so its parts add up.
    """
    layer = source_spans_of(network)
    assert layer is not None  # it gave the reading
    part = layer.span_part(pooled.to(layer.span_part.weight.dtype))
    own, rival = network.get_output_embeddings().weight[compared].unbind(-2)
    return ((own - rival) * part).sum(-1)
