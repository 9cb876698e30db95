"""Attention: what the classifier's position attends to, in the last block or traced through all blocks.

Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers" (rollout); Wu & Ong (2021), equation 10
(tracing, LAT; corrections.md A2.8). Which position the classification head reads is measured on the model
(`ForwardPass.head_positions`), or known of a written word. The weights are not tied to any class.
"""

from typing import Literal, get_args

from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable

Flow = Literal["last_layer", "rollout", "tracing"]
Heads = Literal["mean", "chain"]
NO_CLASS = "Attention weights belong to no class: they show where the model looks, not for or against what."


@attributions.add(
    needs={"attention", "gradient"},
    cost="1 run of the model, with attention weights",
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

    That is the row of the first piece for BERT and of the last piece for decoders, and the mean of all rows where the head
    pools the mean. flow: "last_layer"; "rollout" multiplies all blocks' weights, each mixed half and half with the
    residual; "tracing" multiplies them without the residual. heads (tracing only): "mean" averages the heads of a block;
    "chain" follows each head through all blocks and averages at the end. residual (tracing only): True mixes the residual
    in, so that "mean" gives rollout. Not tied to a class: the same for every target.
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
    scores = _traced(run.read_positions(target), weights, residual or flow == "rollout")
    return run.scores(scores, caveats=((NO_CLASS,),) * len(run.batch))


def _traced(positions: Tensor, weights: list[Tensor], residual: bool) -> Tensor:
    """positions . product over blocks, top to bottom, of weights or (weights + identity) / 2 a head; mean of heads."""
    row = positions.to(weights[0])[:, None, None, :]
    for layer in reversed(weights):
        row = (row @ layer + row) / 2 if residual else row @ layer
    return row.mean(1)[:, 0]
