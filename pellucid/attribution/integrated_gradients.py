"""Integrated gradients: the gradient averaged along the straight path from a blank text to the text.

Sundararajan, Taly & Yan (2017), "Axiomatic Attribution for Deep Networks", equation 1.
"""

from dataclasses import dataclass

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

    n_steps: midpoints on the path; doubling them about quarters the error. tolerance: if given, a text's steps
    are tripled from n_steps (the old midpoints stay midpoints) until its completeness gap is at most that, or
    tripling would pass 1,024 steps. baselines: the token a blank text is made of, "pad", "mask" or the "zero"
    vector; special tokens keep their own embeddings, so their scores are 0. Diagnostics `completeness_gap`:
    |sum of scores - rise| / |rise|, and `n_steps`.
    """
    at_least("n_steps", n_steps, 1)
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
    path = _path(run, target, baselines)
    slope = path.slope(n_steps)
    steps = torch.full((len(slope),), n_steps)
    while tolerance is not None and (unfinished := _unfinished(path.gaps(slope, steps), steps, tolerance)):
        longer = 3 * int(steps[unfinished[0]])  # all unfinished texts have come equally far
        more = path.part(unfinished).slope(longer, fresh_only=True)
        slope[unfinished, : more.shape[1]] += more
        steps[unfinished] = longer
    gaps = path.gaps(slope, steps).tolist()
    return run.scores(
        (path.difference * slope).sum(-1) / steps[:, None].to(slope),
        diagnostics=tuple(
            {"completeness_gap": gap, "n_steps": float(n)} for gap, n in zip(gaps, steps, strict=True)
        ),
        caveats=tuple(_caveats(gap, TRUSTED_GAP if tolerance is None else tolerance) for gap in gaps),
    )


@dataclass(frozen=True)
class _Path:
    """The way from the blank texts to the texts: difference is 0 at special tokens and padding; rise: [example]."""

    run: ForwardPass
    target: ResolvedTarget
    blank: Tensor
    difference: Tensor
    rise: Tensor

    def part(self, indices: list[int]) -> "_Path":
        """The paths of these examples."""
        run = self.run.part(indices)
        length = max(run.batch.lengths)
        blank, difference = self.blank[indices, :length], self.difference[indices, :length]
        return _Path(run, self.target.select(indices), blank, difference, self.rise[indices])

    def slope(self, steps: int, fresh_only: bool = False) -> Tensor:
        """Sum of gradients at `steps` midpoints, or at those only that a third as many steps did not have."""
        total = torch.zeros_like(self.difference)
        for step in range(steps):
            if not (fresh_only and step % 3 == 1):  # an interval's middle third has the interval's midpoint
                point = self.blank + (step + 0.5) / steps * self.difference
                total += self.run.at(point).gradient(self.target)
        return total

    def gaps(self, slope: Tensor, steps: Tensor) -> Tensor:
        """[example]: how far the scores' sum misses the rise, relative to it."""
        total = (self.difference * slope).sum((1, 2)) / steps.to(slope)
        return (total - self.rise).abs() / self.rise.abs().clamp_min(1e-6)


def _path(run: ForwardPass, target: ResolvedTarget, baselines: Baseline) -> _Path:
    blank = run.blank(baselines)
    rise = run.values(target) - run.at(blank).values(target)
    return _Path(run, target, blank, run.words - blank, rise)


def _unfinished(gaps: Tensor, steps: Tensor, tolerance: float) -> list[int]:
    open_ = (gaps.cpu() > tolerance) & (3 * steps <= MOST_STEPS)
    return open_.nonzero()[:, 0].tolist()


def _caveats(gap: float, allowed: float) -> tuple[str, ...]:
    if gap <= allowed:
        return ()
    return (
        f"The scores miss {gap:.1%} of the rise they should add up to; raise n_steps before trusting single scores.",
    )
