"""Scores of the models over texts and training seeds, and the paper's claim: the pretrained one is best on each data
set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from pellucid.results.bootstrap import PERCENT, correlation
from pellucid.results.table import Interval
from studies.s3_accuracy.models import PAPER_NAMES, PRETRAINED, TITLES
from studies.s3_accuracy.tasks import TASKS
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

ONE_CLASS = 0.98  # of the answers: a model that gives more of them one class has learnt nothing that tells texts apart


def summarise(task: str, records: Records, about: Numbers) -> Numbers:
    """The numbers of result.json: each model's score, the difference from the pretrained one, claims, and what is
    missing.
    """
    units = list(records["trainings"].values())
    by_model = {name: [one for one in units if one["model"] == name] for name in TITLES}
    measure, n_classes = TASKS[task].measure, len(TASKS[task].labels)
    shown = {name: of for name, of in by_model.items() if of}
    return {
        "about": about,
        "models": {
            name: {
                "seeds": len(of),
                "score": asdict(_score(measure, n_classes, of)),
                "by_seed": [_score(measure, n_classes, [one]).mean for one in of],
                "majority": _commonest(of[0]["labels"]),
                "commonest": _mean_commonest(of),
                "seconds": [round(one["seconds"]) for one in of],
            }
            for name, of in shown.items()
        },
        "claims": [asdict(one) for one in claims(task, shown)],
        "missing": [
            f"{TITLES[name]} (seed {seed})"
            for name, of in by_model.items()
            for seed in sorted(set(range(about["seeds"])) - {one["seed"] for one in of})
        ],
        "machines": count_machines(units),
    }


def claims(task: str, by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """METHODS: the pretrained model beats each of the others; differences in points, over the seeds that both have."""
    paper, measure = TASKS[task].paper or {}, TASKS[task].measure
    tested = []
    for name in TITLES:
        if name == PRETRAINED or name not in by_model or PRETRAINED not in by_model:
            continue
        seeds = sorted({one["seed"] for one in by_model[name]} & {one["seed"] for one in by_model[PRETRAINED]})
        sides = [[one for one in by_model[side] if one["seed"] in seeds] for side in (PRETRAINED, name)]
        if not seeds:
            continue
        points = round(paper[PRETRAINED] - paper[name], 1) if paper else None
        words = f"{PAPER_NAMES[PRETRAINED]} (here {TITLES[PRETRAINED]}) beats the {PAPER_NAMES[name]}"
        measured = difference(measure, len(TASKS[task].labels), sides[0], sides[1])
        tested.append(Claim(words, points, measured, len(seeds), len(sides[0][0]["labels"]), one_class(sides)))
    return tested


def one_class(sides: Sequence[Sequence[Numbers]]) -> str:
    """Which sides give nearly all texts one class, so that a difference says only that the other has learnt "
    "something."""
    names = [PAPER_NAMES[runs[0]["model"]] for runs in sides if _mean_commonest(runs) > ONE_CLASS]
    return f"{' and '.join(names)} answers one class" if names else ""


def _mean_commonest(runs: Sequence[Numbers]) -> float:
    return float(np.mean([_commonest(one["answers"]) for one in runs]))


def difference(measure: str, n_classes: int, more: Sequence[Numbers], less: Sequence[Numbers]) -> Interval:
    """The score of one model less that of another in points, over seeds and the texts that both judged."""
    both = np.concatenate([cells(n_classes, more), cells(n_classes, less)], axis=-1)
    of, half = partial(points_of, measure, n_classes), n_classes**2
    return interval_over_seeds(both, lambda means: of(means[..., :half]) - of(means[..., half:]))


def cells(n_classes: int, runs: Sequence[Numbers]) -> np.ndarray:
    """[seed text label*answer]: 1 in the column of a text's label and the predicted class; runs in the order of their
    seeds.
    """
    ordered = sorted(runs, key=lambda run: run["seed"])
    pairs = [np.array(run["labels"]) * n_classes + np.array(run["answers"]) for run in ordered]
    return np.eye(n_classes**2)[np.array(pairs)]


def points_of(measure: str, n_classes: int, shares: np.ndarray) -> np.ndarray:
    """Shares of texts [... label*answer] -> [...]: the accuracy, or the Matthews correlation, times 100."""
    labels, answers = (np.eye(n_classes)[one] for one in np.divmod(np.arange(n_classes**2), n_classes))
    if measure == "mcc":
        return 100 * correlation(shares, labels, answers)
    return np.asarray(100 * (shares @ (labels * answers).sum(-1)))


def _commonest(classes: Sequence[int]) -> float:
    """The share of the texts that have the class which most of them have."""
    return float(np.bincount(classes).max() / len(classes))


def _score(measure: str, n_classes: int, runs: Sequence[Numbers]) -> Interval:
    within = (-100.0, 100.0) if measure == "mcc" else PERCENT
    return interval_over_seeds(cells(n_classes, runs), partial(points_of, measure, n_classes), within)
