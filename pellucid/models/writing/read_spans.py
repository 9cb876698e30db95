"""What a translator that explains itself read before each piece that it writes, by the pieces of the row."""

from typing import Any

import torch
from torch import Tensor

from pellucid.core.passes.trace import WrittenSpans
from pellucid.models.translation.explained_decoder import source_spans_of
from pellucid.models.translation.source_spans import SpanReading
from pellucid.models.writing.head_places import at_places


@torch.no_grad()
def written_spans(
    network: Any,  # an encoder–decoder of some family
    reading: SpanReading,
    pieces: Tensor,
    places: Tensor,
) -> WrittenSpans:
    """pieces: [row source place], the number of the piece in its row, -1 where there is none. places: [row piece], the step that
    writes each piece."""
    weights = at_places(reading.weights, places)
    there = weights.amax(1) > 0
    first, last = (
        torch.where(there, pieces[:, ends], torch.full_like(pieces[:, ends], -1))
        for ends in (reading.places.first, reading.places.last)
    )
    layer = source_spans_of(network)
    assert layer is not None  # it gave the reading
    part = layer.span_part(at_places(reading.pooled, places).to(layer.span_part.weight.dtype))
    return WrittenSpans(first, last, weights, part, network.get_output_embeddings().weight.detach())
