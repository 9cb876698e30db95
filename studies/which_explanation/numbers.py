"""Methods under metrics and checks over seeds, their lead over random scores, and what agrees with the planted
truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.base.kinds import metrics
from pellucid.results.bootstrap import Range, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import CHANCE, Interval
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers
from studies.which_explanation.advice import advice_in_words, advice_rows
from studies.which_explanation.methods import knows_marks
from studies.which_explanation.truth import TRUTH, agreement_with_truth, tau_of_each, truth_runs


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of result.json. Models that have not learnt their planted reason are named and left out."""
    trained, compared = (list(records[stage].values()) for stage in ("trainings", "comparisons"))
    not_learnt = [one for one in trained if one["learnt"] is not None and not one["learnt"]["holds"]]
    left_out = {(one["setting"], one["seed"]) for one in not_learnt}
    judged = [one for one in compared if (one["setting"], one["seed"]) not in left_out]
    missing = {
        setting: sorted(set(range(about["seeds"])) - {one["seed"] for one in compared if one["setting"] == setting})
        for setting in about["settings"]
    }
    advice = advice_rows(judged)
    return {
        "about": about,
        "models": [{name: one[name] for name in ("setting", "seed", "accuracy", "learnt")} for one in trained],
        "settings": {setting: _setting(judged, setting) for setting in about["settings"]},
        "truth": truth(judged, about["resamples"]),
        "advice": {"rows": advice, "words": advice_in_words(advice)},
        "cards": [{name: one[name] for name in ("setting", "seed", "card")} for one in judged],
        "missing": models_with_seeds(missing),
        "machines": count_machines([*trained, *compared]),
    }


def truth(judged: Sequence[Numbers], resamples: int) -> Numbers:
    """metric -> its agreement with the planted truth, over all models that know a reason; empty where there is none.

    knows_marks: whether the metric reads the marked reason itself, as the truth does.
    """
    known = [one for one in judged if TRUTH in one["values"]]
    if not known:
        return {}
    runs = truth_runs(known, CHANCE)
    return {
        metric: {
            "tau": asdict(agreement_with_truth(runs, metric, resamples)),
            "by_model": tau_of_each(runs, metric),
            "knows_marks": knows_marks(metric),
        }
        for metric in runs[0].values
        if metric != TRUTH and all(metric in run.values for run in runs)
    }


def lead(units: Sequence[Numbers], metric: str, method: str) -> Interval:
    """How far a method is ahead of random scores, positive where it is better, over seeds in which texts are nested."""
    sign = 1.0 if units[0]["better"][metric] == "higher" else -1.0
    sides = [np.array([one["values"][metric][name] for one in units], dtype=float) for name in (method, CHANCE)]
    return paired_difference_over_runs(sign * sides[0], sign * sides[1])


def verdict(interval: Interval, seeds: int) -> str:
    """ "better", "worse" or "undecided" against random scores; of too few seeds none."""
    if seeds < ENOUGH_SEEDS:
        return ""
    if not interval.excludes_zero:
        return "undecided"
    return "better" if interval.mean > 0 else "worse"


def _setting(judged: Sequence[Numbers], setting: str) -> Numbers:
    """Of one corpus or reason: each metric with each method's mean and lead, and each check."""
    units = sorted((one for one in judged if one["setting"] == setting), key=lambda one: one["seed"])
    if not units:
        return {"seeds": 0, "metrics": {}, "checks": {}}
    return {
        "seeds": len(units),
        "metrics": {
            metric: {method: _cell(units, metric, method) for method in of_methods}
            for metric, of_methods in units[0]["values"].items()
        },
        "ceiling": units[0]["ceiling"],  # the same texts for all seeds, and no model is asked
        "checks": _checks(units),
    }


def _cell(units: Sequence[Numbers], metric: str, method: str) -> Numbers:
    values = np.array([one["values"][metric][method] for one in units], dtype=float)
    over = None if method == CHANCE else lead(units, metric, method)
    return {
        "value": asdict(mean_over_runs(values, _range(metric))),
        "lead": None if over is None else asdict(over),
        "verdict": "" if over is None else verdict(over, len(units)),
    }


def _range(metric: str) -> Range | None:
    """The ends of a metric's range; those of a metric with another setting are not recorded."""
    facts = metrics.get(metric).facts if metric in metrics.names() else None
    return (facts["lowest"], facts["highest"]) if facts else None


def _checks(units: Sequence[Numbers]) -> Numbers:
    """check -> method -> its mean over lines and seeds by measure, and how many lines passed and failed."""
    checks: dict[str, dict[str, dict[str, list[Mapping[str, object]]]]] = {}
    for unit in units:
        for line in unit["checks"]:
            of_method = checks.setdefault(line["check"], {}).setdefault(line["method"], {})
            of_method.setdefault(line["measure"], []).append(line)
    return {
        check: {
            method: {measure: _summed_up(lines) for measure, lines in by_measure.items()}
            for method, by_measure in of_methods.items()
        }
        for check, of_methods in checks.items()
    }


def _summed_up(lines: Sequence[Mapping[str, object]]) -> Numbers:
    means = [float(str(line["mean"])) for line in lines if line["mean"] is not None]
    return {
        "mean": round(float(np.mean(means)), 4) if means else None,
        "passed": sum(line["passed"] is True for line in lines),
        "failed": sum(line["passed"] is False for line in lines),
        "lines": len(lines),
    }
