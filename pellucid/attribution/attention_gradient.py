"""Gradient-weighted attention: what the target would lose, to first order, if a look were not taken.

Barkan et al. (2021), "Grad-SAM: Explaining Transformers via Gradient Self-Attention Maps"; Chefer, Gur & Wolf (2021),
"Generic Attention-model Explainability", equations 5 and 6 (rollout).
"""

from typing import Literal, get_args

from torch import Tensor

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

Flow = Literal["mean", "last_layer", "rollout"]


@attributions.add(needs={"attention", "gradient"}, cost="1 forward with open attention + 1 backward")
def attention_gradient(
    run: ForwardPass, target: Explainable, *, flow: Flow = "mean", positive: bool = False
) -> Scores:
    """Attention times the target's gradient by it, summed over the positions that look at a piece; mean of the heads.

    flow: "mean" of all blocks, "last_layer" alone, or "rollout": the mean heads' positive parts added to what they
    start from, block by block, read where the classifier reads. positive: only looks that speak for the target count;
    each head's negative parts become 0. "rollout" needs positive=True, since products of negative parts mean nothing.
    """
    one_of("flow", flow, get_args(Flow))
    if flow == "rollout" and not positive:
        raise BadSetting("flow='rollout' multiplies positive parts only; give positive=True with it.")
    blocks = [
        (weights * gradient).clamp_min(0.0) if positive else weights * gradient
        for weights, gradient in zip(run.attention, run.attention_gradient(target), strict=True)
    ]
    looks = [block.mean(1) for block in blocks]
    if flow == "rollout":
        return run.scores(_rolled(run.head_positions, looks))
    sums = [look.sum(1) for look in (looks if flow == "mean" else looks[-1:])]
    return run.scores(sum(sums[1:], sums[0]) / len(sums))


def _rolled(read: Tensor, looks: list[Tensor]) -> Tensor:
    """read . product over blocks, top to bottom, of (identity + looks), less read itself."""
    row = start = read.to(looks[0])[:, None, :]
    for look in reversed(looks):
        row = row + row @ look
    return (row - start)[:, 0]
