"""Scores of units by what the model answers without each of them, asked as questions of the attack.

The scores are those of the attribution method `occlusion`. As questions they share passes with everything else that is
asked, of all texts, and an order asks only for the units that it needs.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Edit, Omission, Place
from pellucid.results.explanation import Explanation
from pellucid.run.batch import Batch
from pellucid.text.example import Example
from pellucid.text.units import Units, coarsen, text_units


def omissions_of(batch: Batch, example_index: int, places: Sequence[Place]) -> list[Omission | None]:
    """[unit]: the text of a batch without the word that contains a place's first character; None where no piece of it
    is read.

    Places in one word, or in words that share a piece, have equal omissions.
    """
    words, owner = coarsen(batch.units[example_index], "word", batch.examples[example_index].segments)
    pieces: list[list[int]] = [[] for _ in range(len(words))]
    for piece, word in enumerate(owner):
        pieces[word].append(piece)
    numbers = [unit_at(words, place) for place in places]
    rows = {
        word_index: batch.edited(example_index, pieces[word_index], "absent")
        for word_index in set(numbers)
        if word_index is not None
    }
    return [None if word_index is None else Omission(rows[word_index]) for word_index in numbers]


def omissions_at(case: AttackCase, units: Sequence[int]) -> list[Omission]:
    """What is to be asked for the scores of these units."""
    assert case.omissions is not None
    return [omission for unit in units if (omission := case.omissions[unit]) is not None]


def omission_scores(case: AttackCase, units: Sequence[int], answers: np.ndarray) -> np.ndarray:
    """[unit]: scores of these units, highest first to edit; minus infinity where the model reads nothing of a unit.

    answers: [text number], those to `omissions_at`. The number explained is the one of the goal's aim. Scores are
    rounded as explanations are.
    """
    assert case.omissions is not None and case.start is not None
    column = case.goal.aim.column(case.answer)
    numbers = answers[:, column] if len(answers) else np.zeros(0)
    falls = iter((case.start[column] - numbers).astype(np.float32))
    scores = [-np.inf if case.omissions[unit] is None else float(next(falls)) for unit in units]
    return case.goal.aim.first_edited(np.array(scores))


# The words of a text as places, and the scores that an explanation gives to places.


def words_of(example: Example) -> tuple[Place, ...]:
    """All words of a text or pair, punctuation among them."""
    return tuple(
        Place(index, start, end, text[start:end])
        for index, text in enumerate(example.segments)
        for start, end in text_units(text, "word")
    )


def scores_at(explanation: Explanation, places: Sequence[Place]) -> np.ndarray:
    """[unit]: for each place the score of the word that contains its first character; minus infinity where there is
    none.
    """
    view = explanation.view("word")
    units = view.units
    assert isinstance(units, Units)  # views of words are never spans
    numbers = [unit_at(units, place) for place in places]
    return np.array([-np.inf if unit_index is None else float(view.scores[unit_index]) for unit_index in numbers])


def unit_at(units: Units, place: Place) -> int | None:
    """The number of the unit that contains the first character of a place; None where there is none."""
    for index in range(len(units)):
        if units.segment[index] == place.segment and units.start[index] <= place.start < units.end[index]:
            return index
    return None


def moved_places(places: Sequence[Place], edits: Sequence[Edit]) -> list[Place | None]:
    """Where each place of the original text stands once the edits are made; None where nothing stands for it alone.

    An edit of the place itself puts its new text there; of an edit across several places no part belongs to one of
    them.
    """
    return [_moved(place, [edit for edit in edits if edit.segment == place.segment]) for place in places]


def _moved(place: Place, edits: Sequence[Edit]) -> Place | None:
    shift = sum(len(change.after) - (change.end - change.start) for change in edits if change.end <= place.start)
    start = place.start + shift
    touching = [change for change in edits if change.start < place.end and place.start < change.end]
    if not touching:
        return Place(place.segment, start, place.end + shift, place.text)
    edit = touching[0]
    if (edit.start, edit.end) != (place.start, place.end) or not edit.after:
        return None
    return Place(place.segment, start, start + len(edit.after), edit.after)
