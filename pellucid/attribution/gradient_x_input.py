"""Gradient x input: the first-order guess of what each piece adds to the target.

Shrikumar et al. (2016), "Not Just a Black Box"; on BERT as GI of Wu & Ong (2021). They read the embedding
layer's output after LayerNorm, where the scores sum to about 0 (LayerNorm ignores scale); we read the word
embeddings.
"""

from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget


@attributions.add(needs={"gradient"}, cost="1 forward + 1 backward, shared with gradient")
def gradient_x_input(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """Inner product of each piece's word embedding with the target's gradient there; signed."""
    return run.scores((run.gradient(target) * run.words).sum(-1))
