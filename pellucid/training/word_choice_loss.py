"""How a model that reads only some words learns which: REINFORCE with a moving baseline, and a price on reading.

Lei, Barzilay and Jaakkola (2016), section 3.1: the gradient of the expected loss with respect to the generator is the
expectation of loss x gradient of log p(z | x). The moving baseline is ours; it lowers the variance. The cost of penalties
is not sampled: its expectation has a closed form, with the same gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from pellucid.core.passes.batch import Row
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.trace import GateTrace
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.composed.rationale_network import RationaleNetwork
from pellucid.models.composed.steering import Steering
from pellucid.models.poolers.rationale import START

# Tried on made-up texts: with a faster price the share swings, with a slower one it comes too late.
RATE, GAIN = 0.05, 5.0
THRESHOLD_TEXTS = 512  # texts that set the threshold
FALL = 0.5  # the share of all steps in which the share to read falls to the target


@dataclass(frozen=True)
class WordChoiceLoss:
    """The terms of the loss that train the choice of words.

    steering: the moving averages and the price, saved with the weights. target: the share of words to read in the end, or
    None for any. steps: how many training steps there will be. parts: for each part of the step under way, how many texts
    it has, their mean loss, and by how much they read more than wanted.
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
        """The share to read in this step. It falls in a line to the target: the model first learns to decide, then to choose."""
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

    The price keeps the expected share at the target. But a word is read where its probability is above one half; the share
    of such words differs from the expected one, and jumps from step to step. Of many rows some hundreds are used, evenly from first to last.
    """
    network = classifier.network
    if not isinstance(network, RationaleNetwork) or network.pooler.coverage is None:
        return
    target = network.pooler.coverage
    sample = rows[:: -(-len(rows) // THRESHOLD_TEXTS)]
    packs = Scheduler(LONGEST).packs([len(row) for row in sample])
    with evaluating(network), torch.no_grad():
        inputs = (classifier.place([sample[number] for number in pack]) for pack in packs)
        margins = torch.cat([network.margins(**columns) for columns in inputs])
        if len(margins) > 1:
            network.pooler.threshold.copy_(_threshold(margins.float(), target))


def _threshold(margins: Tensor, share: float) -> Tensor:
    """The middle between the last margin inside this share and the next one, so that rounding decides for no word."""
    falling = margins.sort(descending=True).values
    read = min(max(round(share * len(falling)), 1), len(falling) - 1)
    return falling[read - 1 : read + 1].mean()
