"""Span attention: a self-explaining model's own weights, one for every span of its text."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least, percent
from pellucid.base.kinds import attributions, diagnostics
from pellucid.results.heaviest_spans import HeaviestSpans, heaviest_span
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.read_alone import read_alone, span_weights
from pellucid.run.target import Explainable
from pellucid.run.trace import WrittenSpans
from pellucid.run.word import ResolvedWords
from pellucid.text.units import Spans, Units

BROAD = 0.5


@attributions.add(
    needs={"span_weights"},
    cost="1 run of the model, and 1 for each span that is read alone",
    signed=False,
    of_class=False,
    units="span",
)
def span_attention(run: ForwardPass, target: Explainable, *, random_spans: int = 5) -> Scores:
    """The weight alpha of every span; the weights of a text are >= 0 and sum to 1.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.

    Not tied to a class: they show what the model read, not for or against what. A span's vector is built from states
    that have seen the whole text, so a short span can carry more than its words. To see whether it does, the model
    reads the heaviest span alone, and other spans of its length; of a model that answers by its k heaviest spans these
    together, and k other spans of their lengths. random_spans: the most others to read; 0 reads none, nor the heaviest
    alone.

    Diagnostics: `effective_spans`, 1 / sum of alpha squared, and `entropy_spans`, exp(entropy), two counts of the
    spans that the weight is spread over; `alone_probability` of the predicted class for what is read alone,
    `alone_agrees`, 1 if it is predicted then too, and `random_agrees`, the share of random spans where it is;
    `mean_layer`, where spans are built from a learnt mean over layers. For words that a translator writes:
    `spans_of_words`.
    """
    at_least("random_spans", random_spans, 0)
    if isinstance(target, ResolvedWords):
        return spans_of_words(run, target)
    trace = run.traces.without_graph.spans
    assert trace is not None  # the capability was checked
    units, weights = span_weights(run)
    effective = (1 / trace.concentration).tolist()
    alone = read_alone(run, units, weights, random_spans) if random_spans else [{} for _ in units]
    counts = zip(effective, trace.entropy.exp().tolist(), strict=True)
    layers = {} if trace.layer_weights is None else {"mean_layer": _mean_layer(trace.layer_weights)}
    heaviest = [
        heaviest_span(example.segments, spans, weight.cpu().numpy(), {})
        for example, spans, weight in zip(run.batch.examples, units, weights, strict=True)
    ]
    return Scores(
        weights,
        units=units,
        diagnostics=tuple(
            {"effective_spans": squared, "entropy_spans": spread, **of_alone, **layers}
            for (squared, spread), of_alone in zip(counts, alone, strict=True)
        ),
        caveats=tuple(
            _caveats(*of_text, trace.n_heaviest)
            for of_text in zip(effective, map(len, units), alone, heaviest, strict=True)
        ),
    )


@diagnostics.add(
    worst="highest", brief=lambda count: f"spread over {count:.0f} spans" if count >= 1.5 else "on one span"
)
def effective_spans(count: float) -> str:
    """1 / sum of alpha squared: how many spans share the weight.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    if count >= 1.5:
        return f"The weight is spread over about {count:.0f} spans of text."
    return "The weight lies on little more than one span of text."


@diagnostics.add(worst="highest")
def entropy_spans(count: float) -> str:
    """exp(entropy of alpha): how many spans share the weight, light ones counted more than by `effective_spans`.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    return ""


@diagnostics.add(worst="lowest")
def alone_probability(probability: float) -> str:
    """The predicted class's probability when the model reads the heaviest span alone, or the spans that it answers by.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    return ""


@diagnostics.add(worst="lowest", brief=lambda agrees: f"{'same' if agrees else 'another'} answer if read alone")
def alone_agrees(agrees: float) -> str:
    """1 where the model predicts the same class from the heaviest span alone, or from the spans that it answers by;
    else 0.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    return f"Read alone, the heaviest words get {'the same' if agrees else 'another'} answer."


@diagnostics.add(worst="highest")
def random_agrees(share: float) -> str:
    """The share of random spans, as long as those, from which the model predicts the same class.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    return f"Random spans as long get the answer {percent(share)} of the time."


@diagnostics.add(worst="highest")
def mean_layer(layer: float) -> str:
    """From which layer the spans are built in the mean, 0 for what the first block reads; higher layers have read more
    context.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 3 and 4.
    """
    return ""


def _mean_layer(weights: Tensor) -> float:
    return float((torch.arange(len(weights), device=weights.device) * weights).sum())


def is_spread_out(effective: float, spans: int) -> bool:
    """Whether the weight lies on so many of the spans that none decided."""
    return spans >= 3 and effective >= BROAD * spans


def _caveats(
    effective: float,
    spans: int,
    alone: dict[str, float],
    heaviest: HeaviestSpans,
    n_heaviest: int | None,
) -> tuple[str, ...]:
    caveats = []
    if is_spread_out(effective, spans):
        caveats.append(f"The weight is spread over {effective:.0f} of {spans} spans: no single span decided this text.")
    if heaviest.without_content:
        caveats.append("The heaviest span is punctuation or function words alone: it names no reason.")
    if alone.get("alone_agrees") == 0:
        caveats.append(
            "Read alone, the heaviest span gets another answer: its vector carries more of the text than its own words."
            if n_heaviest in (None, 1)
            else f"Read alone, the spans that the answer uses, {n_heaviest} at most, get another answer: their vectors "
            f"carry more of the text than their own words."
        )
    return tuple(caveats)


# Span attention of a translator: for each word that it writes, the weights of the spans of its source.

LITTLE = 0.25  # of a word's lead: less went through the spans than they can explain


def spans_of_words(run: ForwardPass, target: ResolvedWords) -> Scores:
    """The weight alpha of every source span, the mean over the pieces of each example's explained words.

    Sun et al. (2020), equation 4, asked anew at every step (corrections.md A0.16). Weights are >= 0 and sum to 1; of
    words that are not there they are 0. Of a word against another one they are those of the first piece in which the
    two differ.
    """
    written = run.traces.without_graph.written
    assert written is not None and written.spans is not None  # the capability was checked
    of_examples = [_of_example(run, written.spans, target, index) for index in range(len(run.batch))]
    return Scores(
        tuple(weights for _, weights, _ in of_examples),
        units=tuple(units for units, _, _ in of_examples),
        diagnostics=tuple(numbers for _, _, numbers in of_examples),
        caveats=tuple(_word_caveats(numbers) for _, _, numbers in of_examples),
    )


def _of_example(
    run: ForwardPass, spans: WrittenSpans, target: ResolvedWords, example: int
) -> tuple[Spans, Tensor, dict[str, float]]:
    there = (spans.first[example] >= 0).nonzero()[:, 0]
    first, last = (ends[example, there].cpu().numpy().astype(np.int64) for ends in (spans.first, spans.last))
    parts = run.batch.units[example]
    assert isinstance(parts, Units)  # a pass works on pieces
    parts = parts.take(range(1 + max(i for i, segment in enumerate(parts.segment) if segment == 0)))
    rival = target.rival_of(run.batch.rows[example])
    pieces = [piece for word in target.words[example] for piece in word.pieces]
    pieces = pieces if rival is None or not pieces else [rival[1]]
    weights = spans.weights[example, pieces][:, there].float()
    mean = weights.mean(0) if pieces else torch.zeros(len(there))
    numbers: dict[str, float] = {}
    if pieces and float(mean.sum()):
        numbers = {"effective_spans": float(1 / mean.square().sum())}
        numbers |= _carried(run, spans, example, pieces, None if rival is None else rival[2])
    return Spans(parts, first, last), mean.cpu(), numbers


def _carried(
    run: ForwardPass, spans: WrittenSpans, example: int, pieces: Sequence[int], rival_id: int | None
) -> dict[str, float]:
    """The share of what the pieces lead by, all together, that went through the spans; nothing where one of them does
    not lead.

    rival_id: the id that a single piece is compared with; None: each with the likeliest other one.
    """
    written = run.traces.without_graph.written
    assert written is not None  # it has the spans
    logits, written_ids = written.logits[example, pieces].float(), written.ids[example, pieces]
    others = _likeliest_others(logits, written_ids) if rival_id is None else torch.full_like(written_ids, rival_id)
    leads = (logits.gather(-1, written_ids[:, None]) - logits.gather(-1, others[:, None]))[:, 0]
    if float(leads.min()) <= 0:
        return {}  # a word without a lead has none to share
    share = float(spans.through(example, pieces, written_ids, others).sum() / leads.sum())
    return {"carried" if rival_id is None else "carried_against": share}


def _likeliest_others(logits: Tensor, written_ids: Tensor) -> Tensor:
    first, second = logits.topk(2).indices.unbind(-1)
    return torch.where(first == written_ids, second, first)


@diagnostics.add(worst="lowest", brief=lambda share: f"{percent(share)} through the spans")
def carried(share: float) -> str:
    """The share of a word's lead over the likeliest other one, over all its pieces, that went through the source
    spans.
    """
    return f"{percent(share)} of the word's lead over the next likeliest went through the spans of the source."


@diagnostics.add(worst="lowest", brief=lambda share: f"{percent(share)} of the lead through the spans")
def carried_against(share: float) -> str:
    """The share of a word's lead over the word that it is explained against, at their first different pieces, through
    the source spans.
    """
    return f"{percent(share)} of the word's lead over the other word went through the spans of the source."


def _word_caveats(numbers: dict[str, float]) -> tuple[str, ...]:
    share = numbers.get("carried", numbers.get("carried_against", 1.0))
    if share >= LITTLE:
        return ()
    return (
        f"Only {percent(max(0.0, share))} of the word's lead went through the spans: the decoder knew it by "
        "itself, from the source by its other layers or from the words before.",
    )
