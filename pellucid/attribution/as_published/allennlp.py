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
    """The loss of the explained class; the target itself where it has no loss."""
    return (
        replace(target, output="loss") if isinstance(target, ResolvedTarget) and _has_loss(target) else target
    )


def normalised_sizes(
    run: ForwardPass, target: Explainable, scores: Tensor, caveats: Sequence[tuple[str, ...]] = ()
) -> Scores:
    """The sizes of scores [example unit], each divided by their sum over the text; special tokens take part.

    caveats: one tuple an example (empty: none).
    """
    sizes = widened(scores).abs()
    own = () if _has_loss(target) else (NO_LOSS,)
    every = tuple((*own, *of_example) for of_example in caveats or ((),) * len(run.batch))
    return run.scores(quotient(sizes, sizes.sum(-1, keepdim=True)), caveats=every)


def _has_loss(target: Explainable) -> bool:
    return isinstance(target, ResolvedTarget) and target.against is None and target.problem != "regression"
