"""Gradient-weighted attention: what the target would lose, to first order, without an attention weight.

Barkan et al. (2021), "Grad-SAM: Explaining Transformers via Gradient Self-Attention Maps"; Chefer, Gur & Wolf (2021),
"Generic Attention-model Explainability", equations 5 and 6 (rollout).
"""

from typing import Literal, get_args

from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable

Flow = Literal["mean", "last_layer", "rollout"]


@attributions.add(
    needs={"attention", "gradient"}, cost="1 run of the model, with attention weights and gradients"
)
def attention_gradient(
    run: ForwardPass, target: Explainable, *, flow: Flow = "mean", positive: bool = False
) -> Scores:
    """Attention times the target's gradient by it, summed over the positions that look at a piece; mean of the heads.

    flow: "mean" of all blocks, "last_layer" alone, or "rollout": the product over blocks of the identity plus the mean of the
    heads' positive parts, in the row that the classifier reads. positive: only weights that speak for the target count; each
    head's negative parts become 0. "rollout" needs positive=True, since products of negative parts mean nothing.
    """
    one_of("flow", flow, get_args(Flow))
    if flow == "rollout" and not positive:
        raise BadSetting("flow='rollout' multiplies positive parts only; give positive=True with it.")
    blocks = [
        (weights * gradient).clamp_min(0.0) if positive else weights * gradient
        for weights, gradient in zip(run.attention, run.attention_gradient(target), strict=True)
    ]
    means = [block.mean(1) for block in blocks]
    if flow == "rollout":
        return run.scores(_rolled(run.read_positions(target), means))
    sums = [block.sum(1) for block in (means if flow == "mean" else means[-1:])]
    return run.scores(sum(sums[1:], sums[0]) / len(sums))


def _rolled(positions: Tensor, blocks: list[Tensor]) -> Tensor:
    """positions . product over blocks, top to bottom, of (identity + block), less the positions themselves."""
    row = start = positions.to(blocks[0])[:, None, :]
    for block in reversed(blocks):
        row = row + row @ block
    return (row - start)[:, 0]
