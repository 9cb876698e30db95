"""What training minimises in every pass: the cross-entropy of the labels, plus penalties on how the model explains
itself.

What needs a pass or a model of its own is an objective (`objective.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.base.checks import in_syntax, listed, quoted
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import penalties
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.classifiers.running import Output
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.composed.networks import RationaleNetwork, Steering
from pellucid.models.poolers.pieces import START
from pellucid.run.batch import Row
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Problem
from pellucid.run.trace import GateTrace
from pellucid.text.example import Example
from pellucid.training.recipe import Measure, Recipe
from pellucid.training.span_count import SpanCount

# How a model that reads only some words learns which: REINFORCE with a moving baseline, and a price on reading.
#
# Lei, Barzilay and Jaakkola (2016), section 3.1: the gradient of the expected loss with respect to the generator is
# the expectation of loss x gradient of log p(z | x). The moving baseline is ours; it lowers the variance. The cost of
# penalties is not sampled: its expectation has a closed form, with the same gradient.

# Tried on made-up texts: with a faster price the share swings, with a slower one it comes too late.
RATE, GAIN = 0.05, 5.0
THRESHOLD_TEXTS = 512  # texts that set the threshold
FALL = 0.5  # the share of all steps in which the share to read falls to the target


@dataclass(frozen=True)
class WordChoiceLoss:
    """The terms of the loss that train the choice of words.

    steering: the moving averages and the price, saved with the weights. target: the share of words to read in the end,
    or None for any. steps: how many training steps there will be. parts: for each part of the step under way, how many
    texts it has, their mean loss, and by how much they read more than wanted.
    """

    steering: Steering
    target: float | None
    steps: int
    parts: list[tuple[int, Tensor, Tensor]] = field(default_factory=list)

    def loss(self, gates: GateTrace, losses: Tensor) -> Tensor:
        """A scalar, from the gates of a forward pass and the losses of its texts [example]."""
        state, read = self.steering, gates.expected_coverage.mean()
        excess = torch.zeros_like(read) if self.target is None else read.detach() - self.wanted()
        self.parts.append((len(losses), losses.detach().mean(), excess))
        # Dual ascent on "share read = share wanted": a model that reads too much pays more, at once and later.
        loss = (state.price + RATE * excess + GAIN * excess) * read
        if gates.log_chance is not None:
            advantage = (losses - (state.loss if state.steps else losses.mean())).detach()
            loss = loss + (advantage * gates.log_chance).mean()
        return loss

    def end_step(self) -> None:
        """Update the averages and the price, after all texts of a step, in any number of parts."""
        texts = sum(count for count, _, _ in self.parts)
        self.steering.remember(torch.stack([count / texts * loss for count, loss, _ in self.parts]).sum())
        excess = torch.stack([count / texts * excess for count, _, excess in self.parts]).sum()
        self.steering.price += RATE * excess
        self.parts.clear()

    def wanted(self) -> float:
        """The share to read in this step. It falls in a line to the target: the model first learns to decide, then to
        choose.
        """
        assert self.target is not None
        left = max(0.0, 1 - (float(self.steering.steps) + 1) / (FALL * self.steps))
        return self.target + left * max(0.0, START - self.target)


def word_choice_loss(network: nn.Module, steps: int) -> WordChoiceLoss | None:
    """What trains this network's choice of words in so many steps; None for a network that reads all words."""
    if not isinstance(network, RationaleNetwork):
        return None
    return WordChoiceLoss(network.steering, network.pooler.coverage, steps)


def set_threshold(classifier: Classifier, rows: Sequence[Row]) -> None:
    """Set the threshold of a model that chooses words so that it reads the target share of the words of these rows.

    The price keeps the expected share at the target. But a word is read where its probability is above one half; the
    share of such words differs from the expected one, and jumps from step to step. Of many rows some hundreds are used,
    evenly from first to last.
    """
    network = classifier.network
    if not isinstance(network, RationaleNetwork) or network.pooler.coverage is None:
        return
    target = network.pooler.coverage
    sample = rows[:: -(-len(rows) // THRESHOLD_TEXTS)]
    packs = Scheduler(LONGEST).packs([len(row) for row in sample])
    with evaluating(network), torch.no_grad():
        inputs = (classifier.place([sample[index] for index in pack]) for pack in packs)
        margins = torch.cat([network.margins(**columns) for columns in inputs])
        if len(margins) > 1:
            network.pooler.threshold.copy_(_threshold(margins.float(), target))


def _threshold(margins: Tensor, share: float) -> Tensor:
    """The middle between the last margin inside this share and the next one, so that rounding decides for no word."""
    falling = margins.sort(descending=True).values
    read = min(max(round(share * len(falling)), 1), len(falling) - 1)
    return falling[read - 1 : read + 1].mean()


@dataclass(frozen=True)
class TrainingLoss:
    """Cross-entropy (or one binary cross-entropy a class) + the sum of weight x mean penalty.

    penalties: name -> weight; each reads the model's own weights, its choice of words or its states (`check_fit`).
    word_choice: for a model that reads only some words, the terms that train their choice. smoothing: the share of each
    label that is spread over all classes. class_weights: [class], by which the losses of its texts are multiplied;
    None: all are 1. The losses on dev, which choose the best epoch, have neither. labels: whether the labels are
    learnt; False where an objective stands in their place. span_count: what holds the number of spans that share the
    weight, where one is wanted.
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


def gold_numbers(examples: Sequence[Example], labels: Sequence[str], problem: Problem, part: str = "given") -> Tensor:
    """[example] class numbers; for multi-label [example class] of 0 and 1, labels separated by commas.

    part: what the examples are called in a message. Raises `BadInput` for an example whose label is missing or not
    among the classes.
    """
    several = problem == "multi_label"
    strange = [
        example
        for example in examples
        if example.label is None or not (_names(example) if several else {example.label}) <= set(labels)
    ]
    if strange:
        first = strange[0]
        label_part = "without a label" if first.label is None else f"with the label {quoted(first.label)}"
        raise BadInput(
            f"{len(strange):,} of {len(examples):,} {part} examples are of no class among {listed(labels)}; the first "
            f"is {quoted(first.id)} {label_part}. Correct them, or leave them out"
            + (in_syntax(" (skip_bad_rows=True).", " (--skip-bad-rows).") if first.label is None else ".")
        )
    if several:
        return torch.tensor([[float(name in _names(example)) for name in labels] for example in examples])
    numbers = {label: index for index, label in enumerate(labels)}
    return torch.tensor([numbers[example.label or ""] for example in examples])


def balancing_weights(gold: Tensor, count: int) -> Tensor:
    """[class]: texts / (classes that occur x texts of the class), so that all classes weigh the same and the mean text
    1.

    gold: [example] class numbers. count: how many classes there are. Raises `BadSetting` for multi-label.
    """
    if gold.ndim > 1:
        raise BadSetting(
            "balanced=True is not possible with problem='multi_label', whose texts have several classes; leave it away."
        )
    texts = gold.bincount(minlength=count).double()
    return torch.where(texts > 0, len(gold) / (texts.count_nonzero() * texts.clamp_min(1)), 0.0)


def right_answers(logits: Tensor, gold: Tensor, problem: Problem) -> Tensor:
    """[example] bool from logits [example class]: the highest class is the label; for multi-label, every class is
    right.
    """
    if problem == "multi_label":
        return ((logits > 0) == gold.bool()).all(-1)
    return logits.argmax(-1) == gold


def check_measure(recipe: Recipe, problem: Problem) -> None:
    """Raise `BadSetting` where the measure that keeps the best epoch cannot judge such labels."""
    if recipe.keep_best_by == "mcc" and problem == "multi_label":
        raise BadSetting(
            "keep_best_by='mcc' correlates one class a text with one answer, and with problem='multi_label' a text has "
            "several; give 'f1', 'accuracy' or 'loss'."
        )


def measured_on_dev(measure: Measure, logits: Tensor, gold: Tensor, loss: float) -> float:
    """What chooses the best epoch, higher is better: the mean F1 of the classes, Matthews' correlation, or minus the
    loss.

    logits: [example class]. gold: as from `gold_numbers`. Classes that dev lacks and the model never answers are left
    out of the mean F1.
    """
    from sklearn.metrics import f1_score, matthews_corrcoef  # takes half a second to import

    if measure == "loss":
        return -loss
    truth, answers = gold.cpu().numpy(), ((logits > 0) if gold.dim() == 2 else logits.argmax(-1)).cpu().numpy()
    if measure == "mcc":
        return float(matthews_corrcoef(truth, answers))
    return float(f1_score(truth, answers, average="macro", zero_division=0))


def _names(example: Example) -> set[str]:
    return {name.strip() for name in (example.label or "").split(",")} - {""}
