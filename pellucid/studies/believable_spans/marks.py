"""How spans and post-hoc methods agree with what people marked, all cut at the same length, and how far spans are ahead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from pellucid.core.results.table import CHANCE
from pellucid.evaluation.protocols.eraser_scores import NUMBERS
from pellucid.studies.shared.seed_intervals import interval_over_seeds
from pellucid.studies.shared.units import Numbers

# score -> the cut that it is read from: IOU F1 of one span, token F1 of the best words
SCORES = {"iou_f1": "budget", "token_f1": "words"}
WIDTH = 6  # columns of `example_columns`
Columns = dict[str, np.ndarray]  # who -> [seed text column]


def marks_of(judged: Mapping[str, Sequence[Numbers]]) -> Numbers:
    """score -> who -> its interval, and model with spans -> best rival and lead; empty where nobody marked anything."""
    if not any("marks" in one for units in judged.values() for one in units):
        return {}
    return {score: _score(judged, score, cut) for score, cut in SCORES.items()}


def _score(judged: Mapping[str, Sequence[Numbers]], score: str, cut: str) -> Numbers:
    number = NUMBERS[score]
    own, methods = _own(judged, cut), _methods(judged, cut)
    rivals = {who: columns for who, columns in methods.items() if not who.startswith(f"{CHANCE} ")}
    return {
        "who": {who: _interval(columns, number) for who, columns in {**own, **methods}.items()},
        "leads": {who: _leads(columns, rivals, number) for who, columns in own.items() if rivals},
    }


def _own(judged: Mapping[str, Sequence[Numbers]], cut: str) -> Columns:
    """How models explain themselves."""
    return {
        title: np.array([one["marks"][title][cut] for one in units])
        for units in judged.values()
        for title in units[0].get("marks", {})
    }


def _methods(judged: Mapping[str, Sequence[Numbers]], cut: str) -> Columns:
    """Post-hoc methods on each model."""
    return {
        f"{method} on {name}": np.array([one["method_marks"][method][cut] for one in units])
        for name, units in judged.items()
        for method in units[0].get("method_marks", {})
    }


def _leads(own: np.ndarray, rivals: Columns, number: Callable[[np.ndarray], np.ndarray]) -> Numbers:
    """The best post-hoc method on any model, and how far one's own explanation is ahead of it, on the texts and seeds of both."""
    seeds, texts = (min(own.shape[axis], next(iter(rivals.values())).shape[axis]) for axis in (0, 1))
    best = max(rivals, key=lambda who: float(number(rivals[who].mean((0, 1)))))
    both = np.concatenate([own[:seeds, :texts], rivals[best][:seeds, :texts]], axis=2)
    return {"best": best, "lead": _interval(both, partial(_difference, number))}


def _difference(number: Callable[[np.ndarray], np.ndarray], means: np.ndarray) -> np.ndarray:
    return number(means[..., :WIDTH]) - number(means[..., WIDTH:])


def _interval(columns: np.ndarray, number: Callable[[np.ndarray], np.ndarray]) -> Numbers:
    return asdict(interval_over_seeds(columns, number))
