"""AllenNLP's integrated gradients of the loss: ten points from zero, the left ends of equal steps; sizes as shares.

Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023) (corrections.md A1.12).
"""

import torch

from pellucid.attribution.as_published.allennlp import loss_of, normalised_sizes
from pellucid.attribution.shared.paths import lines_to, nodes_of
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(
    needs={"gradient"},
    cost="n_steps runs of the model, with gradients",
    at_text=False,
    signed=False,
    usual=False,
)
def allennlp_integrated(run: ForwardPass, target: Explainable, *, n_steps: int = 10) -> Scores:
    """Size of integrated gradients of the loss, from zero embeddings of all pieces, special tokens too; sums to 1.

    n_steps: equal steps, each read at its left end. So the first point is the text of zeros, and the text itself is never
    read. 10 as in the library.
    """
    at_least("n_steps", n_steps, 1)
    lines = lines_to(run, loss_of(target), torch.zeros_like(run.embeddings)[None])
    return normalised_sizes(run, target, lines.shares(*nodes_of("left", n_steps)))
