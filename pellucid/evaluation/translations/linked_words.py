"""An explanation of written words as a table of the words that links count: what stands between blanks."""

import re

import numpy as np

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Units


def linked_words(explanation: Explanation) -> np.ndarray:
    """[target word, source word]: scores of units inside a source word added up, those of a target word's rows averaged.

    Raises `BadInput` for an explanation without a row for each written word.
    """
    if [kind for kind, _ in explanation.rows] != ["word"] or len(explanation.example.segments) != 2:
        raise BadInput(
            f"The explanation of {quoted(explanation.example.id)} has no row for each written word; explain a translator's words."
        )
    source, target = explanation.example.segments
    words = explanation.words()
    assert isinstance(words.units, Units)
    columns = _at_words(words.scores, words.units, source)
    places = _places_of_rows(explanation, target)
    counts = np.bincount(places, minlength=len(target.split()))
    table = np.zeros((len(counts), columns.shape[1]))
    np.add.at(table, places, columns)
    return table / np.maximum(counts, 1)[:, None]


def _at_words(scores: np.ndarray, units: Units, source: str) -> np.ndarray:
    """[row, source word]"""
    ends = [match.end() for match in re.finditer(r"\S+", source)]
    table = np.zeros((len(scores), len(ends)))
    for unit, (segment, start) in enumerate(zip(units.segment, units.start, strict=True)):
        if segment == 0:
            table[:, np.searchsorted(ends, start, side="right").clip(max=len(ends) - 1)] += scores[:, unit]
    return table


def _places_of_rows(explanation: Explanation, target: str) -> list[int]:
    """The number of the target word that each row's written word stands in."""
    ends = [match.end() for match in re.finditer(r"\S+", target)]
    places, cursor = [], 0
    for label in explanation.rows[0][1]:
        word = label.partition(" ")[2]  # a row is called by its number and its word
        cursor = target.index(word, cursor)
        places.append(int(np.searchsorted(ends, cursor, side="right")))
        cursor += len(word)
    return places
