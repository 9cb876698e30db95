"""Whether explanations of planted texts give the highest scores to the reason or to the decoy, text by text."""

from collections.abc import Callable, Sequence

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.evaluation.shared.case import decoy_units, marked_units
from pellucid.evaluation.shared.reason_ranking import average_precision, decoy_above, highest_in_reason


def reason_precision(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: average precision of the reason's words in the ranking of all words; several draws are averaged.

    1 if the reason's words come first, 1 / rank if there is a single one; nan without a marked word.
    """
    return _over_draws(explanations, _precision)


def decoy_first(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: 1 if a decoy's word scores above all words of the reason, 0.5 if they are equal, 0 if below.

    nan without a decoy in `meta["distractors"]` or without a marked word; several draws are averaged.
    """
    return _over_draws(explanations, _above)


def heaviest_in_reason(explanations: Sequence[Explanation]) -> np.ndarray:
    """[example]: 1 if the word with the highest score is one of the reason, else 0; equal ones share.

    nan without a marked word; several draws are averaged.
    """
    return _over_draws(explanations, _heaviest)


def _over_draws(explanations: Sequence[Explanation], of_one: Callable[[Explanation], float]) -> np.ndarray:
    return np.array([np.mean([of_one(draw.words()) for draw in _draws(one)]) for one in explanations])


def _draws(explanation: Explanation) -> list[Explanation]:
    if not explanation.rows:
        return [explanation]
    return [explanation.row(label) for label in explanation.rows[0][1]]


def _precision(words: Explanation) -> float:
    marked = marked_units(words)
    if marked is None or not marked.any():
        return float("nan")
    return average_precision(marked, _scores(words))


def _heaviest(words: Explanation) -> float:
    marked = marked_units(words)
    if marked is None or not marked.any():
        return float("nan")
    return highest_in_reason(marked, _scores(words))


def _above(words: Explanation) -> float:
    reason, decoy = marked_units(words), decoy_units(words)
    if reason is None or decoy is None or not (reason.any() and decoy.any()):
        return float("nan")
    return decoy_above(reason, decoy, _scores(words))


def _scores(words: Explanation) -> np.ndarray:
    return words.scores[~words.units.special]  # type: ignore[union-attr]  # words are never spans
