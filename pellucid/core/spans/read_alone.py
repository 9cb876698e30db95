"""What a self-explaining model says of its heaviest span alone, and of random spans of the same length."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.seeds import generator_for
from pellucid.core.passes.target import class_logits, class_probabilities
from pellucid.core.results.heaviest_ranges import texts_of
from pellucid.core.spans.range_alone import only, others_alike
from pellucid.core.text.units import Spans


def read_alone(
    run: ForwardPass, units: Sequence[Spans], weights: Sequence[Tensor], draws: int
) -> list[dict[str, float]]:
    """For each example `alone_probability`, `alone_agrees` and `random_agrees`; see `span_attention`.

    units, weights: each example's spans and their weights. draws: the most random spans to read. The words outside a
    span are absent. A text without spans has no entry, and one without another span of that length no `random_agrees`.
    """
    variants = [
        _variants(run, example, units[example], weights[example], draws) for example in range(len(units))
    ]
    flat = [row for rows in variants for row in rows]
    logits = evaluate_rows(run.model, run.scheduler, flat).double() if flat else torch.empty(0, 1)
    answers = logits.split([len(rows) for rows in variants])
    problem = run.model.problem
    said = class_logits(run.logits.double().cpu(), problem).argmax(-1).tolist()
    return [
        _told(class_probabilities(found, problem), predicted) if len(found) else {}
        for found, predicted in zip(answers, said, strict=True)
    ]


def _variants(run: ForwardPass, example: int, spans: Spans, weights: Tensor, draws: int) -> list[Row]:
    """The heaviest span alone, then the random ones."""
    if not len(spans):
        return []
    place = {part: number for number, part in enumerate(spans.parts.content)}
    best = int(weights.argmax())
    heaviest = range(place[int(spans.first[best])], place[int(spans.last[best])] + 1)
    generator = generator_for(run.batch.rows[example], "read_alone", run.seed)
    stretches = [heaviest, *others_alike(heaviest, texts_of(spans.parts), draws, generator)]
    pieces = run.batch.pieces_of(example, spans.parts.kind)  # type: ignore[arg-type]
    return [only(run.batch, example, pieces, stretch) for stretch in stretches]


def _told(probabilities: Tensor, predicted: int) -> dict[str, float]:
    """probabilities: [span class], the heaviest first."""
    agrees = (probabilities.argmax(-1) == predicted).double()
    told = {"alone_probability": float(probabilities[0, predicted]), "alone_agrees": float(agrees[0])}
    return told if len(agrees) == 1 else told | {"random_agrees": float(agrees[1:].mean())}
