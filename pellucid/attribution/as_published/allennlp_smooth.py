"""AllenNLP's SmoothGrad: the loss's mean gradient under noise, summed over the embedding, as a share of the text's.

Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023) (corrections.md A1.12).
"""

import torch

from pellucid.attribution.as_published.allennlp import loss_of, normalised_sizes
from pellucid.attribution.gradient import CANCELLED, cancels
from pellucid.attribution.smooth_gradient import Moves, sums_of
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

NOISE = 0.01


@attributions.add(
    needs={"gradient"},
    cost="n_samples runs of the model, with gradients",
    at_text=False,
    signed=False,
    random=True,
    usual=False,
)
def allennlp_smooth(
    run: ForwardPass, target: Explainable, *, n_samples: int = 10, layer: int | None = None
) -> Scores:
    """Size of the sum over the embedding of the loss's mean gradient, under noise of 1 % of the spread; sums to 1.

    n_samples: 10 as in the library's last release; 25 in 2019. The gradient is not multiplied by the embedding. layer: None
    for word embeddings. A LayerNorm follows those in all of BERT's family. The sum is then 0 by construction, and a share
    of it would be rounding: all scores are 0, and a caveat says so; layer=0 reads behind the LayerNorm.
    """
    at_least("n_samples", n_samples, 1)
    moves = Moves.drawn(run, "smooth_gradient", n_samples, NOISE, layer=layer)
    mean = sums_of(run, loss_of(target), moves, False, layer).sum(0)[0] / n_samples
    empty = [cancels(one, run.number_type) for one in mean]
    shown = mean.sum(-1) * ~torch.tensor(empty, device=mean.device)[:, None]
    return normalised_sizes(run, target, shown, [(CANCELLED,) if is_empty else () for is_empty in empty])
