"""Checks that the parts of an explanation fit each other, for explanations read from files, which may contain anything."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pellucid.core.foundation.wording import quoted
from pellucid.core.results.explanation import Explanation, Prediction, RowAxis
from pellucid.core.text.units import BY_SIZE, SPECIAL, Spans, Units


def check_fitting(explanation: Explanation) -> None:
    """Raise `ValueError` where units lie outside their text, or names, classes and numbers do not fit."""
    _check_names(explanation)
    _check_numbers([explanation.target.value, explanation.seed, *explanation.diagnostics.values()])
    _check_rows(explanation.rows)
    _check_row_facts(explanation)
    _check_prediction(explanation.prediction)
    if not np.isfinite(explanation.scores).all():
        raise ValueError("a score is not a finite number")
    units = explanation.units
    _check_offsets(units.parts if isinstance(units, Spans) else units, explanation.example.segments)
    if isinstance(units, Spans):
        _check_spans(units)


def _check_names(explanation: Explanation) -> None:
    """Names and sentences are strings; settings and meta are names with values."""
    target, example = explanation.target, explanation.example
    against = [] if target.against is None else [target.against]
    _check_words([example.id, target.label, *against, target.output])
    _check_words([explanation.method, explanation.model, explanation.model_hash])
    _check_words([*explanation.caveats, *explanation.diagnostics])
    for name, facts in (("settings", explanation.settings), ("meta", example.meta)):
        if not isinstance(facts, Mapping):
            raise ValueError(f"the {name} are {quoted(facts)}, not names with values")


def _check_prediction(prediction: Prediction) -> None:
    _check_words(prediction.labels)
    classes = len(prediction.labels)
    if prediction.label not in prediction.labels or len(set(prediction.labels)) < classes:
        raise ValueError("the predicted class is none of the classes, or two of them share a name")
    if len(prediction.probabilities) not in (0, classes):
        raise ValueError(f"{len(prediction.probabilities)} probabilities for {classes} classes")
    _check_numbers([*prediction.logits, *prediction.probabilities])


def _check_rows(rows: Sequence[RowAxis]) -> None:
    for kind, labels in rows:
        _check_words([kind, *labels])
        if not labels or len(set(labels)) < len(labels):
            raise ValueError(f"the rows by {kind} have no names, or one of them twice")


def _check_row_facts(explanation: Explanation) -> None:
    """Each label of the first axis has diagnostics and caveats, or none has."""
    n_rows = len(explanation.rows[0][1]) if explanation.rows else 0
    if {len(explanation.row_diagnostics), len(explanation.row_caveats)} not in ({0}, {n_rows}):
        raise ValueError("the diagnostics and caveats of rows do not fit the rows")
    for diagnostics, caveats in zip(explanation.row_diagnostics, explanation.row_caveats, strict=True):
        _check_words([*diagnostics, *caveats])
        _check_numbers(diagnostics.values())
    for kind, label in explanation.of_row:
        _check_words([kind, label])


def _check_words(words: Iterable[object]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"a name is {quoted(word)}")


def _check_numbers(numbers: Iterable[object]) -> None:
    for number in numbers:
        if not isinstance(number, int | float):
            raise ValueError(f"a number is {quoted(number)}")


def _check_offsets(units: Units, segments: Sequence[str]) -> None:
    if units.kind not in BY_SIZE:
        raise ValueError(f"its units are {quoted(units.kind)}; there are {', '.join(BY_SIZE)}")
    _check_words(units.labels)
    for segment, start, end in zip(units.segment, units.start, units.end, strict=True):
        size = 0 if segment == SPECIAL else len(segments[segment]) if 0 <= segment < len(segments) else -1
        if not 0 <= start <= end <= size:
            raise ValueError(f"a unit lies at characters {start} to {end} of text {segment}")


def _check_spans(spans: Spans) -> None:
    first, last, count = spans.first, spans.last, len(spans.parts)
    if first.shape != last.shape or not ((first >= 0) & (first <= last) & (last < count)).all():
        raise ValueError("a span begins or ends at a unit that is not there")
    segment = np.array(spans.parts.segment, dtype=np.int64)
    if (segment[first] != segment[last]).any() or (segment[first] == SPECIAL).any():
        raise ValueError("a span lies in two texts, or in none")
