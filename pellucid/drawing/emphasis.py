"""How strongly a picture shows a score: the score of the full colour, and which units stand out of the others.

A unit stands out where its score is larger than what the method may err by, and large for this text: where scores are
parts of the answer's own number, beside the lead that the answer has; elsewhere beside what scores of the usual size
would reach by luck. A text in which no unit stands out has no emphasis and pale colours, and a caution says so.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from pellucid.base.checks import percent, readable_number
from pellucid.drawing.method_facts import MethodFacts, explains_state, explains_written, facts_of
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.unit_scores import UnitScores
from pellucid.text.units import Spans

MATTERS = 0.05  # of the answer's lead: what moves it less decides nothing by itself
WEAK = 0.2  # of the strongest score: what is weaker is not emphasised beside it
FEWEST = 4  # units from which the usual size of a text's scores can be said
ERRORS = 2  # standard errors
TO_DEVIATION = 0.6745  # the median size of normal scores, in standard deviations

Scale = Literal["page", "text"]  # what shares a scale: all texts of a page, or the units of one text
ScaleKey = tuple[str, str, str]
Scales = Mapping[ScaleKey, float]


def scale_key(explanation: Explanation) -> ScaleKey:
    """What shares a scale: one method's scores for one output of one model."""
    return explanation.method, explanation.model_hash, explanation.target.output


def largest(view: UnitScores) -> float:
    """The largest absolute score that a picture of the text shows."""
    scores = view.scores[..., ~view.special]
    return float(np.abs(scores).max()) if scores.size else 0.0


def full_colour(view: Explanation) -> float:
    """The score that gets the full colour: the text's largest, or the smallest that would stand out where none does."""
    size = largest(view)
    return size if random_or_spans(view) or not size else max(size, least_that_stands_out(view))


def scales_of(views: Iterable[Explanation]) -> dict[ScaleKey, float]:
    """For each method the score that gets the full colour: the largest on the page."""
    scales: dict[ScaleKey, float] = {}
    for view in views:
        scales[scale_key(view)] = max(scales.get(scale_key(view), 0.0), full_colour(view))
    return scales


def strongest(view: Explanation, k: int = 3) -> list[Scored]:
    """The k units of the text with the largest absolute scores that are not 0, strongest first."""
    order = sorted(view.ranking(), key=lambda index: -abs(view.scores[index]))
    return [view.scored(index) for index in order[:k] if view.scores[index]]


def clear(view: Explanation, k: int = 3) -> list[Scored]:
    """Of the k strongest units those that stand out, without those below a fifth of the strongest: what is
    emphasised. Of random scores none.
    """
    if facts_of(view.method).floor:
        return []
    units, least = strongest(view, k), least_that_stands_out(view)
    return [unit for unit in units if abs(unit.score) >= max(abs(units[0].score) * WEAK, least)]


def plain_caution(view: Explanation) -> list[str]:
    """A sentence where no unit of the text stands out, with the reason; none where one does, or all scores are 0."""
    if random_or_spans(view) or not largest(view) or clear(view, 1):
        return []
    unit = view.units.kind
    size, least = largest(view), least_that_stands_out(view)
    if method_error(view) >= least:
        return [
            f"No {unit} mattered by itself: the largest score, {readable_number(size)}, is within what the method may "
            f"err by, {readable_number(least)}."
        ]
    lead = answer_lead(view)
    if lead is not None:
        return [
            f"No {unit} mattered by itself: the largest score, {readable_number(size)}, is less than "
            f"{percent(MATTERS)} of the answer's lead, {readable_number(lead)}."
        ]
    return [f"No {unit} stands out: the {unit}s of this text have scores of about one size, as random ones would."]


def random_or_spans(view: Explanation) -> bool:
    """Whether the question does not arise: scores are random, or belong to spans, whose weights say more."""
    return isinstance(view.units, Spans) or bool(view.rows) or facts_of(view.method).floor


def least_that_stands_out(view: Explanation) -> float:
    """The size of score from which a unit of this text stands out, in the scores' unit; 0 where nothing is known."""
    lead = answer_lead(view)
    return max(method_error(view), by_luck(view) if lead is None else MATTERS * lead)


def answer_lead(view: Explanation) -> float | None:
    """How far the explained class is from the next one, in the unit of the scores; None where scores have another
    unit, as weights and sizes of gradients do, or where the answer is a value.
    """
    if not _in_units_of_answer(view, facts_of(view.method)):
        return None
    target, prediction = view.target, view.prediction
    if target.against is not None:
        return abs(target.value)
    values = prediction.probabilities if target.output == "probability" else prediction.logits
    if len(values) != len(prediction.labels) or len(values) < 2 or target.label not in prediction.labels:
        return None
    explained = prediction.labels.index(target.label)
    if prediction.gives_several:  # each class is decided alone, at a logit of 0
        return abs(values[explained] - (0.5 if target.output == "probability" else 0.0))
    return abs(values[explained] - max(value for index, value in enumerate(values) if index != explained))


def _in_units_of_answer(view: Explanation, facts: MethodFacts) -> bool:
    is_of_class = facts.of_class and facts.signed and not explains_state(view) and not explains_written(view)
    return is_of_class and view.target.output in ("logit", "probability")


def method_error(view: Explanation) -> float:
    """What the method may err by in one score: rounding, two standard errors of its draws, what its sum misses."""
    known = view.diagnostics
    errors = [
        view.resolution,
        ERRORS * known.get("standard_error", 0.0),
        ERRORS * known.get("relative_error", 0.0) * largest(view),
        min(known.get("completeness_gap", 0.0), 1.0) * abs(float(view.scores.sum(dtype="float64"))),
    ]
    return max((error for error in errors if error == error), default=0.0)


def by_luck(view: Explanation) -> float:
    """The largest of as many normal scores of the text's usual size, in the mean at most: median / 0.6745 times
    sqrt(2 log(2 n)).

    n: the text's units; fewer than four have no usual size, and the result is 0. Donoho and Johnstone (1994), "Ideal
    Spatial Adaptation by Wavelet Shrinkage", with both signs counted.
    """
    sizes = np.abs(view.scores[..., ~view.special]).ravel()
    if len(sizes) < FEWEST:
        return 0.0
    return float(np.median(sizes)) / TO_DEVIATION * math.sqrt(2 * math.log(2 * len(sizes)))
