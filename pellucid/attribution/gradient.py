"""Gradient: how steeply the target changes with each piece's embedding.

Simonyan, Vedaldi & Zisserman (2014), "Deep Inside Convolutional Networks"; on BERT as GS of Wu & Ong (2021),
"On Explaining Your Explanations of BERT" (their code squares the norm, corrections.md A2.2: same ranking).
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import resolution
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
