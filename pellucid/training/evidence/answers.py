"""Answers to cut texts, as logarithms of probabilities; how far one lies from another, and what an undecided one is."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.core.passes.batch import Row
from pellucid.core.passes.precision import widened
from pellucid.core.passes.scheduler import Scheduler, default_budget
from pellucid.core.passes.target import Problem
from pellucid.core.text.example import Example
from pellucid.training.objective import ObjectiveContext
from pellucid.training.training_loss import gold_numbers

Undecided = Literal["uniform", "priors"]


def logits_of(context: ObjectiveContext, rows: Sequence[Row]) -> Tensor:
    """[row class]: the network's logits, with a graph.

    Rows of similar length are computed together: cut texts differ in length, and padding them all to the longest one cost twice as
    much as the whole texts.
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


def undecided_answer(
    kind: Undecided, examples: Sequence[Example], labels: Sequence[str], problem: Problem
) -> Tensor:
    """[1 class], or [1 class 2]: the log-probabilities of an answer that says nothing about a text.

    kind: "uniform", all classes alike, for multi-label yes and no alike; "priors", as frequent as in the examples, each class
    counted once more than it occurs, so that none is impossible.
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
