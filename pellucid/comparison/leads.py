"""How far each method is ahead of random scores on the same texts: paired tests with Holm's correction.

Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure": over all tests of a comparison, the probability
of one or more wrong rejections stays below the level, whatever depends on what.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.catalogue import Call
from pellucid.results.bootstrap import Combine, MetricValues, combined_means, holm, paired_interval, paired_p
from pellucid.results.table import LEVEL, Interval

Values = Mapping[tuple[str, str], MetricValues]


@dataclass(frozen=True, eq=False)
class Lead:
    """A method's lead over random scores under one metric; positive where the method is better.

    method, metric: titles. judges: what the metric judges, "faithfulness", "truth" or "plausibility". by_text:
    [example], nan where a side was not judged. mean: with its interval (`paired_interval`). p: of a two-sided paired
    test (`paired_p`), with Holm's correction once `corrected` has been applied.
    """

    method: str
    metric: str
    judges: str
    by_text: np.ndarray
    mean: Interval
    p: float

    @property
    def n(self) -> int:
        """Texts that both sides were judged on."""
        return int((~np.isnan(self.by_text)).sum())


def leads_over_chance(values: Values, methods: Sequence[str], chance: str, metrics: Sequence[Call]) -> list[Lead]:
    """The leads of all methods but chance under all metrics, corrected together. values: (method, metric) -> values of
    all texts.
    """
    floor = {call.title: _by_text(values[chance, call.title]) for call in metrics}
    leads = []
    for method in methods:
        for call in metrics if method != chance else ():
            sign = 1 if call.entry.facts["better"] == "higher" else -1
            by_text = sign * (_by_text(values[method, call.title]) - floor[call.title])
            differences = by_text[~np.isnan(by_text)]
            leads.append(
                Lead(
                    method,
                    call.title,
                    str(call.entry.facts["judges"]),
                    by_text,
                    paired_interval(differences),
                    paired_p(differences),
                )
            )
    return corrected(leads)


def overall_leads(leads: Sequence[Lead]) -> dict[str, np.ndarray]:
    """method -> [example]: its leads, averaged over the metrics in standard deviations of the leads of all methods
    under each.

    A text counts with the metrics that judged it. Metrics under which no lead varies are left out.
    """
    totals: dict[str, list[np.ndarray]] = {}
    for metric in dict.fromkeys(lead.metric for lead in leads):
        of_metric = [lead for lead in leads if lead.metric == metric and lead.n > 1]
        scale = math.sqrt(np.mean([np.nanvar(lead.by_text, ddof=1) for lead in of_metric])) if of_metric else 0.0
        for lead in of_metric if scale > 0 else ():
            totals.setdefault(lead.method, []).append(lead.by_text / scale)
    return {method: _mean_without_nan(np.stack(rows)) for method, rows in totals.items()}


def fewest_texts_for_marks(n_tests: int) -> int:
    """The fewest texts on which so many tests together can reach `LEVEL`, where one method is ahead on every text."""
    return 1 + math.ceil(math.log2(max(n_tests, 1) / LEVEL + 1e-9))


def corrected(leads: Sequence[Lead]) -> list[Lead]:
    """The leads with Holm's correction over all of them."""
    return [replace(lead, p=p) for lead, p in zip(leads, holm([lead.p for lead in leads]), strict=True)]


def _by_text(values: MetricValues) -> np.ndarray:
    """[example]: one number a text, averaged over a method's draws."""
    return pseudo_values(values.columns.mean(0), values.combine)


def _mean_without_nan(rows: np.ndarray) -> np.ndarray:
    """[metric example] -> [example]; nan where no metric judged the example."""
    counts = (~np.isnan(rows)).sum(0)
    return np.where(counts, np.nansum(rows, 0) / np.maximum(counts, 1), np.nan)


# A number for each text whose mean is the metric's number, so that texts can be compared in pairs.
#
# Tukey's jackknife pseudo-values: n θ - (n - 1) θ without the text (Efron & Tibshirani 1993, section 11.3). Of a mean
# they are the values themselves.


def pseudo_values(columns: np.ndarray, combine: Combine = "mean") -> np.ndarray:
    """[example column] -> [example]; nan where an example is not judged."""
    values = np.full(len(columns), np.nan)
    judged = ~np.isnan(columns).any(1)
    rows, n = columns[judged], int(judged.sum())
    if n < 2:
        values[judged] = combined_means(rows, combine)
        return values
    whole, without = rows.mean(0), (rows.sum(0) - rows) / (n - 1)
    values[judged] = n * combined_means(whole, combine) - (n - 1) * combined_means(without, combine)
    return values


# What the tests of a comparison say of each method, and all thresholds of the trust card, which were set before any
# study used it.

FEWEST_TEXTS = 100
"""On fewer texts nothing is recommended: a lead of .3 standard deviations is then missed every fifth time even by one
test alone.
"""

ENOUGH = 0.5
"""A method is called faithful if it is ahead on more than this share of the measures: one measure can be won by its
peculiarities, such as texts that the model was not trained on.
"""

MUCH_FASTER = 0.5
"""A method is named as the fast one if it takes at most this share of the time of the best one; less is not worth
another method.
"""

FAITHFULNESS, TRUTH, PLAUSIBILITY = "faithfulness", "truth", "plausibility"


@dataclass(frozen=True)
class Standing:
    """Where one method stands against random scores: its leads that are above 0, below 0 and neither, and the checks it
    fails.
    """

    method: str
    ahead: tuple[Lead, ...]
    behind: tuple[Lead, ...]
    level: tuple[Lead, ...]
    failures: tuple[str, ...] = ()

    @property
    def n_measures(self) -> int:
        """How many measures judged the method."""
        return len(self.ahead) + len(self.behind) + len(self.level)

    @property
    def is_faithful(self) -> bool:
        """Ahead on enough measures and on each that knows the truth, behind on none, and no check failed."""
        truth_missed = any(lead.judges == TRUTH for lead in self.level)
        enough = len(self.ahead) > ENOUGH * self.n_measures
        return enough and not (self.behind or self.failures or truth_missed)

    @property
    def is_useless(self) -> bool:
        """It fails a check, or is ahead of random scores on no measure."""
        return bool(self.failures) or not self.ahead


def standings(leads: Sequence[Lead], failures: Mapping[str, Sequence[str]]) -> list[Standing]:
    """Each method's standing on measures of faithfulness and truth with enough texts. failures: method -> checks it
    fails.
    """
    judged = [lead for lead in leads if lead.judges in (FAITHFULNESS, TRUTH) and lead.n >= FEWEST_TEXTS]
    result = []
    for method in dict.fromkeys(lead.method for lead in leads):
        of_method = [lead for lead in judged if lead.method == method]
        result.append(
            Standing(
                method,
                tuple(lead for lead in of_method if is_ahead(lead)),
                tuple(lead for lead in of_method if lead.p < LEVEL and lead.mean.mean < 0),
                tuple(lead for lead in of_method if not lead.p < LEVEL),
                tuple(failures.get(method, ())),
            )
        )
    return result


def is_ahead(lead: Lead) -> bool:
    """Whether the method is better than random scores under this metric, beyond the luck of all tests made."""
    return lead.p < LEVEL and lead.mean.mean > 0


def ranked(leads: Sequence[Lead], methods: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the best method and those that cannot be told apart from it, all others), both by their mean lead over all of
    these metrics.
    """
    overall = {method: by_text for method, by_text in overall_leads(leads).items() if method in methods}
    order = sorted(overall, key=lambda method: -_mean(overall[method]))
    if not order:
        return [], []
    best, *others = order
    p_values = holm([paired_p(_known(overall[best] - overall[method])) for method in others])
    level = [method for method, p in zip(others, p_values, strict=True) if not p < LEVEL]
    return [best, *level], [method for method in others if method not in level]


def _mean(by_text: np.ndarray) -> float:
    return float(_known(by_text).mean())


def _known(by_text: np.ndarray) -> np.ndarray:
    """Without the texts that were not judged."""
    return by_text[~np.isnan(by_text)]
