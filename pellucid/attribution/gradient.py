"""Gradients: their size, and their product with the embeddings."""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import resolution, widened
from pellucid.run.target import Explainable

Norm = Literal["l2", "l1", "sum"]
CANCELS = 1e-4
CANCELLED = (
    "The model normalises what is read here, so the entries of each gradient add up to 0 by construction and what is "
    "shown is rounding; use norm='l2'."
)


@attributions.add(needs={"gradient"}, cost="1 run of the model, with gradients", signed=False)
def gradient(run: ForwardPass, target: Explainable, *, norm: Norm = "l2", layer: int | None = None) -> Scores:
    """The size of the target's gradient by each piece's word embedding.

    How steeply the target changes with each piece's embedding.

    Source: Simonyan, Vedaldi & Zisserman (2014), "Deep Inside Convolutional Networks"; on BERT as GS of
    Wu & Ong (2021), "On Explaining Your Explanations of BERT" (their code squares the norm,
    corrections.md A2.2: same ranking).

    norm: "l2" (default) or "l1" over the embedding's dimensions, both >= 0; "sum" adds the entries with their signs. That
    sum is 0 where a LayerNorm follows, as in all of BERT's family at the word embeddings (a caveat says so).
    layer: None for word embeddings; l = 0 to the number of blocks for hidden states, 0 being the first block's input.
    """
    one_of("norm", norm, get_args(Norm))
    gradient = run.gradient(target, layer)
    caveats = (
        tuple((CANCELLED,) if cancels(one, run.number_type) else () for one in gradient)
        if norm == "sum"
        else ()
    )
    return run.scores(size_of(gradient, norm), caveats=caveats)


def size_of(gradient: Tensor, norm: Norm) -> Tensor:
    """[..., width] -> [...]: one number for each gradient."""
    if norm == "sum":
        return gradient.sum(-1)
    return gradient.norm(dim=-1) if norm == "l2" else gradient.abs().sum(-1)


def cancels(gradient: Tensor, dtype: torch.dtype) -> bool:
    """Whether the entries of every gradient [unit width] add up to no more than the rounding of this number type."""
    sizes = gradient.abs().sum(-1)
    allowed = (
        resolution(dtype, CANCELS) * sizes
        + gradient.shape[-1] * torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    )
    return bool((sizes > 0).any()) and bool((gradient.sum(-1).abs() <= allowed).all())


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

    The first-order guess of what each piece adds to the target.

    Source: Shrikumar et al. (2016), "Not Just a Black Box"; on BERT as GI of Wu & Ong (2021). They read
    the embedding layer's output after LayerNorm, where the scores sum to about 0 (LayerNorm ignores
    scale): layer=0; by default we read the word embeddings.

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
