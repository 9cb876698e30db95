"""A self-explaining model's own weights on one pass, span by span."""

import numpy as np
import torch
from torch import Tensor

from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.text.units import Spans, coarsen


def span_weights(run: ForwardPass) -> tuple[tuple[Spans, ...], tuple[Tensor, ...]]:
    """For each example the spans that the model itself scored, and their weights [span]; no special tokens."""
    pairs = [_of_example(run, example) for example in range(len(run.batch))]
    return tuple(spans for spans, _ in pairs), tuple(weights for _, weights in pairs)


def _of_example(run: ForwardPass, example: int) -> tuple[Spans, Tensor]:
    trace, batch = run.traces.without_graph.spans, run.batch
    assert trace is not None  # the caller asks models that have the capability
    parts, _ = coarsen(batch.units[example], trace.unit, batch.examples[example].segments)  # type: ignore[arg-type]
    scores = trace.scores[example]
    first, last = (scores != -torch.inf).nonzero(as_tuple=True)  # nan stays, to be refused
    content = np.array(parts.content, dtype=np.int64)
    spans = Spans(parts, content[first.cpu().numpy()], content[last.cpu().numpy()])
    return spans, (scores[first, last] - trace.log_normaliser[example]).exp()
