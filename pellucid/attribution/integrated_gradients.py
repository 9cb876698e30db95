"""Integrated gradients: the gradient averaged along the straight path from a blank text to the text.

Sundararajan, Taly & Yan (2017), "Axiomatic Attribution for Deep Networks", equation 1.
"""

import torch
from torch import Tensor

from pellucid.core.checks import at_least
from pellucid.core.forward_pass import Baseline, ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget

MOST_STEPS = 1024
TRUSTED_GAP = 0.05


@attributions.add(complete=True, needs={"gradient"}, cost="n_steps x (1 forward + 1 backward)")
def integrated_gradients(
    run: ForwardPass,
    target: ResolvedTarget,
    *,
    n_steps: int = 32,
    tolerance: float | None = None,
    baselines: Baseline = "pad",
) -> Scores:
    """Share the target's rise, from the blanked text to the text, among the pieces.

    n_steps: midpoints on the path; doubling them about quarters the error. tolerance: if given, steps are
    tripled from n_steps (the old midpoints stay midpoints) until every text's completeness gap is below it, or
    1,024 steps are reached. baselines: the token a blank text is made of, "pad", "mask" or the "zero" vector;
    special tokens keep their own embeddings, so their scores are 0. Diagnostic `completeness_gap`: |sum of
    scores - rise| / |rise|.
    """
    at_least("n_steps", n_steps, 1)
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
    blank = run.blank(baselines)  # special tokens keep their embeddings
    path = run.words - blank  # 0 at special tokens and padding
    rise = target.values(run.logits) - target.values(run.at(blank).logits)
    slope, steps = _midpoints(run, target, blank, path, n_steps, skip_thirds=False), n_steps
    while tolerance is not None and steps * 3 <= MOST_STEPS and _gaps(path, slope / steps, rise).max() > tolerance:
        slope, steps = slope + _midpoints(run, target, blank, path, steps * 3, skip_thirds=True), steps * 3
    gaps = _gaps(path, slope / steps, rise)
    return run.scores(
        (path * slope / steps).sum(-1),
        diagnostics=tuple({"completeness_gap": float(gap), "n_steps": float(steps)} for gap in gaps),
        caveats=tuple(_caveats(float(gap)) for gap in gaps),
    )


def _midpoints(
    run: ForwardPass, target: ResolvedTarget, blank: Tensor, path: Tensor, steps: int, skip_thirds: bool
) -> Tensor:
    """Sum of gradients at the midpoints of `steps` intervals, less those that a third as many already had."""
    slope = torch.zeros_like(path)
    for step in range(steps):
        if not (skip_thirds and step % 3 == 1):  # the middle third of an interval has the interval's midpoint
            slope += run.at(blank + (step + 0.5) / steps * path).gradient(target)
    return slope


def _gaps(path: Tensor, mean_slope: Tensor, rise: Tensor) -> Tensor:
    """[example]: how far the scores' sum misses the rise, relative to it."""
    total = (path * mean_slope).sum((1, 2))
    return (total - rise).abs() / rise.abs().clamp_min(1e-6)


def _caveats(gap: float) -> tuple[str, ...]:
    if gap <= TRUSTED_GAP:
        return ()
    return (
        f"The scores miss {gap:.0%} of the rise they should add up to; raise n_steps or give a tolerance "
        "before trusting single scores.",
    )
