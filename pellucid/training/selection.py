"""How a model that chooses its words learns which: REINFORCE with a moving baseline, and a price that keeps coverage.

Lei, Barzilay and Jaakkola (2016), section 3.1: the gradient of the expected loss by the generator is the expectation of
loss x gradient of log p(z | x). The moving baseline is ours, against variance. What penalties cost is not sampled: its
expectation has a closed form, and the same gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.trace import GateTrace
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.composed.steering import Steering
from pellucid.models.poolers.rationale import START

# Tried on made-up texts: a faster price swings, a slower one comes too late.
RATE, GAIN = 0.05, 5.0
ASKED = 512  # texts that set the threshold
FALL = 0.5  # the share of all steps in which the share to read falls to the target


@dataclass(frozen=True)
class Selection:
    """Terms of the loss that teach a generator.

    target: the share of words to read in the end, or None. steps: how many there will be. seen: of each part of the step
    under way how many texts it has, their mean loss, and how much more than wanted they read.
    """

    steering: Steering
    target: float | None
    steps: int
    seen: list[tuple[int, Tensor, Tensor]] = field(default_factory=list)

    def loss(self, gates: GateTrace, losses: Tensor) -> Tensor:
        """A scalar, from this pass's gates and its texts' losses [example]."""
        state, read = self.steering, gates.expected_coverage.mean()
        missed = torch.zeros_like(read) if self.target is None else read.detach() - self.wanted()
        self.seen.append((len(losses), losses.detach().mean(), missed))
        # Dual ascent on share read = share wanted: whoever reads too much pays more, at once and for good.
        found = (state.price + RATE * missed + GAIN * missed) * read
        if gates.log_chance is not None:
            blame = (losses - (state.loss if state.steps else losses.mean())).detach()
            found = found + (blame * gates.log_chance).mean()
        return found

    def end_step(self) -> None:
        """Move the averages and the price, when all texts of a step were seen, in however many parts."""
        texts = sum(count for count, _, _ in self.seen)
        self.steering.remember(torch.stack([count / texts * loss for count, loss, _ in self.seen]).sum())
        missed = torch.stack([count / texts * missed for count, _, missed in self.seen]).sum()
        self.steering.price += RATE * missed
        self.seen.clear()

    def wanted(self) -> float:
        """The share to read in this step: it falls in a line to the target, so that choosing is learnt after deciding."""
        assert self.target is not None
        left = max(0.0, 1 - (float(self.steering.steps) + 1) / (FALL * self.steps))
        return self.target + left * max(0.0, START - self.target)


def settle(classifier: Classifier, rows: Sequence[Row]) -> None:
    """Set the threshold of a model that chooses so that of the words of these rows it reads the share asked for.

    The price keeps the expected share; how many words are likelier read than not is another number, and a step. Of many
    rows some hundreds are asked, from first to last.
    """
    network = classifier.network
    target = getattr(getattr(network, "pooler", None), "coverage", None)
    if not hasattr(network, "steering") or target is None:
        return
    asked = rows[:: -(-len(rows) // ASKED)]
    packs = Scheduler(LONGEST).packs([len(row) for row in asked])
    with evaluating(network), torch.no_grad():
        placed = (classifier.place([asked[number] for number in pack]) for pack in packs)
        margins = torch.cat([network.margins(**columns) for columns in placed])
        if len(margins) > 1:
            network.pooler.threshold.copy_(_between(margins.float(), target))


def _between(margins: Tensor, share: float) -> Tensor:
    """The middle between the last margin of this share and the next: a word on the threshold would be a matter of rounding."""
    falling = margins.sort(descending=True).values
    read = min(max(round(share * len(falling)), 1), len(falling) - 1)
    return falling[read - 1 : read + 1].mean()


def selection_of(network: Any, steps: int) -> Selection | None:
    """How this network learns to choose its words in so many steps; None for one that reads them all."""
    steering = getattr(network, "steering", None)
    return None if steering is None else Selection(steering, network.pooler.coverage, steps)
