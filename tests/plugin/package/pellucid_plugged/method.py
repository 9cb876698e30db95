"""Plugged gradient: the largest entry of the gradient by each piece's word embedding.

Doe (2030), "On Gradients".
"""

from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import ResolvedTarget


@attributions.add(needs={"gradient"}, cost="1 run of the model, with gradients")
def plugged_gradient(run: ForwardPass, target: ResolvedTarget, *, factor: float = 1.0) -> Scores:
    """The largest entry of the target's gradient by each word embedding, times a factor; signed."""
    return run.scores(factor * run.gradient(target).amax(-1))
