"""What methods say of their own scores: gaps of completeness, errors of sampling by leaving groups out."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.base.checks import percent, readable_number
from pellucid.base.kinds import diagnostics
from pellucid.run.rounding import quotient

SMALL_GAP = 0.05


def _gap_in_brief(gap: float) -> str:
    return f"adds up, off by {percent(gap)}" if gap <= SMALL_GAP else f"sum misses {percent(gap)}"


@diagnostics.add(worst="highest", brief=_gap_in_brief)
def completeness_gap(gap: float) -> str:
    """|sum of scores - what they should add up to|, as a share of the latter."""
    if gap <= SMALL_GAP:
        return f"The scores add up to what they should explain (off by {percent(gap)})."
    return f"The scores miss {percent(gap)} of what they should add up to."


@diagnostics.add(worst="highest")
def n_steps(count: float) -> str:
    """The number of steps that a text needed."""
    return ""


@diagnostics.add(worst="highest")
def n_samples(count: float) -> str:
    """The number of coalitions that the model was evaluated on."""
    return ""


@diagnostics.add(worst="lowest")
def exact(is_exact: float) -> str:
    """1 where the scores were computed exactly, 0 where they were estimated from random draws."""
    return ""


@diagnostics.add(worst="lowest", brief=lambda share: f"stand-in fits {percent(max(share, 0.0))}")
def fit_r2(share: float) -> str:
    """The share of the target's variance over coalitions that a sum of single scores reproduces; at most 1."""
    return f"The simple stand-in model reproduces {percent(max(share, 0.0))} of the model's answers."


@diagnostics.add(worst="highest", brief=lambda error: f"± {readable_number(error)} by other draws")
def standard_error(error: float) -> str:
    """The scores' standard error in the target's own unit, root mean square over the units."""
    return f"With other random draws a score would move by about {readable_number(error)}."


@diagnostics.add(worst="highest", brief=lambda share: f"± {percent(share)} of the largest score")
def relative_error(share: float) -> str:
    """The scores' standard error as a share of the largest score, root mean square over the units."""
    return f"Other random draws would move a score by about {percent(share)} of the largest score."


@diagnostics.add(worst="lowest")
def stability(correlation: float) -> str:
    """The correlation in [-1, 1] with the scores that another run with other draws would give."""
    return ""


# How far scores from random samples may be from the scores of infinitely many samples.
#
# The samples are dealt into groups; each group is left out once. Efron & Stein (1981), "The Jackknife Estimate of
# Variance".

GROUPS = 10


def jackknife_error(sums: Tensor, counts: Tensor, score_of: Callable[[Tensor], Tensor]) -> Tensor:
    """[example]: the scores' standard error, root mean square over the pieces, as a share of the largest score.

    sums: [group moment example unit width], sums of samples; counts: [group]; score_of: means [moment example unit
    width] -> [example unit]. Needs two groups. Samples that are spread evenly on purpose have a smaller error
    than this.
    """
    whole = score_of(sums.sum(0) / counts.sum())
    without_one = torch.stack(
        [score_of((sums.sum(0) - part) / (counts.sum() - n)) for part, n in zip(sums, counts, strict=True)]
    )
    groups = len(without_one)
    variance = (without_one - without_one.mean(0)).square().sum(0) * (groups - 1) / groups
    units = (whole != 0).sum(-1).clamp_min(1)
    return quotient((variance.sum(-1) / units).sqrt(), whole.abs().amax(-1))
