"""AllenNLP's simple gradient: gradient x input of the loss, its size, as a share of the text's.

Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023) (corrections.md A1.12).
"""

import torch

from pellucid.attribution.as_published.allennlp import loss_of, normalised_sizes
from pellucid.attribution.gradient_x_input import ORTHOGONAL, orthogonal
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.precision import widened
from pellucid.core.passes.target import Explainable


@attributions.add(needs={"gradient"}, cost="1 run of the model, with gradients", signed=False, usual=False)
def allennlp_simple(run: ForwardPass, target: Explainable) -> Scores:
    """Size of the inner product of each piece's word embedding with the loss's gradient; sums to 1.

    Where a norm follows the word embeddings at once, the products are 0 by construction and a share of them is
    rounding: all scores are then 0, and a caveat says so.
    """
    gradient, embeddings = run.gradient(loss_of(target)), widened(run.embeddings)
    scores, sizes = (gradient * embeddings).sum(-1), gradient.norm(dim=-1) * embeddings.norm(dim=-1)
    empty = [orthogonal(*example, run.number_type) for example in zip(scores, sizes, strict=True)]
    shown = scores * ~torch.tensor(empty, device=scores.device)[:, None]
    return normalised_sizes(run, target, shown, [(ORTHOGONAL,) if is_empty else () for is_empty in empty])
