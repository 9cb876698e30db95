"""A self-explaining model's answers to its heaviest span read alone, and to random spans of the same length.

Of a model that answers by its k heaviest spans these are read together, without the rest of the text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from pellucid.base.errors import ModelCannot
from pellucid.results.heaviest_spans import texts_with_spans
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_logits, class_probabilities
from pellucid.text.passages import fixed_parts_of
from pellucid.text.units import SPECIAL, Spans, coarsen


def read_alone(
    run: ForwardPass, units: Sequence[Spans], weights: Sequence[Tensor], draws: int
) -> list[dict[str, float]]:
    """For each example `alone_probability`, `alone_agrees` and `random_agrees`; see `span_attention`.

    units, weights: each example's spans, and their weights [span]. draws: the most random choices of spans to read.
    Words outside them are absent. A text without spans gets an empty dictionary; a text without other spans of those
    lengths gets no `random_agrees`.
    """
    variants = [_variants(run, example, units[example], weights[example], draws) for example in range(len(units))]
    flat = [row for rows in variants for row in rows]
    logits = evaluate_rows(run.model, run.scheduler, flat).double() if flat else torch.empty(0, 1)
    problem = run.model.problem
    predictions = class_logits(run.logits.double().cpu(), problem).argmax(-1).tolist()
    return [
        _diagnostics(class_probabilities(of_spans, problem), predicted) if len(of_spans) else {}
        for of_spans, predicted in zip(logits.split([len(rows) for rows in variants]), predictions, strict=True)
    ]


def _variants(run: ForwardPass, example: int, spans: Spans, weights: Tensor, draws: int) -> list[Row]:
    """What the answer rests on alone, then the random spans."""
    if not len(spans):
        return []
    number_of = {part: index for index, part in enumerate(spans.parts.content)}
    ends = [(number_of[int(spans.first[span])], number_of[int(spans.last[span])]) for span in _used(run, weights)]
    ranges = [range(first, last + 1) for first, last in ends]
    generator = generator_for(run.batch.rows[example], "read_alone", run.seed)
    choices = [ranges, *choices_alike(ranges, texts_with_spans(spans), draws, generator)]
    pieces = run.batch.pieces_of(example, spans.parts.kind)  # type: ignore[arg-type]
    return [only(run.batch, example, pieces, chain.from_iterable(choice)) for choice in choices]


def _used(run: ForwardPass, weights: Tensor) -> list[int]:
    """The heaviest span; of a model that answers by its k heaviest ones, all of these that have weight, the heaviest
    first.
    """
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


# A range of a text read alone, the text without it, and random ranges of the same length to compare it with.
#
# A range is one of numbers of content units. pieces: for each content unit its pieces, from `Batch.pieces_of`.

Pieces = Sequence[Sequence[int]]


def others_alike(original: range, texts: Sequence[int], count: int, generator: torch.Generator) -> list[range]:
    """At most `count` random other ranges of the same length, each within one text.

    original: the range that they differ from. texts: for each content unit the number of its text, or -1: no range lies
    there.
    """
    size = len(original)
    fitting = [
        range(start, start + size)
        for start in range(len(texts) - size + 1)
        if texts[start] == texts[start + size - 1] != SPECIAL and start != original.start
    ]
    if len(fitting) <= count:
        return fitting
    order = torch.randperm(len(fitting), generator=generator)[:count]
    return [fitting[index] for index in order.tolist()]


def choices_alike(
    ranges: Sequence[range], texts: Sequence[int], count: int, generator: torch.Generator
) -> list[list[range]]:
    """At most `count` random other choices of as many ranges, as long as these, which share no unit; each range within
    one text.

    Of one range no other is drawn twice (`others_alike`); of several a draw that was there before, or leaves no room,
    is left out.
    """
    if len(ranges) == 1:
        return [[alike] for alike in others_alike(ranges[0], texts, count, generator)]
    draws = [disjoint_alike(ranges, texts, generator) for _ in range(count)]
    different = {frozenset(draw): draw for draw in draws if draw is not None and set(draw) != set(ranges)}
    return list(different.values())


def disjoint_alike(ranges: Sequence[range], texts: Sequence[int], generator: torch.Generator) -> list[range] | None:
    """Random ranges as long as these, which share no unit, each within one text; None where those drawn first leave no
    room.

    The longest is drawn first. texts: for each content unit the number of its text, or -1: no range lies there.
    """
    drawn: list[range] = []
    for size in sorted(map(len, ranges), reverse=True):
        used = {unit for span in drawn for unit in span}
        fitting = [
            range(start, start + size)
            for start in range(len(texts) - size + 1)
            if texts[start] == texts[start + size - 1] != SPECIAL and not used & set(range(start, start + size))
        ]
        if not fitting:
            return None
        drawn.append(fitting[int(torch.randint(len(fitting), (1,), generator=generator))])
    return drawn


def only(batch: Batch, example: int, pieces: Pieces, units: Iterable[int]) -> Row:
    """The example's row with only these units of its text; the others are absent, special tokens stay."""
    return without(batch, example, pieces, set(range(len(pieces))) - set(units))


def without(batch: Batch, example: int, pieces: Pieces, removed: Iterable[int]) -> Row:
    """The example's row without these units of its text, which are absent."""
    return batch.edited(example, [piece for unit in removed for piece in pieces[unit]], "absent")


# The fewest of a text's units, in an order, that reach something, such as the class of the whole text.

FIRST = 4  # counts are tried at once at first, then twice as many ...: most texts need few units
Reached = Callable[[Mapping[int, range]], Mapping[int, np.ndarray]]


def fewest_units(lengths: Mapping[int, int], reached: Reached) -> dict[int, int | None]:
    """Example -> the smallest count that reaches it, from 1 to its number of units; None where none does.

    lengths: example -> its number of units. reached: of some examples the counts to try -> [count] bool each.
    """
    fewest: dict[int, int | None] = dict.fromkeys(lengths)
    first, size = 1, FIRST
    open_examples = [example for example, length in lengths.items() if length]
    while open_examples:
        tried = {example: range(first, min(first + size, lengths[example] + 1)) for example in open_examples}
        answers = reached(tried)
        for example in open_examples:
            if answers[example].any():
                fewest[example] = first + int(answers[example].argmax())
        first, size = first + size, 2 * size
        open_examples = [example for example in open_examples if fewest[example] is None and first <= lengths[example]]
    return fewest


def is_answer(answers: np.ndarray, whole: np.ndarray, within: float) -> np.ndarray:
    """[text] whether each answer names the class of the whole text, with a probability at most so far from its own.

    answers: [text class] probabilities. whole: [class], those of the whole text. within: 0 to 1; 1 allows any.
    """
    label = whole.argmax()
    return (answers.argmax(-1) == label) & (np.abs(answers[:, label] - whole[label]) <= within)


# A self-explaining model's own weights on one pass, span by span.


def span_weights(run: ForwardPass) -> tuple[tuple[Spans, ...], tuple[Tensor, ...]]:
    """For each example the spans that the model itself scored, and their weights [span]; no special tokens."""
    if any(map(fixed_parts_of, run.batch.examples)):
        raise ModelCannot(
            "A model that answers by spans weighs all words of a text; leave keep= away, or choose a method that takes "
            "words out, such as occlusion."
        )
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
