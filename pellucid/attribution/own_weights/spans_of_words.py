"""Span attention of a translator: for each word that it writes, the weights of the spans of its source."""

from collections.abc import Sequence
from math import isnan

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.kinds import diagnostics
from pellucid.core.foundation.readable_numbers import percent
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.trace import WrittenSpans
from pellucid.core.text.units import Spans, Units
from pellucid.core.writing.word import ResolvedWords

LITTLE = 0.25  # of a word's lead: less went through the spans than they can explain


def spans_of_words(run: ForwardPass, target: ResolvedWords) -> Scores:
    """The weight alpha of every source span, the mean over the pieces of each example's explained words.

    Sun et al. (2020), equation 4, asked anew at every step (corrections.md A0.16). Weights are >= 0 and sum to 1; of words that are
    not there they are 0.
    """
    written = run.traces.without_graph.written
    assert written is not None and written.spans is not None  # the capability was checked
    of_examples = [_of_example(run, written.spans, target, number) for number in range(len(run.batch))]
    return Scores(
        tuple(weights for _, weights, _ in of_examples),
        units=tuple(units for units, _, _ in of_examples),
        diagnostics=tuple(numbers for _, _, numbers in of_examples),
        caveats=tuple(_caveats(numbers) for _, _, numbers in of_examples),
    )


def _of_example(
    run: ForwardPass, spans: WrittenSpans, target: ResolvedWords, number: int
) -> tuple[Spans, Tensor, dict[str, float]]:
    there = (spans.first[number] >= 0).nonzero()[:, 0]
    first, last = (ends[number, there].cpu().numpy().astype(np.int64) for ends in (spans.first, spans.last))
    parts = run.batch.units[number]
    assert isinstance(parts, Units)  # a pass works on pieces
    parts = parts.take(range(1 + max(i for i, segment in enumerate(parts.segment) if segment == 0)))
    pieces = [piece for word in target.words[number] for piece in word.pieces]
    weights = spans.weights[number, pieces][:, there].float()
    mean = weights.mean(0) if pieces else torch.zeros(len(there))
    return Spans(parts, first, last), mean.cpu(), _numbers(mean, spans.carried[number], pieces)


def _numbers(mean: Tensor, carried: Tensor, pieces: Sequence[int]) -> dict[str, float]:
    """`effective_spans`, and `carried` of the word's first piece, which decides on the word."""
    if not pieces or not float(mean.sum()):
        return {}
    numbers = {"effective_spans": float(1 / mean.square().sum())}
    share = float(carried[pieces[0]])
    return (
        numbers if isnan(share) else numbers | {"carried": share}
    )  # a word without a lead has none to share


@diagnostics.add(worst="lowest", brief=lambda share: f"{percent(share)} through the spans")
def carried(share: float) -> str:
    """The share of a word's lead over the likeliest other one, at its first piece, that went through the source spans."""
    return (
        f"{percent(share)} of the word's lead over the next likeliest went through the spans of the source."
    )


def _caveats(numbers: dict[str, float]) -> tuple[str, ...]:
    if numbers.get("carried", 1.0) >= LITTLE:
        return ()
    return (
        f"Only {percent(max(0.0, numbers['carried']))} of the word's lead went through the spans: the decoder knew it by "
        "itself, from the source by its other layers or from the words before.",
    )
