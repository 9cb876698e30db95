"""Norm-weighted attention: the size of the vector that a piece sends, not only the weight that it is given.

Kobayashi, Kuribayashi, Yokoi & Inui (2020), "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms",
equation 4 and its sum over heads: || sum_h alpha_h f_h(x) ||, where f_h is a head's value through the output projection.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import quotient
from pellucid.run.target import Explainable

Flow = Literal["last_layer", "rollout"]
NO_CLASS = (
    "Norms belong to no class: they show what is carried to where the model reads, not for or against what."
)


@attributions.add(
    needs={"attention", "gradient"},
    cost="2 runs of the model, with attention weights",
    signed=False,
    of_class=False,
)
def attention_norm(run: ForwardPass, target: Explainable, *, flow: Flow = "last_layer") -> Scores:
    """Size of the vector that each piece sends, over all heads, to the position that the classifier reads; >= 0.

    flow: "last_layer"; "rollout" divides every block's norms by their sum in a row, mixes each block half and half with the
    residual and multiplies all blocks, so a text's scores sum to 1. Not tied to a class. Raises `ModelCannot` where a block's heads do not
    end in one linear map.
    """
    one_of("flow", flow, get_args(Flow))
    values = run.head_values
    row = run.read_positions(target).float()
    if flow == "last_layer":
        row = _carried(row, _norms(run.attention[-1], values[-1]))
    else:
        for weights, value in zip(reversed(run.attention), reversed(values), strict=True):
            norms = _norms(weights, value)
            shares = quotient(norms, norms.sum(-1, keepdim=True))
            row = (_carried(row, shares) + row) / 2
    return run.scores(row, caveats=((NO_CLASS,),) * len(run.batch))


def _carried(row: Tensor, matrix: Tensor) -> Tensor:
    """[example query] x [example query key] -> [example key]"""
    return (row[:, None, :] @ matrix)[:, 0]


def _norms(weights: Tensor, values: Tensor) -> Tensor:
    """[example query key]: || sum over heads of weights [.. head query key] x values [.. head key width] ||.

    Computed from the inner products of a key's head values, so that no tensor has size query x key x width.
    """
    inner = torch.einsum("bhkw,bgkw->bkhg", values.double(), values.double())
    shares = weights.double().permute(0, 3, 2, 1)  # [example key query head]
    squares = ((shares @ inner) * shares).sum(-1)
    return squares.clamp_min(0.0).sqrt().transpose(1, 2).float()
