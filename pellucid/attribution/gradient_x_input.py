"""Gradient x input: the first-order guess of what each piece adds to the target.

Shrikumar et al. (2016), "Not Just a Black Box"; on BERT as GI of Wu & Ong (2021). They read the embedding
layer's output after LayerNorm, where the scores sum to about 0 (LayerNorm ignores scale); we read the word
embeddings.
"""

from torch import Tensor

from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget

RIGHT_ANGLE = 1e-3
ORTHOGONAL = (
    "The model normalises word embeddings before it adds anything to them, so these scores are 0 by construction and "
    "what is shown is rounding; use integrated_gradients or occlusion."
)


@attributions.add(needs={"gradient"}, cost="1 forward + 1 backward, shared with gradient")
def gradient_x_input(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """Inner product of each piece's word embedding with the target's gradient there; signed.

    Exactly 0 in exact arithmetic where a norm follows the word embeddings at once (ModernBERT, DeBERTa-v3), which
    a caveat says.
    """
    slope, words = run.gradient(target), run.words
    scores = (slope * words).sum(-1)
    sizes = slope.norm(dim=-1) * words.norm(dim=-1)
    return run.scores(
        scores, caveats=tuple(_caveats(*example) for example in zip(scores, sizes, strict=True))
    )


def _caveats(scores: Tensor, sizes: Tensor) -> tuple[str, ...]:
    """scores, sizes: [unit], inner products and the most they could be."""
    seen = bool((sizes > 0).any())
    return (ORTHOGONAL,) if seen and bool((scores.abs() <= RIGHT_ANGLE * sizes).all()) else ()
