"""Span attention of a translator: for each word that it writes, the weights of the spans of its source."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.kinds import diagnostics
from pellucid.core.foundation.wording import percent
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.trace import WrittenSpans
from pellucid.core.text.units import Spans, Units
from pellucid.core.writing.word import ResolvedWords

LITTLE = 0.25  # of a word's lead: less went through the spans than they can explain


def spans_of_words(run: ForwardPass, target: ResolvedWords) -> Scores:
    """The weight alpha of every source span, the mean over the pieces of each example's explained words.

    Sun et al. (2020), equation 4, asked anew at every step (corrections.md A0.16). Weights are >= 0 and sum to 1; of words that are
    not there they are 0. Of a word against another one they are those of the first piece in which the two differ.
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
    rival = target.rival_of(run.batch.rows[number])
    pieces = [piece for word in target.words[number] for piece in word.pieces]
    pieces = pieces if rival is None or not pieces else [rival[1]]
    weights = spans.weights[number, pieces][:, there].float()
    mean = weights.mean(0) if pieces else torch.zeros(len(there))
    numbers: dict[str, float] = {}
    if pieces and float(mean.sum()):
        numbers = {"effective_spans": float(1 / mean.square().sum())}
        numbers |= _carried(run, spans, number, pieces, None if rival is None else rival[2])
    return Spans(parts, first, last), mean.cpu(), numbers


def _carried(
    run: ForwardPass, spans: WrittenSpans, number: int, pieces: Sequence[int], other: int | None
) -> dict[str, float]:
    """The share of what the pieces lead by, all together, that went through the spans; nothing where one of them does not lead.

    other: the id that a single piece is compared with; None: each with the likeliest other one.
    """
    written = run.traces.without_graph.written
    assert written is not None  # it has the spans
    logits, own = written.logits[number, pieces].float(), written.ids[number, pieces]
    others = _likeliest_others(logits, own) if other is None else torch.full_like(own, other)
    leads = (logits.gather(-1, own[:, None]) - logits.gather(-1, others[:, None]))[:, 0]
    if float(leads.min()) <= 0:
        return {}  # a word without a lead has none to share
    share = float(spans.through(number, pieces, own, others).sum() / leads.sum())
    return {"carried" if other is None else "carried_against": share}


def _likeliest_others(logits: Tensor, own: Tensor) -> Tensor:
    first, second = logits.topk(2).indices.unbind(-1)
    return torch.where(first == own, second, first)


@diagnostics.add(worst="lowest", brief=lambda share: f"{percent(share)} through the spans")
def carried(share: float) -> str:
    """The share of a word's lead over the likeliest other one, over all its pieces, that went through the source spans."""
    return (
        f"{percent(share)} of the word's lead over the next likeliest went through the spans of the source."
    )


@diagnostics.add(worst="lowest", brief=lambda share: f"{percent(share)} of the lead through the spans")
def carried_against(share: float) -> str:
    """The share of a word's lead over the word that it is explained against, at their first different pieces, through the source spans."""
    return f"{percent(share)} of the word's lead over the other word went through the spans of the source."


def _caveats(numbers: dict[str, float]) -> tuple[str, ...]:
    share = numbers.get("carried", numbers.get("carried_against", 1.0))
    if share >= LITTLE:
        return ()
    return (
        f"Only {percent(max(0.0, share))} of the word's lead went through the spans: the decoder knew it by "
        "itself, from the source by its other layers or from the words before.",
    )
