"""Gradient: how steeply the target changes with each piece's embedding.

Simonyan, Vedaldi & Zisserman (2014), "Deep Inside Convolutional Networks"; on BERT as GS of Wu & Ong (2021),
"On Explaining Your Explanations of BERT" (their code squares the norm, corrections.md A2.2: same ranking).
"""

from typing import Literal, get_args

from pellucid.core.checks import one_of
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget

Norm = Literal["l2", "l1"]


@attributions.add(needs={"gradient"}, cost="1 forward + 1 backward", signed=False)
def gradient(run: ForwardPass, target: ResolvedTarget, *, norm: Norm = "l2") -> Scores:
    """The size of the target's gradient by each piece's word embedding.

    norm: "l2" (default) or "l1" over the embedding's dimensions, both >= 0. A signed sum is not offered: where a
    LayerNorm follows, as in all of BERT's family, the gradient's entries add up to exactly 0.
    """
    one_of("norm", norm, get_args(Norm))
    slope = run.gradient(target)
    sizes = {"l2": slope.norm(dim=-1), "l1": slope.abs().sum(-1)}
    return run.scores(sizes[norm])
