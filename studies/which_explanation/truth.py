"""Which metrics rank methods as the planted truth does: Kendall's tau over methods, with a bootstrap over texts, seeds
and reasons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.results.bootstrap import percentile_interval, tallies
from pellucid.results.interval import Interval
from studies.shared.units import Numbers

TRUTH = "reason_found"
RESAMPLES = 1_000
APART = 101  # draws between two uses of the same run in one resample, so that its texts are drawn anew


@dataclass(frozen=True, eq=False)
class TruthRun:
    """A model that has learnt its reason. values: metric -> [method text], higher is better, nan where not judged."""

    reason: str
    seed: int
    values: Mapping[str, np.ndarray]


def truth_runs(units: Sequence[Numbers], chance: str) -> list[TruthRun]:
    """The judged models, all with the same methods; random scores are left out, as no method."""
    runs = []
    for unit in units:
        values = {
            metric: _oriented(of_methods, chance, unit["better"][metric])
            for metric, of_methods in unit["values"].items()
        }
        runs.append(TruthRun(unit["setting"], unit["seed"], values))
    return runs


def agreement_with_truth(runs: Sequence[TruthRun], metric: str, resamples: int = RESAMPLES) -> Interval:
    """tau-b over methods between their means under a metric and under `reason_found`, averaged over runs, with its 95 %
    interval.

    Each resample draws reasons, of each its seeds, and of each run its texts, all with replacement; the same texts for
    the metric and for the truth. A metric that ranks no methods (all means equal, or no text judged) has nan.
    """
    own = np.array([_taus(run, metric, np.ones((1, _n_texts(run))))[0] for run in runs])
    if np.isnan(own).all():
        return Interval(np.nan, np.nan, np.nan)
    generator = np.random.default_rng(0)
    by_run = [_taus(run, metric, np.concatenate(list(tallies(generator, _n_texts(run), resamples)))) for run in runs]
    reasons = list(dict.fromkeys(run.reason for run in runs))
    groups = [[number for number, run in enumerate(runs) if run.reason == reason] for reason in reasons]
    drawn = np.full(resamples, np.nan)
    for draw in range(resamples):
        taus: list[float] = []
        for group in generator.integers(len(groups), size=len(groups)):
            members = groups[group]
            for member in generator.integers(len(members), size=len(members)):
                taus.append(by_run[members[member]][(draw + APART * len(taus)) % resamples])
        known = [tau for tau in taus if tau == tau]
        drawn[draw] = np.mean(known) if known else np.nan
    return percentile_interval(float(np.nanmean(own)), drawn[~np.isnan(drawn)], min(map(_n_texts, runs)))


def tau_of_each(runs: Sequence[TruthRun], metric: str) -> list[list[object]]:
    """[reason, seed, tau over its methods] of each model; what their mean hides. None where a metric ranks no "
    "methods."""
    taus = [float(_taus(run, metric, np.ones((1, _n_texts(run))))[0]) for run in runs]
    return [[run.reason, run.seed, None if tau != tau else tau] for run, tau in zip(runs, taus, strict=True)]


def tau_b_of_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """[draw method], [draw method] -> [draw]: tau-b; nan where one side has a single value."""
    first, second = np.triu_indices(one.shape[1], 1)
    signs, others = (np.sign(side[:, first] - side[:, second]) for side in (one, other))
    scale = np.sqrt((signs**2).sum(1) * (others**2).sum(1))
    return np.divide((signs * others).sum(1), scale, out=np.full(len(one), np.nan), where=scale > 0)


def _taus(run: TruthRun, metric: str, weights: np.ndarray) -> np.ndarray:
    """[draw text] -> [draw]: tau of the means under the metric and under the truth, where texts count by these
    weights.
    """
    return tau_b_of_rows(_means(run.values[metric], weights), _means(run.values[TRUTH], weights))


def _means(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[method text], [draw text] -> [draw method], over the texts that were judged."""
    judged = ~np.isnan(values)
    total, count = weights @ np.where(judged, values, 0.0).T, weights @ judged.T
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def _oriented(of_methods: Mapping[str, Sequence[float | None]], chance: str, better: str) -> np.ndarray:
    sign = 1.0 if better == "higher" else -1.0
    rows = [values for name, values in of_methods.items() if name != chance]
    return sign * np.array(rows, dtype=float)


def _n_texts(run: TruthRun) -> int:
    return int(run.values[TRUTH].shape[1])
