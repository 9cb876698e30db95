"""What AllenNLP's three saliency interpreters share: they explain the loss, and show sizes that sum to 1.

Gardner et al. (2018), "AllenNLP"; Wallace et al. (2019), "AllenNLP Interpret"; details in corrections.md A1.12.
"""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.precision import quotient, widened
from pellucid.core.passes.target import Explainable, ResolvedTarget

NO_LOSS = "A contrast, a regression or a hidden state has no loss; the target itself is explained."


def loss_of(target: Explainable) -> Explainable:
    """The loss of the explained class; the target itself where there is no such thing."""
    return (
        replace(target, output="loss") if isinstance(target, ResolvedTarget) and _has_loss(target) else target
    )


def shown(
    run: ForwardPass, target: Explainable, scores: Tensor, caveats: Sequence[tuple[str, ...]] = ()
) -> Scores:
    """Sizes of scores [example unit], divided by their sum over the text, special tokens included."""
    sizes = widened(scores).abs()
    own = () if _has_loss(target) else (NO_LOSS,)
    told = tuple((*own, *caveat) for caveat in caveats or ((),) * len(run.batch))
    return run.scores(quotient(sizes, sizes.sum(-1, keepdim=True)), caveats=told)


def _has_loss(target: Explainable) -> bool:
    return isinstance(target, ResolvedTarget) and target.against is None and target.problem != "regression"
