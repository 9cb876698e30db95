"""What teaches the translators: that the head says of a layer's states what it says of the last layer's.

Belrose et al. (2023), "Eliciting Latent Predictions from Transformers with the Tuned Lens", section 3: the loss is the
Kullback-Leibler divergence KL(head(h_L) || head(A_l h_l + b_l)). The texts are read as they are, without masks, since this is
how explanations read them; special tokens are among the pieces, since saliency is decoded there too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from pellucid.base.lazy_attributes import cached_property
from pellucid.models.language_heads.lens import Translators
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import Scheduler
from pellucid.run.trace import Want

# The hidden states of a frozen model: of chosen pieces of some rows, from chosen layers.


@dataclass(frozen=True, eq=False)
class FrozenStates:
    """Runs a model without gradients; rows share passes as the model allows."""

    model: Model

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_for(self.model)

    def of(self, rows: Sequence[Row], pieces: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """For each layer [place width] in float32: the states of each row's pieces, row after row."""
        by_row: dict[int, list[Tensor]] = {}

        def run(numbers: list[int]) -> None:
            with torch.inference_mode(False), torch.no_grad():
                want = Want(hidden=True, deepest=max(layers))
                hidden = self.model.trace([rows[number] for number in numbers], want).hidden
            for line, number in enumerate(numbers):
                by_row[number] = [hidden[layer][line, list(pieces[number])].float() for layer in layers]

        for pack in self._scheduler.packs_of(rows):
            self._scheduler.halving(pack, run)
        ordered = [by_row[number] for number in range(len(rows))]
        return [torch.cat([states[index] for states in ordered]) for index in range(len(layers))]


@dataclass(frozen=True, eq=False)
class TranslatorLoss:
    """The loss of translators under a head that is trained already.

    pieces_a_step: at most so many pieces of the rows of a step are read, drawn by the rows' own ids and the seed.
    """

    head: MaskedHead
    translators: Translators
    states: FrozenStates
    pieces_a_step: int
    seed: int

    def backward(self, rows: list[Row], reading: int) -> float:
        """Add the gradients of the divergence, summed over layers; returns its mean over pieces and layers, in nats."""
        n_layers = self.states.model.n_layers
        most = max(1, self.pieces_a_step // len(rows))
        pieces = [self._drawn(row, reading, most) for row in rows]
        states = self.states.of(rows, pieces, range(n_layers + 1))
        count, total = len(states[-1]), 0.0
        for part in self.head.slices_of_places(count):
            with torch.no_grad():
                teacher = log_softmax(self.head(states[-1][part]), -1)
            for layer in range(n_layers):
                loss = (
                    divergence(teacher, self.head(self.translators(states[layer][part], layer))).sum() / count
                )
                loss.backward()
                total += float(loss.detach()) / n_layers
        return total

    def _drawn(self, row: Row, reading: int, most: int) -> list[int]:
        """At most so many numbers of a row's pieces, in order."""
        generator = generator_for(row, f"pieces of reading {reading}", self.seed)
        return sorted(torch.randperm(len(row), generator=generator)[:most].tolist())


def divergence(teacher: Tensor, logits: Tensor) -> Tensor:
    """[place]: KL(teacher || softmax(logits)) in nats; teacher: log probabilities [place token]."""
    return kl_div(log_softmax(logits, -1), teacher, reduction="none", log_target=True).sum(-1)
