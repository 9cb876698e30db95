"""Attention: where the first token's output looks, in the last block or traced through all blocks.

Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers" (rollout); Wu & Ong (2021), equation 10
(tracing, LAT; corrections.md A2.8). The first token is what first-token classifiers read; in other models it
is one position among many, and the weights are not tied to any class.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.core.checks import one_of
from pellucid.core.errors import BadSetting
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget

Flow = Literal["last_layer", "rollout", "tracing"]
Heads = Literal["mean", "chain"]


@attributions.add(needs={"attention"}, cost="1 forward with open attention", signed=False)
def attention(
    run: ForwardPass, target: ResolvedTarget, *, flow: Flow = "last_layer", heads: Heads = "mean"
) -> Scores:
    """Weight of each piece in the first token's row; the weights of a text, special tokens included, sum to 1.

    flow: "last_layer"; "rollout" multiplies all blocks' weights, half residual each; "tracing" multiplies them
    without the residual. heads (tracing only): "mean" averages the heads of a block; "chain" follows each head
    through all blocks and averages at the end. Not tied to a class: the same for every target.
    """
    one_of("flow", flow, get_args(Flow))
    one_of("heads", heads, get_args(Heads))
    if heads == "chain" and flow != "tracing":
        raise BadSetting(
            f"heads='chain' belongs to flow='tracing'; with flow={flow!r} the heads are averaged."
        )
    weights = [layer.float() for layer in run.attention]
    chains = {"last_layer": _last_layer, "rollout": _rollout, "tracing": lambda w: _tracing(w, heads)}
    return run.scores(
        chains[flow](weights),
        caveats=(
            (
                "Attention weights belong to no class: they show where the model looks, not for or against what.",
            ),
        )
        * len(run.batch),
    )


def _last_layer(weights: list[Tensor]) -> Tensor:
    return weights[-1].mean(1)[:, 0]


def _rollout(weights: list[Tensor]) -> Tensor:
    """e_0 . product over blocks, top to bottom, of (mean over heads + identity) / 2."""
    row = _first_token(weights[0].mean(1))
    for layer in reversed(weights):
        row = (row @ layer.mean(1) + row) / 2
    return row[:, 0]


def _tracing(weights: list[Tensor], heads: Heads) -> Tensor:
    """e_0 . product over blocks, top to bottom, of the heads' mean; or each head's own product, then the mean."""
    layers = [layer.mean(1, keepdim=True) if heads == "mean" else layer for layer in weights]
    row = _first_token(layers[0])
    for layer in reversed(layers):
        row = row @ layer
    return row.mean(1)[:, 0]


def _first_token(like: Tensor) -> Tensor:
    """[..., 1, unit]: all mass on the first piece."""
    row = torch.zeros_like(like[..., :1, :])
    row[..., 0] = 1
    return row
