"""What teaches the translators: that the head says of a layer's states what it says of the last layer's.

Belrose et al. (2023), "Eliciting Latent Predictions from Transformers with the Tuned Lens", section 3: the loss is the
Kullback-Leibler divergence KL(head(h_L) || head(A_l h_l + b_l)). The texts are read as they are, without masks, since this is
how explanations read them; special tokens are among the pieces, since saliency is decoded there too.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from pellucid.core.passes.batch import Row
from pellucid.core.passes.seeds import generator_for
from pellucid.models.language_heads.lens import Translators
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.training.lens.frozen_states import FrozenStates


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
