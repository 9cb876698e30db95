"""Units with their scores: one of them, neighbours joined, and coarser ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.base.errors import BadSetting
from pellucid.text.ranges import runs_above
from pellucid.text.units import Kind, Spans, Units, coarsen

RowAxis = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scored:
    """One unit or span with its score: what `top` lists."""

    text: str
    score: float
    segment: int
    start: int
    end: int


def scored_unit(units: Units | Spans, segments: Sequence[str], scores: np.ndarray, index: int) -> Scored:
    """One unit or span with its text, score and offsets; scores: [unit]."""
    if isinstance(units, Spans):
        segment, start, end = units.characters(index)
    else:
        segment, start, end = units.segment[index], units.start[index], units.end[index]
    text = segments[segment][start:end] if segment >= 0 else units.labels[index]  # type: ignore[union-attr]
    return Scored(text, float(scores[index]), segment, start, end)


def scored_runs(units: Units, segments: Sequence[str], scores: np.ndarray, bar: float) -> list[Scored]:
    """Neighbouring units whose scores [unit] are all above a bar, joined, with their mean score; the best first."""
    runs = []
    for first, last in runs_above(units, scores, bar):
        segment, start, end = units.segment[first], units.start[first], units.end[last]
        mean = float(scores[first : last + 1].mean(dtype=np.float64))
        runs.append(Scored(segments[segment][start:end], mean, segment, start, end))
    return runs


def coarser(
    units: Units | Spans, scores: np.ndarray, kind: Kind, segments: Sequence[str]
) -> tuple[Units, np.ndarray]:
    """The coarser units and their scores [..., unit], added up; a span's score is first shared among its parts."""
    fine, scores = (units.parts, units.share(scores)) if isinstance(units, Spans) else (units, scores)
    if fine.kind == kind:
        return fine, scores
    coarse, index = coarsen(fine, kind, segments)
    sums = np.zeros((*scores.shape[:-1], len(coarse)), dtype=np.float64)
    np.add.at(sums.T, np.array(index, dtype=np.int64), scores.T)  # a view: sums changes
    return coarse, sums


def one_row(
    scores: np.ndarray, rows: Sequence[RowAxis], labels: Sequence[str]
) -> tuple[np.ndarray, tuple[RowAxis, ...]]:
    """The scores of one row by its labels, outermost axis first, and the axes that are left."""
    rest = list(rows)
    for label in labels:
        kind, known = rest.pop(0) if rest else ("row", ())
        if label not in known:
            raise BadSetting(f"There is no {kind} {label!r}; there are: {', '.join(known)}.")
        scores = scores[known.index(label)]
    return scores, tuple(rest)
