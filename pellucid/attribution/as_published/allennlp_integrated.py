"""AllenNLP's integrated gradients: ten left ends of steps from zero, of the loss, as a share of the text's.

Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023) (corrections.md A1.12).
"""

import torch

from pellucid.attribution.as_published.allennlp import loss_of, shown
from pellucid.attribution.shared.paths import lines_to, places_of
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(needs={"gradient"}, cost="n_steps x (1 forward + 1 backward)", signed=False, usual=False)
def allennlp_integrated(run: ForwardPass, target: Explainable, *, n_steps: int = 10) -> Scores:
    """Size of integrated gradients of the loss, from zero embeddings of all pieces, special tokens too; sums to 1.

    n_steps: left ends of equal steps, so the first is the text of zeros itself and the text is never read; 10 as in
    the library.
    """
    at_least("n_steps", n_steps, 1)
    lines = lines_to(run, loss_of(target), torch.zeros_like(run.embeddings)[None])
    return shown(run, target, lines.shares(*places_of("left", n_steps)))
