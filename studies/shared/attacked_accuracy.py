"""How many texts are still answered right under an attack, over seeds and texts.

A run is one attack on one seed's victim: `texts` are dictionaries with `ending`, as `Attempt` has it, and `queries`.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.results import bootstrap
from pellucid.results.table import Interval
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.units import Numbers

PERCENT = 100.0
Runs = Sequence[Numbers]


def standing(run: Numbers, queries: float) -> list[float]:
    """[text] 1 where the text is answered right still, once the attack has given the model so many texts, else 0."""
    return [float(_stands(one, queries)) for one in run["texts"]]


def _stands(text: Numbers, queries: float) -> bool:
    if text["ending"] == "wrong before":
        return False
    return text["ending"] != "success" or text["queries"] > queries


def accuracy(runs: Runs, queries: float) -> Interval:
    """Percent of all texts that are still answered right, the mean over seeds with an interval over seeds and texts."""
    return percent_right([standing(run, queries) for run in runs])


def difference(one: Runs, other: Runs, queries: float) -> Interval:
    """How much lower the accuracy after the second attack is, in points; both on the same seeds and texts."""
    columns = np.array(
        [np.array([standing(a, queries), standing(b, queries)]).T for a, b in zip(one, other, strict=True)]
    )
    return interval_over_seeds(columns, lambda means: PERCENT * (means[..., 0] - means[..., 1]))


def percent_right(right: Sequence[Sequence[float]]) -> Interval:
    """Percent of right answers [seed text], the mean over seeds with an interval over seeds and texts."""
    columns = np.array(right, dtype=float)[:, :, None]
    return interval_over_seeds(columns, lambda means: PERCENT * means[..., 0], bootstrap.PERCENT)
