"""Gradient x input: the first-order guess of what each piece adds to the target.

Shrikumar et al. (2016), "Not Just a Black Box"; on BERT as GI of Wu & Ong (2021). They read the embedding
layer's output after LayerNorm, where the scores sum to about 0 (LayerNorm ignores scale): layer=0; by default we read
the word embeddings.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import resolution, widened
from pellucid.run.target import Explainable

RIGHT_ANGLE = 1e-3
ORTHOGONAL = (
    "The model normalises what is read here before it adds anything to it, so these scores are 0 by construction and "
    "what is shown is rounding; use integrated_gradients or occlusion."
)


Combination = Literal["sum", "l2"]


@attributions.add(
    needs={"gradient"}, cost="1 run of the model, with gradients, shared with gradient", later={"norm"}
)
def gradient_x_input(
    run: ForwardPass, target: Explainable, *, norm: Combination = "sum", layer: int | None = None
) -> Scores:
    """Inner product of each piece's word embedding with the target's gradient there; signed.

    norm: "sum" adds the products of all dimensions, which is the inner product; "l2" takes the length of their vector, at least 0, as Wu &
    Ong do (GI): it says how much a piece matters, and not in which direction.
    layer: None for word embeddings; l = 0 to the number of blocks for hidden states, 0 being the first block's input.
    Exactly 0 in exact arithmetic where a norm follows the word embeddings at once (ModernBERT, DeBERTa-v3), which
    a caveat says.
    """
    one_of("norm", norm, get_args(Combination))
    gradient, state = run.gradient(target, layer), run.state(layer)
    if norm == "l2":
        return run.scores((gradient * state).norm(dim=-1))
    products = gradient * widened(state)
    scores = products.sum(-1).detach().cpu()
    # A sum that cancels is as uncertain as its terms are large.
    sizes_of_terms = products.double().norm(dim=-1).where(run.content, 0.0).amax(-1)
    lost = run.rounding.gradients * sizes_of_terms
    sizes = (gradient.norm(dim=-1) * widened(state).norm(dim=-1)).detach().cpu()
    return run.scores(
        scores,
        diagnostics=tuple({"resolution": float(f"{size:.2g}")} for size in lost.tolist()),
        caveats=tuple(
            (ORTHOGONAL,) if orthogonal(*example, run.number_type) else ()
            for example in zip(scores, sizes, strict=True)
        ),
    )


def orthogonal(scores: Tensor, sizes: Tensor, dtype: torch.dtype) -> bool:
    """Whether inner products [unit] are no more than this type's rounding, given the most they could be [unit]."""
    seen = bool((sizes > 0).any())
    return seen and bool((scores.abs() <= resolution(dtype, RIGHT_ANGLE) * sizes).all())
