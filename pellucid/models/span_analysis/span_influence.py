"""How one span moves the prediction of a self-explaining model: by itself, by its vector, and by being there.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 5, in full (corrections.md A0.5): with
h~ = sum of alpha_m h_m, and scores u . h_m, d h~ / d h_m = alpha_m [I + (h_m - h~) u^T].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ParityBroken
from pellucid.core.passes.target import ResolvedTarget, class_logits, difference
from pellucid.models.span_analysis.span_states import SpanStates


@dataclass(frozen=True)
class Influence:
    """Numbers of some spans, [span] each, as in `core.results.span_analysis.AnalysedSpan`.

    logits: [span class], the head's logits of each span vector.
    """

    weights: Tensor
    logits: Tensor
    values: Tensor
    removals: Tensor
    gradient_norms: Tensor
    direct: Tensor
    by_weights: Tensor


def influence(states: SpanStates, target: ResolvedTarget, first: Tensor, last: Tensor) -> Influence:
    """The influence of the spans with these first and last parts on a logit, or on a difference of two.

    The logit is U_c . h~ + b_c, so its gradient by h_m is alpha_m [U_c + (U_c . (h_m - h~)) u], and U_c . (h_m - h~) is
    what the span's own logit has over the text's. Without span m, h~ is (h~ - alpha_m h_m) / (1 - alpha_m).
    """
    weights, vectors, _ = next(states.some_at_a_time(first, last))
    logits = states.own_logits(vectors)
    values = target.values_of(0, logits)
    over = values - target.values_of(0, states.own_logits(states.pooled[None]))
    direction = _direction(states.head, target)
    gradient = weights[:, None] * (direction + over[:, None] * states.score)
    return Influence(
        weights,
        logits,
        values,
        torch.where(weights < 1, weights * over / (1 - weights), torch.nan),
        gradient.norm(dim=-1),
        weights * direction.norm(),
        weights * over * states.score.norm(),
    )


def _direction(head: Tensor, target: ResolvedTarget) -> Tensor:
    """[width]: the explained number's gradient by the pooled vector."""
    rows = class_logits(head.T, target.problem).T
    own = rows[target.classes[0]]
    return own if target.against is None else difference(own, rows[target.against[0]], target.problem)


def own_votes(states: SpanStates, first: Tensor, last: Tensor, logits: Tensor) -> tuple[Tensor, float]:
    """(weight [class] of the spans whose own highest logit is that class, identity gap) over all spans of a text.

    The head is linear and the weights sum to 1, so the weighted own logits sum to the logits [class]; the gap is the
    largest difference, and `ParityBroken` is raised where it is more than rounding.
    """
    votes, total = torch.zeros_like(logits), torch.zeros_like(logits)
    for weights, vectors, _ in states.some_at_a_time(first, last):
        own = states.own_logits(vectors)
        votes.index_add_(0, own.argmax(-1), weights)
        total += weights @ own
    gap = float((total - logits).abs().max())
    if not gap <= states.rounding * max(1.0, float(logits.abs().max())):
        raise ParityBroken(
            f"The weighted logits of all spans differ from the model's by {gap:.2g}; its spans cannot be analysed. "
            "Please report this with the model."
        )
    return votes, gap
