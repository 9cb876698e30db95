"""Train texts without their heaviest units, or with these alone; random numbers by seed, step and text alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import between, quoted
from pellucid.base.errors import BadSetting
from pellucid.models.pooling.pooler import Pooled, parts_with
from pellucid.models.pooling.span_attention import all_spans_weigh
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import derived_seed
from pellucid.run.rounding import widened
from pellucid.run.scheduler import Scheduler, default_budget
from pellucid.run.target import Problem
from pellucid.run.trace import SpanTrace, UnitTrace
from pellucid.text.example import Example, marked
from pellucid.training.drawn_spans import SpanReader, of_examples
from pellucid.training.objective import ObjectiveContext, StepPart
from pellucid.training.training_loss import TrainingLoss, gold_numbers

LOWEST_SHARE = 0.01


@dataclass(frozen=True)
class TextDraws:
    """The draws of one objective in one training.

    name: the objective's; two objectives draw differently. seed: the recipe's. share: of the texts that the objective
    acts on in a step, 0.01 to 1; its losses are divided by it, so that their mean stays the same.
    """

    name: str
    seed: int
    share: float = 1.0

    def __post_init__(self) -> None:
        between("share", self.share, LOWEST_SHARE, 1)

    def points(self, rows: Sequence[Row], done: int, count: int) -> Tensor:
        """[row point] numbers from 0 to below 1, on the processor; done: steps before this one."""
        return torch.stack([self._points(row, done, count) for row in rows])

    def sampled(self, rows: Sequence[Row], done: int) -> list[int]:
        """The numbers of those rows that the objective acts on in this step."""
        if self.share == 1:
            return list(range(len(rows)))
        chances = self.points(rows, done, 1)[:, 0].tolist()
        return [index for index, chance in enumerate(chances) if chance < self.share]

    def for_examples(self, losses: Tensor, numbers: Sequence[int], count: int) -> Tensor:
        """[sampled] losses -> [example]: each divided by the share, and 0 of the texts that were left out."""
        places = torch.tensor(numbers, dtype=torch.long, device=losses.device)
        return losses.new_zeros(count).index_add(0, places, losses / self.share)

    def _points(self, row: Row, done: int, count: int) -> Tensor:
        generator = torch.Generator().manual_seed(derived_seed(self.seed, self.name, count, done, row.ids, row.types))
        return torch.rand(count, generator=generator, dtype=torch.float64)


# The texts of a training step that an objective about spans reads again: those that the draw chose and that have a
# span.


@dataclass(frozen=True)
class ReadAgain:
    """numbers: places of the texts in the step's part. indices: their numbers among the train texts. rows, spans:
    theirs.
    """

    numbers: list[int]
    indices: list[int]
    rows: list[Row]
    spans: SpanTrace


def texts_read_again(context: ObjectiveContext, draws: TextDraws, part: StepPart) -> ReadAgain:
    """The texts of a step's part that are read again; there may be none."""
    spans = part.output.spans
    assert spans is not None  # the pooler was checked
    rows = context.rows(part.indices)
    has_span = spans.log_normaliser.isfinite().tolist()
    numbers = [index for index in draws.sampled(rows, part.done) if has_span[index]]
    return ReadAgain(
        numbers,
        [part.indices[index] for index in numbers],
        [rows[index] for index in numbers],
        of_examples(spans, numbers),
    )


# What a model whose answer uses its heaviest spans alone would pool from all of them, from the states that a step has
# read.


def pooled_by_all_spans(context: ObjectiveContext, part: StepPart) -> Pooled:
    """The pooled vectors and the weights of all legal spans, with a graph; the layer is used once more, nothing is read
    again.
    """
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


# What people marked in train texts, piece by piece, and which of a model's units or spans that touches.


def marked_pieces(batch: Batch) -> list[tuple[int, ...]]:
    """For each text [piece]: 1 where a piece overlaps a mark, else 0."""
    return [_of_text(batch, index) for index in range(len(batch))]


def _of_text(batch: Batch, index: int) -> tuple[int, ...]:
    units = batch.units[index]
    pieces = [0] * len(units)
    marks = marked(units, batch.examples[index].rationales)
    for piece, is_marked in zip(units.content, () if marks is None else marks, strict=marks is not None):
        pieces[piece] = int(is_marked)
    return tuple(pieces)


def marked_parts(rows: Sequence[Row], marks: Sequence[Sequence[int]], unit: str, device: torch.device) -> Tensor:
    """[example part]: 1 for the parts with a marked piece, else 0. marks: of each row, as `marked_pieces` gives
    them.
    """
    width = max(map(len, rows))
    words, segments, pieces = (
        torch.tensor([[*column, *[empty] * (width - len(column))] for column in columns], device=device)
        for columns, empty in (
            ([row.word_index for row in rows], -1),
            ([row.segments for row in rows], -1),
            (marks, 0),
        )
    )
    return parts_with(pieces, words, segments, unit)


def overlapping(trace: SpanTrace | UnitTrace, parts: Tensor) -> Tensor:
    """[example unit], or [example first last]: whether a unit or span has a marked part. parts: from `marked_parts`."""
    return parts.bool() if isinstance(trace, UnitTrace) else marks_in_spans(parts) > 0


def inside(parts: Tensor) -> Tensor:
    """[example first last]: whether every part of a span is marked."""
    numbers = torch.arange(parts.shape[1], device=parts.device)
    lengths = numbers[None, :] - numbers[:, None] + 1
    return (marks_in_spans(parts) == lengths) & (lengths > 0)


def marks_in_spans(parts: Tensor) -> Tensor:
    """[example first last]: how many marked parts a span has; 0 or less where the last part lies before the first."""
    before = F.pad(parts.cumsum(1), (1, 0))
    return before[:, None, 1:] - before[:, :-1, None]


# Train texts without their heaviest units, or with these alone, at several shares of a text; and what the label costs
# then.
#
# Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale Extraction", take the top k %
# of a text for several k and average. As in their released code, which units are the heaviest is not learnt from what
# the cut texts cost: weights move only through the states that they share with the answer.

TOP = (0.01, 0.05, 0.1, 0.2, 0.5)  # shares of a text's units; those of the released code
Cut = Literal["alone", "left_out"]


@dataclass(frozen=True, eq=False)
class LabelCosts:
    """The labels' losses, in nats. whole: [text], of the texts; cut: [text share], of the texts that were cut."""

    whole: Tensor
    cut: Tensor


class CutTexts:
    """What the label of a text costs when its heaviest units are read alone, or left out.

    name: the objective's. top: the shares, each 0.01 to 0.99, of one unit or more. share: of the texts that are cut in
    a step. cut: what is done to the heaviest units. Raises `BadSetting` for shares that are out of range, or none.
    """

    def __init__(self, name: str, context: ObjectiveContext, top: Sequence[float], share: float, cut: Cut) -> None:
        if not isinstance(top, list | tuple) or not top:
            raise BadSetting(f"top={quoted(top)} is not possible; give a list of shares, such as [0.1, 0.2].")
        for top_share in top:
            between("a share in top", top_share, 0.01, 0.99)
        classifier = context.classifier
        self.context, self.top, self.cut = context, top, cut
        self.draws = TextDraws(name, context.recipe.seed, share)
        self.reader = SpanReader(context.train)
        self.gold = gold_numbers(context.train.examples, classifier.labels, classifier.problem)
        self.label_loss = TrainingLoss(classifier.problem, {}).label_loss

    def losses(self, part: StepPart, loss: Callable[[LabelCosts], Tensor]) -> Tensor:
        """[example]: the mean over shares of a loss [text share] of the costs; 0 of texts that are not cut in this
        step.
        """
        numbers = self.draws.sampled(self.context.rows(part.indices), part.done)
        if not numbers:
            return part.output.logits.new_zeros(len(part.indices))
        losses = loss(self.costs(part, numbers)).mean(1)
        return self.draws.for_examples(losses, numbers, len(part.indices))

    def costs(self, part: StepPart, numbers: Sequence[int]) -> LabelCosts:
        """The costs of some texts of a step's part. numbers: their places, one or more."""
        trace = part.output.units if part.output.spans is None else part.output.spans
        assert trace is not None  # the pooler was checked
        weights = part_weights(trace).detach()[list(numbers)].tolist()
        indices = [part.indices[n] for n in numbers]
        cuts = [
            (index, parts)
            for index, of_text in zip(indices, weights, strict=True)
            for parts in heaviest_parts(of_text[: len(self.reader.pieces(index, trace.unit))], self.top)
        ]
        place_of = {cut: place for place, cut in enumerate(dict.fromkeys(cuts))}  # each is read once
        logits = logits_of(self.context, [self._row(index, trace.unit, parts) for index, parts in place_of])
        gold = self.gold.to(logits.device)
        losses = self.label_loss(logits, gold[[index for index, _ in place_of]])
        places = torch.tensor([place_of[cut] for cut in cuts], device=losses.device)
        return LabelCosts(
            self.label_loss(part.output.logits[list(numbers)], gold[indices]),
            losses[places].reshape(len(numbers), len(self.top)),
        )

    def _row(self, index: int, unit: str, parts: frozenset[int]) -> Row:
        cut = self.reader.only if self.cut == "alone" else self.reader.without
        return cut(index, unit, parts)


# What each unit of a text weighs by a model's own weights, and the heaviest ones, as many as a share of the text.


def part_weights(trace: SpanTrace | UnitTrace) -> Tensor:
    """[example part]: the weight of a unit, or of all spans that it lies in; 0 to 1, with the trace's gradients."""
    weights = trace.weights
    if isinstance(trace, UnitTrace):
        return weights
    begun, ended = weights.sum(2).cumsum(1), weights.sum(1).cumsum(1)
    return (begun - F.pad(ended, (1, 0))[:, :-1]).clamp(0, 1)  # a difference of sums may end a little outside


def heaviest_parts(weights: Sequence[float], shares: Sequence[float]) -> list[frozenset[int]]:
    """For each share of a text the numbers of its heaviest parts, one or more; of equal ones the first.

    weights: of all parts of the text.
    """
    order = sorted(range(len(weights)), key=lambda part: (-weights[part], part))
    return [frozenset(order[: max(1, round(share * len(weights)))]) for share in shares]


# Answers to cut texts, as logarithms of probabilities; how far one lies from another, and what an undecided one is.

Undecided = Literal["uniform", "priors"]


def logits_of(context: ObjectiveContext, rows: Sequence[Row]) -> Tensor:
    """[row class]: the network's logits, with a graph.

    Rows of similar length are computed together: cut texts differ in length, and padding them all to the longest one
    cost twice as much as the whole texts.
    """
    classifier = context.classifier
    packs = Scheduler(default_budget(classifier.device)).packs([len(row) for row in rows])
    with context.autocast():
        logits = [classifier.network(**classifier.place([rows[n] for n in pack])).logits for pack in packs]
    order = torch.tensor([index for pack in packs for index in pack]).argsort()
    return torch.cat(logits)[order.to(classifier.device)]


def log_answers(logits: Tensor, problem: Problem) -> Tensor:
    """[example class] logits -> [example class], or for multi-label [example class 2], of no and of yes."""
    logits = widened(logits)
    if problem == "multi_label":
        return torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], -1)
    return logits.log_softmax(-1)


def answer_divergence(answers: Tensor, others: Tensor) -> Tensor:
    """[example]: Kullback-Leibler divergence from answers to others, in nats; of multi-label the sum over classes."""
    return (answers.exp() * (answers - others)).flatten(1).sum(1)


def undecided_answer(kind: Undecided, examples: Sequence[Example], labels: Sequence[str], problem: Problem) -> Tensor:
    """[1 class], or [1 class 2]: the log-probabilities of an answer that says nothing about a text.

    kind: "uniform", all classes alike, for multi-label yes and no alike; "priors", as frequent as in the examples, each
    class counted once more than it occurs, so that none is impossible.
    """
    outcomes = 2 if problem == "multi_label" else len(labels)
    if kind == "uniform":
        shape = (1, len(labels), 2) if problem == "multi_label" else (1, len(labels))
        return torch.full(shape, 1 / outcomes).log()
    gold = gold_numbers(examples, labels, problem)
    if problem == "multi_label":
        yes = (gold.sum(0) + 1) / (len(gold) + 2)
        return torch.stack([1 - yes, yes], -1)[None].log()
    counts = gold.bincount(minlength=len(labels)).float() + 1
    return (counts / counts.sum())[None].log()
