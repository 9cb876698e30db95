"""The words of a text as places, and the scores that an explanation gives to places."""

from collections.abc import Sequence

import numpy as np

from pellucid.attacks.shared.attack_case import Place
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.edits import Edit
from pellucid.core.text.example import Example
from pellucid.core.text.units import Units, text_units


def words_of(example: Example) -> tuple[Place, ...]:
    """All words of a text or pair, punctuation among them."""
    return tuple(
        Place(number, start, end, text[start:end])
        for number, text in enumerate(example.segments)
        for start, end in text_units(text, "word")
    )


def scores_at(explanation: Explanation, places: Sequence[Place]) -> np.ndarray:
    """[unit]: for each place the score of the word that contains its first character; minus infinity where there is none."""
    view = explanation.view("word")
    units = view.units
    assert isinstance(units, Units)  # views of words are never spans
    numbers = [unit_at(units, place) for place in places]
    return np.array([-np.inf if number is None else float(view.scores[number]) for number in numbers])


def unit_at(units: Units, place: Place) -> int | None:
    """The number of the unit that contains the first character of a place; None where there is none."""
    for number in range(len(units)):
        if units.segment[number] == place.segment and units.start[number] <= place.start < units.end[number]:
            return number
    return None


def moved_places(places: Sequence[Place], edits: Sequence[Edit]) -> list[Place | None]:
    """Where each place of the original text stands once the edits are made; None where nothing stands for it alone.

    An edit of the place itself puts its new text there; of an edit across several places no part belongs to one of them.
    """
    return [_moved(place, [one for one in edits if one.segment == place.segment]) for place in places]


def _moved(place: Place, edits: Sequence[Edit]) -> Place | None:
    shift = sum(len(one.after) - (one.end - one.start) for one in edits if one.end <= place.start)
    start = place.start + shift
    touching = [one for one in edits if one.start < place.end and place.start < one.end]
    if not touching:
        return Place(place.segment, start, place.end + shift, place.text)
    edit = touching[0]
    if (edit.start, edit.end) != (place.start, place.end) or not edit.after:
        return None
    return Place(place.segment, start, start + len(edit.after), edit.after)
