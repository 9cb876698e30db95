"""How a model that chooses its words learns which: REINFORCE with a moving baseline, and a price that keeps coverage.

Lei, Barzilay and Jaakkola (2016), section 3.1: the gradient of the expected loss by the generator is the expectation of
loss x gradient of log p(z | x). The moving baseline is ours, against variance. What penalties cost is not sampled: its
expectation has a closed form, and the same gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pellucid.core.batch import Row
from pellucid.core.trace import GateTrace
from pellucid.models.classifier import Classifier
from pellucid.models.hooks import evaluating
from pellucid.models.poolers.rationale import START
from pellucid.models.steering import Steering

# Tried on made-up texts: a faster price swings, a slower one comes too late.
RATE, GAIN = 0.05, 5.0
ASKED = 512  # texts that set the threshold
FALL = 0.5  # the share of all steps in which the share to read falls to the target


@dataclass(frozen=True)
class Selection:
    """Terms of the loss that teach a generator.

    target: the share of words to read in the end, or None. steps: how many there will be.
    """

    steering: Steering
    target: float | None
    steps: int

    def loss(self, gates: GateTrace, losses: Tensor) -> Tensor:
        """A scalar, from this pass's gates and its texts' losses [example]; moves the averages and the price."""
        state, read = self.steering, gates.expected_coverage.mean()
        blame = (losses - (state.loss if state.steps else losses.mean())).detach()
        state.remember(losses.mean())
        found = self._price(read.detach()) * read
        if gates.log_chance is not None:
            found = found + (blame * gates.log_chance).mean()
        return found

    def _price(self, read: Tensor) -> Tensor:
        """Dual ascent on share read = share wanted: whoever reads too much pays more, at once and for good."""
        if self.target is None:
            return self.steering.price
        missed = read - self.wanted()
        self.steering.price += RATE * missed
        return self.steering.price + GAIN * missed

    def wanted(self) -> float:
        """The share to read now: it falls in a line to the target, so that choosing is learnt after deciding."""
        assert self.target is not None
        left = max(0.0, 1 - float(self.steering.steps) / (FALL * self.steps))
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
    with evaluating(network), torch.no_grad():
        packs = (asked[first : first + 32] for first in range(0, len(asked), 32))
        margins = torch.cat([network.margins(**classifier.place(pack)) for pack in packs])
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
