"""How much of a span's vector comes from outside the span: how far it moves when the words outside are not read."""

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.models.span_analysis.span_states import SpanStates, span_states


def outside_share(model: Model, states: SpanStates, span: range, alone: Row) -> float:
    """||t - t'|| / ||t||, with t the span's vector in its text and t' that of its words read alone; 0 or more.

    states: of the text. span: numbers of its first to last part. alone: the text's row with the parts of the span and no others.
    0: the vector says nothing but the span's words. About 1.4: it has nothing to do with them, if both are equally long.
    """
    inside = _vector(states, span)
    own = _vector(span_states(model, alone), range(len(span)))
    return float((inside - own).norm() / inside.norm())


def _vector(states: SpanStates, span: range) -> Tensor:
    """[width]: the vector of one span."""
    first, last = torch.tensor([span.start]), torch.tensor([span.stop - 1])
    return states.vectors(first, last)[0].double().cpu()
