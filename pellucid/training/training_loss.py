"""What training minimises in every pass: the cross-entropy of the labels, plus penalties on how the model explains itself.

What needs a pass or a model of its own is an objective (`objective.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.kinds import penalties
from pellucid.core.foundation.wording import in_syntax, listed, quoted
from pellucid.core.passes.target import Problem
from pellucid.core.text.example import Example
from pellucid.models.classifiers.output import Output
from pellucid.training.span_count import SpanCount
from pellucid.training.word_choice_loss import WordChoiceLoss


@dataclass(frozen=True)
class TrainingLoss:
    """Cross-entropy (or one binary cross-entropy a class) + the sum of weight x mean penalty.

    penalties: name -> weight; each reads the model's own weights, its choice of words or its states (`check_fit`). word_choice:
    for a model that reads only some words, the terms that train their choice. smoothing: the share of each label that is
    spread over all classes. class_weights: [class], by which the losses of its texts are multiplied; None: all are 1. The
    losses on dev, which choose the best epoch, have neither. labels: whether the labels are learnt; False where an objective
    stands in their place. span_count: what holds the number of spans that share the weight, where one is wanted.
    """

    problem: Problem
    penalties: Mapping[str, float]
    word_choice: WordChoiceLoss | None = None
    smoothing: float = 0.0
    class_weights: Tensor | None = None
    labels: bool = True
    span_count: SpanCount | None = None

    def loss(self, output: Output, gold: Tensor, sharp: bool = True) -> Tensor:
        """A scalar to minimise; gold as `gold_numbers` gives it. sharp: whether penalties count."""
        losses = self.label_loss(output.logits, gold)
        loss = losses.mean() if self.labels else losses.new_zeros(())
        for name, weight in self.penalties.items():
            if not weight or not sharp:  # with weight 0 it may read something that the model does not have
                continue
            entry = penalties.get(name)
            loss = loss + weight * entry.make(getattr(output, entry.facts["reads"])).mean()
        if self.word_choice is not None and output.gates is not None:
            loss = loss + self.word_choice.loss(output.gates, losses)
        if self.span_count is not None and output.spans is not None:
            loss = loss + self.span_count.loss(output.spans)
        return loss

    def end_step(self) -> None:
        """Let what is steered see a step that is over."""
        for steered in (self.word_choice, self.span_count):
            if steered is not None:
                steered.end_step()

    def label_loss(self, logits: Tensor, gold: Tensor) -> Tensor:
        """[example]: the loss of the labels alone."""
        if self.problem == "multi_label":
            return F.binary_cross_entropy_with_logits(logits, gold, reduction="none").sum(-1)
        losses = F.cross_entropy(logits, gold, reduction="none", label_smoothing=self.smoothing)
        return losses if self.class_weights is None else losses * self.class_weights.to(losses)[gold]


def gold_numbers(
    examples: Sequence[Example], labels: Sequence[str], problem: Problem, part: str = "given"
) -> Tensor:
    """[example] class numbers; for multi-label [example class] of 0 and 1, labels separated by commas.

    part: what the examples are called in a message. Raises `BadInput` for an example whose label is missing or not among the classes.
    """
    several = problem == "multi_label"
    strange = [
        example
        for example in examples
        if example.label is None or not (_names(example) if several else {example.label}) <= set(labels)
    ]
    if strange:
        first = strange[0]
        own = "without a label" if first.label is None else f"with the label {quoted(first.label)}"
        raise BadInput(
            f"{len(strange):,} of {len(examples):,} {part} examples are of no class among {listed(labels)}; the first is "
            f"{quoted(first.id)} {own}. Correct them, or leave them out"
            + (in_syntax(" (skip_bad_rows=True).", " (--skip-bad-rows).") if first.label is None else ".")
        )
    if several:
        return torch.tensor([[float(name in _names(example)) for name in labels] for example in examples])
    numbers = {label: number for number, label in enumerate(labels)}
    return torch.tensor([numbers[example.label or ""] for example in examples])


def balancing_weights(gold: Tensor, count: int) -> Tensor:
    """[class]: texts / (classes that occur x texts of the class), so that all classes weigh the same and the mean text 1.

    gold: [example] class numbers. count: how many classes there are. Raises `BadSetting` for multi-label.
    """
    if gold.ndim > 1:
        raise BadSetting(
            "balanced=True is not possible with problem='multi_label', whose texts have several classes; leave it away."
        )
    texts = gold.bincount(minlength=count).double()
    return torch.where(texts > 0, len(gold) / (texts.count_nonzero() * texts.clamp_min(1)), 0.0)


def right_answers(logits: Tensor, gold: Tensor, problem: Problem) -> Tensor:
    """[example] bool from logits [example class]: the highest class is the label; for multi-label, every class is right."""
    if problem == "multi_label":
        return ((logits > 0) == gold.bool()).all(-1)
    return logits.argmax(-1) == gold


def _names(example: Example) -> set[str]:
    return {name.strip() for name in (example.label or "").split(",")} - {""}
