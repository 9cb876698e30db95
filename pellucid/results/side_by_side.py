"""The explanations of several methods for the same texts, why other methods are missing, and how far the methods
agree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from pellucid.base.checks import short_title
from pellucid.base.errors import Failure
from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Mapping[str, Results]):
    """A mapping: method's title -> the results of the texts, in order.

    by_method: that mapping itself. left_out: method that did not run -> why. seconds: how long all methods took
    together, since they share their passes; None where that is not known.
    """

    by_method: Mapping[str, Results]
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None

    def __post_init__(self) -> None:
        alone = self.seconds if len(self.by_method) == 1 else None
        results = {title: _as_results(of_method) for title, of_method in self.by_method.items()}
        of_methods = {title: replace(of_method, seconds=alone) for title, of_method in results.items()}
        object.__setattr__(self, "by_method", of_methods)

    def __getitem__(self, title: str) -> Results:
        return self.by_method[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_method)

    def __len__(self) -> int:
        return len(self.by_method)

    def __repr__(self) -> str:
        texts = len(next(iter(self.by_method.values()), ()))
        return (
            f"<SideBySide: {texts:,} text{'' if texts == 1 else 's'} by {', '.join(map(short_title, self.by_method))}>"
        )

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_side_by_side").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_side_by_side").make(self)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The texts that no method has an explanation of."""
        return next((of_method.failures for of_method in self.values()), ())

    @property
    def by_text(self) -> list[list[Explanation]]:
        """For each text the explanations of all methods."""
        return [list(of_text) for of_text in zip(*self.by_method.values(), strict=True)]

    @property
    def explanations(self) -> Results:
        """All of them in one sequence, method after method."""
        return Results(
            tuple(explanation for of_method in self.by_method.values() for explanation in of_method),
            self.seconds,
            failures=self.failures,
        )


def _as_results(explanations: Sequence[Explanation]) -> Results:
    return explanations if isinstance(explanations, Results) else Results(tuple(explanations))


# How far two rankings of a text's words agree: Kendall's tau-b, and the overlap of the k highest.
#
# Kendall (1945), "The Treatment of Ties in Ranking Problems" (tau-b).

MOST_POINTS = 100  # of an integral: exact up to two hundred equal scores, and to many digits beyond


def tau_b(first: np.ndarray, second: np.ndarray) -> float:
    """[word], [word] -> tau-b of their scores, -1 to 1; nan where one side has a single score for all words."""
    from scipy.stats import kendalltau  # scipy.stats takes most of a second to import

    return float(kendalltau(first, second).statistic) if _is_ranked(first) and _is_ranked(second) else float("nan")


def top_overlap(first: np.ndarray, second: np.ndarray, k: int) -> float:
    """The share of the k words with the highest scores that both have, 0 to 1.

    Equal scores at the edge stand in the same order on both sides; this is the exact mean over all orders. nan where
    there are no more than k words, of which nothing can be chosen, and where one side has a single score for all of
    them.
    """
    if len(first) <= k or not (_is_ranked(first) and _is_ranked(second)):
        return float("nan")
    (above, level, left), (above_other, level_other, left_other) = _edge(first, k), _edge(second, k)
    common = int((level & level_other).sum())
    rest = (int(level.sum()) - common, int(level_other.sum()) - common)
    shared = (above & above_other).sum() + _of_both(common, rest, (left, left_other))
    shared += (above & level_other).sum() * left_other / level_other.sum()
    shared += (level & above_other).sum() * left / level.sum()
    return float(shared) / k


def _edge(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, int]:
    """[word] bool: above the k-th highest score; equal to it; and how many of the latter are among the k."""
    border = np.sort(scores)[-k]
    above = scores > border
    return above, scores == border, k - int(above.sum())


def _of_both(common: int, rest: tuple[int, int], left: tuple[int, int]) -> float:
    """How many words are among the first left[0] of one set and the first left[1] of another, in the mean over orders
    of all.

    The sets have `common` words together, and rest[0] and rest[1] of their own. A random order is that of random
    numbers: given a common word's own, t, how many others stand before it is binomial; over t it is a polynomial.
    """
    if rest == (0, 0):
        return min(left)
    shares = [many / (common + n_own) for many, n_own in zip(left, rest, strict=True)]
    if max(shares) == 1.0 or not common:
        return common * min(shares)
    from scipy.special import bdtr

    points, weights = _gauss((common + sum(rest)) // 2 + 1)
    chance = np.zeros_like(points)
    for before in range(min(*left, common)):
        of_common = bdtr(before, common - 1, points) - (bdtr(before - 1, common - 1, points) if before else 0.0)
        of_rest = (bdtr(min(many - 1 - before, n_own), n_own, points) for many, n_own in zip(left, rest, strict=True))
        chance += of_common * np.prod(list(of_rest), axis=0)
    return common * float(weights @ chance)


@cache
def _gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights, 0 to 1, by which polynomials of a degree below twice the count are integrated exactly."""
    points, weights = np.polynomial.legendre.leggauss(min(count, MOST_POINTS))
    return (points + 1) / 2, weights / 2


def highest(scores: np.ndarray, k: int) -> list[int]:
    """The indices of the k highest scores, highest first, to be shown; ties in reading order, so no number may be made
    of them.
    """
    return np.argsort(-scores, kind="stable")[:k].tolist()


def _is_ranked(scores: np.ndarray) -> bool:
    return len(scores) > 1 and bool(np.ptp(scores) > 0)
