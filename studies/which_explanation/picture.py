"""Leads over random scores as SVG: methods down, some metrics across; of several planted reasons their mean."""

from collections.abc import Sequence

import numpy as np

from pellucid.results.interval import Interval
from pellucid.results.table import CHANCE
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.units import Numbers

DRAWN = ("comprehensiveness", "sufficiency", "decision_flip", "sensitivity_n", "auprc", "reason_found")


def as_picture(numbers: Numbers) -> str:
    """The leads of all methods, metrics side by side."""
    judged = [one for one in numbers["settings"].values() if one["metrics"]]
    metrics = [name for name in DRAWN if judged and all(name in one["metrics"] for one in judged)]
    methods = list(next(iter(judged[0]["metrics"].values()))) if judged else []
    rows = [name for name in methods if name != CHANCE]
    panels = [
        Panel(metric, "better than random →", {name: _lead(judged, metric, name) for name in rows})
        for metric in metrics
    ]
    about = numbers["about"]
    seeds = f"{about['seeds']} seed{'' if about['seeds'] == 1 else 's'}"
    foot = f"{about['n_test']} texts × {seeds}; leads over random scores, text by text, with 95 % intervals"
    return interval_plot(
        f"{about['title']}: leads over random scores", rows, panels, foot, about["seeds"] >= ENOUGH_SEEDS
    )


def _lead(judged: Sequence[Numbers], metric: str, method: str) -> Interval:
    """The mean lead; of several settings with the root of the summed squares of half widths, divided by their
    number.
    """
    leads = [Interval(**one["metrics"][metric][method]["lead"]) for one in judged]
    mean = float(np.mean([one.mean for one in leads]))
    half = float(np.sqrt(np.sum([((one.high - one.low) / 2) ** 2 for one in leads])) / len(leads))
    return Interval(mean, mean - half, mean + half)
