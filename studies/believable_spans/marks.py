"""How spans and post-hoc methods agree with what people marked, all cut at the same length, and how far spans are
ahead.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from pellucid.evidence.eraser_scores import NUMBERS
from pellucid.results.bootstrap import SHARE, Range
from pellucid.results.table import CHANCE
from studies.believable_spans.models import MODELS
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.units import Numbers

# score -> the cut that it is read from: IOU F1 of one span, token F1 of the best words
SCORES = {"iou_f1": "budget", "token_f1": "words"}
WIDTH = 6  # columns of `example_columns`
Columns = dict[str, dict[int, np.ndarray]]  # who -> seed -> [text column]


def marks_of(judged: Mapping[str, Sequence[Numbers]]) -> Numbers:
    """score -> who -> its interval, and own explanation -> best rival and lead; empty where nobody marked anything.

    All are of the texts that every one has explained, so that lengths and texts are the same.
    """
    if not any("marks" in one for units in judged.values() for one in units):
        return {}
    return {score: _score(judged, score, cut) for score, cut in SCORES.items()}


def _score(judged: Mapping[str, Sequence[Numbers]], score: str, cut: str) -> Numbers:
    number = NUMBERS[score]
    own, methods = _own(judged, cut), _methods(judged, cut)
    texts = min(len(one) for by_seed in (*own.values(), *methods.values()) for one in by_seed.values())
    own, methods = ({who: _first(by_seed, texts) for who, by_seed in of.items()} for of in (own, methods))
    rivals = {who: by_seed for who, by_seed in methods.items() if not who.startswith(f"{CHANCE} ")}
    leads = {who: _lead(by_seed, rivals, number) for who, by_seed in own.items()}
    return {
        "texts": texts,
        "who": {who: _interval(by_seed.values(), number, SHARE) for who, by_seed in {**own, **methods}.items()},
        "leads": {who: lead for who, lead in leads.items() if lead is not None},
    }


def _first(by_seed: Mapping[int, np.ndarray], texts: int) -> dict[int, np.ndarray]:
    return {seed: columns[:texts] for seed, columns in by_seed.items()}


def _own(judged: Mapping[str, Sequence[Numbers]], cut: str) -> Columns:
    """How models explain themselves."""
    return {
        MODELS[name].title: {one["seed"]: np.array(_marks_of(one)[cut]) for one in units}
        for name, units in judged.items()
        if "marks" in units[0]
    }


def _marks_of(unit: Numbers) -> Numbers:
    """cut -> columns of a model's own explanations; a unit's file has them under the title that the model then had."""
    (columns,) = unit["marks"].values()
    return dict(columns)


def _methods(judged: Mapping[str, Sequence[Numbers]], cut: str) -> Columns:
    """Post-hoc methods on each model."""
    return {
        f"{method} on {name}": {one["seed"]: np.array(one["method_marks"][method][cut]) for one in units}
        for name, units in judged.items()
        for method in units[0].get("method_marks", {})
    }


def _lead(own: Mapping[int, np.ndarray], rivals: Columns, number: Callable[[np.ndarray], np.ndarray]) -> Numbers | None:
    """The best post-hoc method on any model, and how far one's own explanation is ahead of it, seed by seed; None
    without a shared seed.
    """
    shared = {who: sorted(own.keys() & by_seed.keys()) for who, by_seed in rivals.items()}
    most = max(map(len, shared.values()), default=0)
    if not most:
        return None
    possible = [who for who, seeds in shared.items() if len(seeds) == most]
    best = max(
        possible,
        key=lambda who: float(number(np.array([rivals[who][seed] for seed in shared[who]]).mean((0, 1)))),
    )
    both = [np.concatenate([own[seed], rivals[best][seed]], axis=1) for seed in shared[best]]
    return {"best": best, "seeds": most, "lead": _interval(both, partial(_difference, number))}


def _difference(number: Callable[[np.ndarray], np.ndarray], means: np.ndarray) -> np.ndarray:
    return number(means[..., :WIDTH]) - number(means[..., WIDTH:])


def _interval(
    columns: Iterable[np.ndarray], number: Callable[[np.ndarray], np.ndarray], within: Range | None = None
) -> Numbers:
    return asdict(interval_over_seeds(np.array(list(columns)), number, within))
