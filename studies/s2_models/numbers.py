"""How often the models are right, over texts and training seeds, and how often all texts have one class."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from pellucid.results.bootstrap import PERCENT
from pellucid.results.table import Interval
from studies.s2_models.tasks import models_of
from studies.s3_accuracy.models import TITLES
from studies.s3_accuracy.numbers import cells, points_of
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of result.json: accuracy of each model on each data set in percent, and what is missing."""
    runs = list(records["trainings"].values())
    rows, missing = [], {}
    for task, of_task in about["tasks"].items():
        for name in models_of(task):
            own = [run for run in runs if (run["task"], run["model"]) == (task, name)]
            title = f"{TITLES[name]} on {of_task['title']}"
            missing[title] = sorted(set(range(about["seeds"])) - {run["seed"] for run in own})
            if own:
                rows.append(_row(task, name, own, len(of_task["labels"])))
    return {
        "about": about,
        "models": rows,
        "missing": models_with_seeds(missing),
        "machines": count_machines(runs),
    }


def accuracy(runs: Sequence[Numbers], n_classes: int) -> Interval:
    """The share of right answers in percent, over seeds in which texts are nested."""
    return interval_over_seeds(cells(n_classes, runs), partial(points_of, "accuracy", n_classes), PERCENT)


def _row(task: str, name: str, runs: Sequence[Numbers], n_classes: int) -> Numbers:
    labels = np.bincount(runs[0]["labels"])
    return {
        "task": task,
        "model": name,
        "seeds": len(runs),
        "accuracy": asdict(accuracy(runs, n_classes)),
        "by_seed": [accuracy([run], n_classes).mean for run in runs],
        "best_epochs": [best_epoch(run["history"]) for run in runs],
        "commonest": float(labels.max() / labels.sum()),
        "seconds": [round(run["seconds"]) for run in runs],
    }


def best_epoch(history: Sequence[Numbers]) -> int:
    """The epoch that dev chose, from 1."""
    return 1 + max(range(len(history)), key=lambda number: (history[number]["dev_accuracy"], -number))
