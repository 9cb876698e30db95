"""DeepLIFT SHAP: the target's rise over a baseline, shared among the pieces by differences; the mean of several baselines.

Shrikumar et al. (2017), "Learning Important Features Through Propagating Activation Differences" (rescale rule);
Lundberg & Lee (2017), "A Unified Approach to Interpreting Model Predictions", section 4.2. Baselines zero and pad as
ThermoStat runs it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.base.wording import listed, quoted
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.precision import quotient, widened
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.05
POINTS = 64  # on the line between the logits of two texts, for targets that are not linear in them


@attributions.add(
    needs={"gradient"},
    cost="2 runs of the model for each baseline, with gradients",
    at_text=False,
    compares=True,
)
def deep_lift_shap(
    run: ForwardPass, target: Explainable, *, baselines: tuple[Baseline, ...] = ("zero", "pad")
) -> Scores:
    """Share the target's rise over blanked texts among the pieces; signed, and 0 at special tokens.

    baselines: what texts are blanked with, one or more of "zero", "pad", "mask" and "mean"; scores are the mean over them.
    Diagnostic `completeness_gap`: |sum of scores - mean rise| / |mean rise|.
    """
    shares = [_against(run, target, run.blank(baseline)) for baseline in _names(baselines)]
    scores = torch.stack([of_baseline.scores for of_baseline in shares]).mean(0)
    rise = torch.stack([of_baseline.rise for of_baseline in shares]).mean(0)
    gaps = ((scores.sum(1) - rise).abs() / rise.abs().clamp_min(1e-6)).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"completeness_gap": gap} for gap in gaps),
        caveats=tuple(_caveats(gap) for gap in gaps),
    )


def _names(baselines: object) -> Sequence[Baseline]:
    names = (baselines,) if isinstance(baselines, str) else baselines
    if not isinstance(names, tuple | list) or not names or len({str(name) for name in names}) < len(names):
        raise BadSetting(
            f"baselines={quoted(baselines)} is not possible; name one or more different ones of {listed(get_args(Baseline))}."
        )
    for name in names:
        one_of("baselines", name, get_args(Baseline))
    return names


@dataclass(frozen=True)
class _Shares:
    """scores: [example unit], rise: [example], against one baseline."""

    scores: Tensor
    rise: Tensor


def _against(run: ForwardPass, target: Explainable, blank: Tensor) -> _Shares:
    """Scores and rise against one baseline, from one pass over the texts and then their baselines."""
    count, embeddings = len(run.batch), run.embeddings
    both = run.of([*range(count)] * 2, torch.cat([embeddings, blank])).under("rescale")
    check_parity(run.model, run.batch.examples, both.logits[:count], run.logits)
    text, blank_text = widened(both.origin(target.readout)).chunk(2)
    weights, rise = _multipliers(partial(both.values_from, target), text, blank_text)
    multipliers = both.vector_jacobian_product(
        target.readout, torch.cat([weights, torch.zeros_like(weights)])
    )[:count]
    return _Shares(((embeddings - blank) * multipliers).sum(-1), rise)


def _multipliers(
    values: Callable[[Tensor], Tensor], text: Tensor, blank_text: Tensor
) -> tuple[Tensor, Tensor]:
    """[example ...] multipliers of the target by the network's own numbers, such as logits, and [example] the target's rise.

    Times the numbers' difference the multipliers sum to the rise. They are the mean gradient on the line between the numbers,
    which is the target's own gradient where the target is linear in them. What their sum misses is added along the line.
    """
    rise = values(text) - values(blank_text)
    step = (text - blank_text).masked_fill(text == blank_text, 0.0)  # a class that is ruled out is so in both
    gradient = torch.zeros_like(text)
    for number in range(POINTS):
        point = (blank_text + (number + 0.5) / POINTS * step).requires_grad_()
        gradient += torch.autograd.grad(values(point).sum(), point)[0] / POINTS
    missed = rise - (gradient * step).flatten(1).sum(-1)
    shares = quotient(missed, step.square().flatten(1).sum(-1))
    return gradient + shares.reshape(-1, *[1] * (step.ndim - 1)) * step, rise


def _caveats(gap: float) -> tuple[str, ...]:
    if gap <= TRUSTED_GAP:
        return ()
    return (
        f"The scores miss {gap:.1%} of the rise they should add up to: the model has a function for which there is no "
        "rescale rule, or the rise is nearly 0.",
    )
