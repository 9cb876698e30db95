"""Explanations as a `shap.Explanation`, for the pictures of the package shap."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.base.checks import every
from pellucid.base.errors import BadInput
from pellucid.base.packages import optional_package
from pellucid.results.explanation import Explanation
from pellucid.text.units import SPECIAL, Spans


def to_shap(
    explanations: Sequence[Explanation],
) -> Any:  # a shap.Explanation, whose package is not read before it is needed
    """All explanations as one `shap.Explanation`, one row each, as shap's text plot reads it.

    A row's base value is the explained value minus the sum of its scores. For a complete method this is the target
    without the text; for others it is only a remainder. Span scores are shared among words. Units are named by their text,
    so `shap.plots.bar(to_shap(results).mean(0))` compares them over texts; for words instead of pieces, give
    `[one.words() for one in results]`.

    explanations: from `explain` or `read`, one or more, each with one row of scores.

    Returns the `shap.Explanation`. Raises `MissingPackage` without the package shap, `BadInput` for an empty list,
    `BadSetting` for scores with several rows.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> as_shap = pellucid.to_shap(pellucid.explain(model, ["A good film."]))
    >>> list(zip(as_shap.feature_names[0], as_shap.values[0].round(2).tolist()))
    [('A', 0.0), ('good', 1.5), ('film', 0.0), ('.', 0.0)]
    """
    package = optional_package("shap")
    explanations = every("explanations", explanations, Explanation, "give what explain or read returned")
    if not explanations:
        raise BadInput("There are no explanations to hand to shap.")
    parts = [one.words() if isinstance(one.units, Spans) else one for one in explanations]
    scores = [_scores(one) for one in parts]
    return package.Explanation(
        values=_ragged(scores),
        base_values=np.array([one.target.value - row.sum() for one, row in zip(parts, scores, strict=True)]),
        data=_ragged([np.array(unit_texts(one), dtype=object) for one in parts]),
        feature_names=[_names(one) for one in parts],
    )


def _scores(explanation: Explanation) -> np.ndarray:
    """[unit]: its scores; raises `BadSetting`, naming the rows, where there are several."""
    explanation.ranking()
    return explanation.scores.astype(np.float64)


def _names(explanation: Explanation) -> list[str]:
    """Each unit's own text, without blanks around it; of a special token its label."""
    units, segments = explanation.units, explanation.example.segments
    assert not isinstance(units, Spans)
    return [
        label if segment == SPECIAL else segments[segment][start:end].strip()
        for label, segment, start, end in zip(
            units.labels, units.segment, units.start, units.end, strict=True
        )
    ]


def _ragged(rows: list[np.ndarray]) -> np.ndarray:
    """An array of arrays, also where all have one length."""
    ragged = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):  # one by one: numpy makes a matrix of rows of one length
        ragged[number] = row
    return ragged


def unit_texts(explanation: Explanation) -> list[str]:
    """Each unit's part of the text up to the next unit: joined, they are the text. Special tokens have an empty part."""
    units, segments = explanation.units, explanation.example.segments
    assert not isinstance(units, Spans)
    texts = [""] * len(units)
    for segment, text in enumerate(segments):
        inside = [index for index in units.content if units.segment[index] == segment]
        bounds = [0, *(units.start[index] for index in inside[1:]), len(text)]
        for index, start, end in zip(inside, bounds, bounds[1:], strict=False):
            texts[index] = text[start:end]
        if inside and segment + 1 < len(segments):
            texts[inside[-1]] += "\n"  # between the texts of a pair
    return texts
