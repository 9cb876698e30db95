"""A self-explaining model's answers to its heaviest span read alone, and to random spans of the same length.

Of a model that answers by its k heaviest spans these are read together, without the rest of the text.
"""

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.seeds import generator_for
from pellucid.core.passes.target import class_logits, class_probabilities
from pellucid.core.results.heaviest_ranges import texts_with_spans
from pellucid.core.spans.range_alone import choices_alike, only
from pellucid.core.text.units import Spans


def read_alone(
    run: ForwardPass, units: Sequence[Spans], weights: Sequence[Tensor], draws: int
) -> list[dict[str, float]]:
    """For each example `alone_probability`, `alone_agrees` and `random_agrees`; see `span_attention`.

    units, weights: each example's spans, and their weights [span]. draws: the most random choices of spans to read. Words outside
    them are absent. A text without spans gets an empty dictionary; a text without other spans of those lengths gets no
    `random_agrees`.
    """
    variants = [
        _variants(run, example, units[example], weights[example], draws) for example in range(len(units))
    ]
    flat = [row for rows in variants for row in rows]
    logits = evaluate_rows(run.model, run.scheduler, flat).double() if flat else torch.empty(0, 1)
    problem = run.model.problem
    predictions = class_logits(run.logits.double().cpu(), problem).argmax(-1).tolist()
    return [
        _diagnostics(class_probabilities(of_spans, problem), predicted) if len(of_spans) else {}
        for of_spans, predicted in zip(
            logits.split([len(rows) for rows in variants]), predictions, strict=True
        )
    ]


def _variants(run: ForwardPass, example: int, spans: Spans, weights: Tensor, draws: int) -> list[Row]:
    """What the answer rests on alone, then the random spans."""
    if not len(spans):
        return []
    number_of = {part: number for number, part in enumerate(spans.parts.content)}
    ends = [
        (number_of[int(spans.first[one])], number_of[int(spans.last[one])]) for one in _used(run, weights)
    ]
    ranges = [range(first, last + 1) for first, last in ends]
    generator = generator_for(run.batch.rows[example], "read_alone", run.seed)
    choices = [ranges, *choices_alike(ranges, texts_with_spans(spans), draws, generator)]
    pieces = run.batch.pieces_of(example, spans.parts.kind)  # type: ignore[arg-type]
    return [only(run.batch, example, pieces, chain.from_iterable(one)) for one in choices]


def _used(run: ForwardPass, weights: Tensor) -> list[int]:
    """The heaviest span; of a model that answers by its k heaviest ones, all of these that have weight, the heaviest first."""
    trace = run.traces.without_graph.spans
    assert trace is not None  # the caller asks models that have the capability
    if trace.n_heaviest is None:
        return [int(weights.argmax())]
    used = int((weights > 0).sum())
    return weights.topk(min(trace.n_heaviest, max(used, 1))).indices.tolist()


def _diagnostics(probabilities: Tensor, predicted: int) -> dict[str, float]:
    """The entries of one example; probabilities: [choice class], that of the model first; predicted: its class."""
    agrees = (probabilities.argmax(-1) == predicted).double()
    alone = {"alone_probability": float(probabilities[0, predicted]), "alone_agrees": float(agrees[0])}
    return alone if len(agrees) == 1 else alone | {"random_agrees": float(agrees[1:].mean())}
