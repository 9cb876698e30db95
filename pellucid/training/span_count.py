"""The number of spans that share the weight, held at a wanted value: a price on entropy that rises while it is larger.

As the price of reading holds a rationale model's coverage (`word_choice_loss.py`). A fixed weight of the penalty
`entropy` gives another number for each seed, data set and length of training; the price finds the weight that the
wanted number needs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import torch
from torch import Tensor

from pellucid.base.errors import BadSetting
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.composed.networks import Plan
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, heaviest_span
from pellucid.run.batch import Batch
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.packing import scheduler_for
from pellucid.run.read_alone import read_alone, span_weights
from pellucid.run.scheduler import Scheduler
from pellucid.run.trace import SpanTrace
from pellucid.training.objective import weighs_all_alike

GAIN = 0.3  # of the price at once, for an e-fold that the number is too large; more e-folds count as one
SETTLING = 0.2  # the share of all steps in which the price rises by as much as it does at once
AHEAD = 0.05  # the share of all steps by which the number is foreseen: without it, it falls too far
FALL = 0.5  # the share of all steps in which the wanted number falls to its value
MEMORY = 0.9  # of the running mean: how much of it stays at each step
DEV_TEXTS = 256  # that the number is counted on


@dataclass
class SpanCount:
    """What holds the number; it is saved with each checkpoint.

    wanted: exp(entropy of a text's weights) in the mean over texts. steps: how many training steps there will be. done:
    how many there were. price: of a nat of entropy; below 0 it rewards spread weights. mean: the running mean of the
    number. trend: that of how the excess changes in a step. first: the number in the first step. parts: for each part
    of the step under way, how many texts it has, and their mean number.
    """

    wanted: float
    steps: int
    done: int = 0
    price: float = 0.0
    mean: float = 0.0
    trend: float = 0.0
    first: float = 0.0
    parts: list[tuple[int, Tensor]] = field(default_factory=list)

    def loss(self, spans: SpanTrace) -> Tensor:
        """A scalar, from the weights of the texts of one pass."""
        entropies = entropies_of(spans)
        if not len(entropies):
            return spans.scores.new_zeros(())
        count = entropies.detach().double().exp().mean()
        self.parts.append((len(entropies), count))
        excess = self._foreseen(self._excess(self._remembered(float(count))))
        # The logarithm of the mean number: spread texts weigh more than in the mean entropy, so texts become alike in
        # their numbers.
        log_count = entropies.logsumexp(0) - math.log(len(entropies))
        return (self.price + GAIN * excess) * log_count

    def end_step(self) -> None:
        """Update the running mean and the price, after all texts of a step, in any number of parts."""
        texts = sum(count for count, _ in self.parts)
        if texts:
            before = self._excess(self.mean)
            self.mean = self._remembered(sum(count * float(mean_count) for count, mean_count in self.parts) / texts)
            excess = self._excess(self.mean)
            self.trend = MEMORY * self.trend + (1 - MEMORY) * (excess - before)
            self.first = self.first or self.mean
            self.price += GAIN * self._foreseen(excess) / max(1.0, SETTLING * self.steps)
        self.done += 1
        self.parts.clear()

    def aim(self) -> float:
        """The number that is wanted in this step.

        It falls in equal ratios: the model first learns to decide, then to gather.
        """
        left = max(0.0, 1 - (self.done + 1) / (FALL * self.steps))
        return self.wanted * max(1.0, (self.first or self.wanted) / self.wanted) ** left

    def record(self) -> dict[str, float]:
        """What a checkpoint keeps."""
        return {name: getattr(self, name) for name in ("done", "price", "mean", "trend", "first")}

    def restore(self, record: Mapping[str, float]) -> None:
        """Go on from a checkpoint; raises `ValueError` where it has other numbers than `record` gives."""
        whole = isinstance(record, Mapping) and record.keys() == self.record().keys()
        if not whole or not all(map(_is_number, record.values())) or (record["first"] and record["mean"] <= 0):
            raise ValueError("its number of spans was not saved")
        for name, value in record.items():
            setattr(self, name, value)

    def _remembered(self, count: float) -> float:
        """The running mean with one more number; the first ones count equally, so that the first does not matter."""
        return self.mean + max(1 / (self.done + 1), 1 - MEMORY) * (count - self.mean)

    def _excess(self, mean: float) -> float:
        """How many e-folds too large a number is."""
        return math.log(mean / self.aim()) if self.first else 0.0

    def _foreseen(self, excess: float) -> float:
        """The excess some steps ahead, -1 to 1."""
        return min(1.0, max(-1.0, excess + AHEAD * self.steps * self.trend))


def entropies_of(spans: SpanTrace) -> Tensor:
    """[text]: the entropy of the weights of those texts that have spans, in nats."""
    return spans.entropy[spans.log_normaliser.detach().isfinite()]


def span_count_of(wanted: float | None, steps: int) -> SpanCount | None:
    """What holds this number of spans in so many steps; None where no number is wanted."""
    return None if wanted is None else SpanCount(wanted, steps)


def check_span_count(wanted: float | None, plan: Plan) -> None:
    """Raise `BadSetting` where a number of spans is wanted of a model that has none, or does not learn their
    weights.
    """
    if wanted is not None and (plan.pooler != "span" or weighs_all_alike(plan.pooler_settings)):
        raise BadSetting(
            f"spans={wanted:g} holds the number of spans that share a text's weight, which only pooler='span' with "
            f"weights='learned' learns; leave spans away, or give that pooler."
        )


def span_count_on_dev(classifier: Classifier, dev: Batch, batch_size: int) -> dict[str, float]:
    """{"dev_spans": the mean exp(entropy) of the weights of some dev texts}."""
    rows, entropies = dev.rows[:DEV_TEXTS], []
    with evaluating(classifier.network), torch.no_grad():
        for first in range(0, len(rows), batch_size):
            output = classifier.network(**classifier.place(rows[first : first + batch_size]))
            entropies.append(entropies_of(output.spans))
    counts = torch.cat(entropies).double().exp()
    return {"dev_spans": float(counts.mean())} if len(counts) else {}


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(float(value))  # type: ignore[arg-type]


# The heaviest spans of some dev texts, after each epoch: a model may learn to classify and not to explain.

MOST_TEXTS, MOST_PIECES = 64, 2**14  # so that it costs little beside an epoch, also with documents
RANDOM = 3  # random spans a text


def spans_on_dev(classifier: Classifier, dev: Batch) -> HeaviestSpans:
    """Counts over the first dev texts; none for a model without span weights."""
    if "span_weights" not in classifier.capabilities:
        return NOT_COUNTED
    numbers = _first(dev)
    scheduler = scheduler_for(classifier)
    packs = scheduler.packs_of([dev.rows[index] for index in numbers])
    batches = (dev.select([numbers[index] for index in pack]) for pack in packs)
    return sum((_of_pack(classifier, batch, scheduler) for batch in batches), NOT_COUNTED)


def _first(dev: Batch) -> list[int]:
    """The numbers of the first texts that fit one window, as many as cost little; at least one."""
    whole = [index for index, row in enumerate(dev.rows) if not row.windows][:MOST_TEXTS]
    pieces = accumulate(dev.lengths[index] for index in whole)
    fitting = [index for index, total in zip(whole, pieces, strict=True) if total <= MOST_PIECES]
    return fitting or whole[:1]


def _of_pack(classifier: Classifier, batch: Batch, scheduler: Scheduler) -> HeaviestSpans:
    run = ForwardPass(classifier, batch, scheduler)
    spans, weights = span_weights(run)
    readings = read_alone(run, spans, weights, RANDOM)
    counted = zip(batch.examples, spans, weights, readings, strict=True)
    return sum(
        (
            heaviest_span(example.segments, units, weight.float().cpu().numpy(), alone)
            for example, units, weight, alone in counted
        ),
        NOT_COUNTED,
    )
