"""AllenNLP's SmoothGrad: the loss's mean gradient under noise, summed over the embedding, as a share of the text's.

Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023) (corrections.md A1.12).
"""

import torch

from pellucid.attribution.as_published.allennlp import loss_of, shown
from pellucid.attribution.gradient import CANCELLED, cancels
from pellucid.attribution.smooth_gradient import Moves, sums_of
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

NOISE = 0.01


@attributions.add(
    needs={"gradient"}, cost="n_samples x (1 forward + 1 backward)", signed=False, random=True, usual=False
)
def allennlp_smooth(
    run: ForwardPass, target: Explainable, *, n_samples: int = 10, layer: int | None = None
) -> Scores:
    """Size of the sum over the embedding of the loss's mean gradient, under noise of 1 % of the spread; sums to 1.

    n_samples: 10 as in the library's last release; 25 in 2019. The embedding is not multiplied in. layer: None for word
    embeddings. Where a LayerNorm follows those, as in all of BERT's family, the sum is 0 by construction, and a share
    of it is rounding: all scores are then 0, and a caveat says so; layer=0 reads behind the LayerNorm.
    """
    at_least("n_samples", n_samples, 1)
    moves = Moves.drawn(run, "smooth_gradient", n_samples, NOISE, False, layer)
    mean = sums_of(run, loss_of(target), moves, False, layer).sum(0)[0] / n_samples
    empty = [cancels(one, run.number_type) for one in mean]
    kept = mean.sum(-1) * ~torch.tensor(empty, device=mean.device)[:, None]
    return shown(run, target, kept, [(CANCELLED,) if none else () for none in empty])
