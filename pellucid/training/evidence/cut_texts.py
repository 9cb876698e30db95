"""Train texts without their heaviest units, or with these alone, at several shares of a text; and what the label costs
then.

Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale Extraction", take the top k % of
a text for several k and average. As in their released code, which units are the heaviest is not learnt from what the
cut texts cost: weights move only through the states that they share with the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import between, quoted
from pellucid.base.errors import BadSetting
from pellucid.run.batch import Row
from pellucid.run.rounding import widened
from pellucid.run.scheduler import Scheduler, default_budget
from pellucid.run.target import Problem
from pellucid.run.trace import SpanTrace, UnitTrace
from pellucid.text.example import Example
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart
from pellucid.training.training_loss import TrainingLoss, gold_numbers

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
        for one in top:
            between("a share in top", one, 0.01, 0.99)
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


# What each unit of a text weighs by a model's own weights, and the heaviest ones, as many as a share of
# the text.


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


# Answers to cut texts, as logarithms of probabilities; how far one lies from another, and what an
# undecided one is.


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
    order = torch.tensor([number for pack in packs for number in pack]).argsort()
    return torch.cat(logits)[order.to(classifier.device)]


def log_answers(logits: Tensor, problem: Problem) -> Tensor:
    """[example class] logits -> [example class], or for multi-label [example class 2], of no and of yes."""
    logits = widened(logits)
    if problem == "multi_label":
        return torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], -1)
    return logits.log_softmax(-1)


def answer_divergence(one: Tensor, other: Tensor) -> Tensor:
    """[example]: Kullback-Leibler divergence from answers to others, in nats; of multi-label the sum over classes."""
    return (one.exp() * (one - other)).flatten(1).sum(1)


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
