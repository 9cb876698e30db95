"""Attention: where the position that the classifier reads looks, in the last block or traced through all blocks.

Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers" (rollout); Wu & Ong (2021), equation 10
(tracing, LAT; corrections.md A2.8). What the classifier reads is found out by trying (`run.read`), and the weights are
not tied to any class.
"""

from typing import Literal, get_args

from torch import Tensor

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

Flow = Literal["last_layer", "rollout", "tracing"]
Heads = Literal["mean", "chain"]
NO_CLASS = "Attention weights belong to no class: they show where the model looks, not for or against what."


@attributions.add(
    needs={"attention", "gradient"},
    cost="1 forward with open attention + 1 backward of the head",
    signed=False,
    of_class=False,
)
def attention(
    run: ForwardPass,
    target: Explainable,
    *,
    flow: Flow = "last_layer",
    heads: Heads = "mean",
    residual: bool = False,
) -> Scores:
    """Weight of each piece in the row that the classifier reads; a text's weights, special tokens included, sum to 1.

    The row of the first piece for BERT, of the last for decoders, the mean of all rows where the head pools the mean.
    flow: "last_layer"; "rollout" multiplies all blocks' weights, half residual each; "tracing" multiplies them
    without the residual. heads (tracing only): "mean" averages the heads of a block; "chain" follows each head
    through all blocks and averages at the end. residual (tracing only): with the residual after all, so with "mean" it
    is rollout. Not tied to a class: the same for every target.
    """
    one_of("flow", flow, get_args(Flow))
    one_of("heads", heads, get_args(Heads))
    if flow != "tracing" and (heads == "chain" or residual):
        raise BadSetting(
            f"heads='chain' and residual=True belong to flow='tracing'; with flow={flow!r} the heads are averaged."
        )
    weights = [layer.float() for layer in run.attention]
    if heads == "mean":
        weights = [layer.mean(1, keepdim=True) for layer in weights]
    if flow == "last_layer":
        weights = weights[-1:]
    scores = _traced(run.head_positions, weights, residual or flow == "rollout")
    return run.scores(scores, caveats=((NO_CLASS,),) * len(run.batch))


def _traced(read: Tensor, weights: list[Tensor], residual: bool) -> Tensor:
    """read . product over blocks, top to bottom, of each head's weights, or of (weights + identity) / 2; mean of heads."""
    row = read.to(weights[0])[:, None, None, :]
    for layer in reversed(weights):
        row = (row @ layer + row) / 2 if residual else row @ layer
    return row.mean(1)[:, 0]
