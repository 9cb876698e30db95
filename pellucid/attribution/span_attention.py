"""Span attention: a self-explaining model's own weights, one for every span of its text.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
"""

import numpy as np
import torch
from torch import Tensor

from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget
from pellucid.core.trace import SpanTrace
from pellucid.core.units import Spans, coarsen

BROAD = 0.5


@attributions.add(needs={"span_weights"}, cost="1 forward", signed=False, units="span")
def span_attention(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """The weight alpha of every span; the weights of a text are >= 0 and sum to 1.

    Not tied to a class: they say what the model read, not for or against what. A span's vector is built from
    states that have seen the whole text, so a short span can carry more than its words. Diagnostic
    `effective_spans`: 1 / sum of alpha squared, the number of spans the weight is spread over.
    """
    trace = run.quick.spans
    assert trace is not None  # the capability was checked
    weighed = [_weighed(run, trace, example) for example in range(len(run.batch))]
    units = tuple(spans for spans, _ in weighed)
    effective = (1 / trace.concentration).tolist()
    return Scores(
        tuple(weights for _, weights in weighed),
        units=units,
        diagnostics=tuple({"effective_spans": value} for value in effective),
        caveats=tuple(_caveats(value, len(spans)) for value, spans in zip(effective, units, strict=True)),
    )


def _weighed(run: ForwardPass, trace: SpanTrace, example: int) -> tuple[Spans, Tensor]:
    """The spans that the model itself scored, and the weight of each [span]; it does not count special tokens."""
    batch = run.batch
    parts, _ = coarsen(batch.units[example], trace.unit, batch.examples[example].segments)  # type: ignore[arg-type]
    scores = trace.scores[example]
    first, last = (scores != -torch.inf).nonzero(as_tuple=True)  # nan stays, to be refused
    content = np.array(parts.content, dtype=np.int64)
    spans = Spans(parts, content[first.cpu().numpy()], content[last.cpu().numpy()])
    return spans, (scores[first, last] - trace.log_normaliser[example]).exp()


def _caveats(effective: float, spans: int) -> tuple[str, ...]:
    if spans < 3 or effective < BROAD * spans:
        return ()
    return (f"The weight is spread over {effective:.0f} of {spans} spans: no single span decided this text.",)
