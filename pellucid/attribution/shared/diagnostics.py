"""Diagnostics that several methods give: what each number measures, and what it says to a reader.

A diagnostic of one method alone stands in that method's file.
"""

from pellucid.base.checks import number, percent
from pellucid.base.kinds import diagnostics

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


@diagnostics.add(worst="highest", brief=lambda error: f"± {number(error)} by other draws")
def standard_error(error: float) -> str:
    """The scores' standard error in the target's own unit, root mean square over the units."""
    return f"With other random draws a score would move by about {number(error)}."


@diagnostics.add(worst="highest", brief=lambda share: f"± {percent(share)} of the largest score")
def relative_error(share: float) -> str:
    """The scores' standard error as a share of the largest score, root mean square over the units."""
    return f"Other random draws would move a score by about {percent(share)} of the largest score."


@diagnostics.add(worst="lowest")
def stability(correlation: float) -> str:
    """The correlation in [-1, 1] with the scores that another run with other draws would give."""
    return ""
