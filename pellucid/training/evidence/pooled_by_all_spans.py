"""What a model whose answer uses its heaviest spans alone would pool from all of them, from the states that a step has read."""

from pellucid.core.passes.trace import SpanTrace
from pellucid.models.pooling.all_spans import all_spans_weigh
from pellucid.models.pooling.pooled import Pooled
from pellucid.training.objective import ObjectiveContext, StepPart


def pooled_by_all_spans(context: ObjectiveContext, part: StepPart) -> Pooled:
    """The pooled vectors and the weights of all legal spans, with a graph; the layer is used once more, nothing is read again."""
    states = part.output.states
    assert states is not None  # composed networks give them
    pooler = context.classifier.network.pooler
    pieces = context.classifier.place(context.rows(part.indices))["pieces"]
    with all_spans_weigh(pooler):
        pooled: Pooled = pooler(states.states, pieces)
    return pooled


def weights_of_all_spans(context: ObjectiveContext, part: StepPart) -> SpanTrace:
    """The weights of all legal spans, also where the answer uses the heaviest ones alone."""
    spans = part.output.spans
    if context.classifier.network.pooler.n_heaviest is not None:
        spans = pooled_by_all_spans(context, part).spans
    assert spans is not None  # the pooler was checked
    return spans
