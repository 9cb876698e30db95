"""Scores of units by what the model answers without each of them, asked as questions of the attack.

The scores are those of the attribution method `occlusion`. As questions they share passes with everything else that is asked, of all texts, and an
order asks only for the units that it needs.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.attacks.shared.attack_case import AttackCase, Omission, Place
from pellucid.attacks.shared.places import unit_at
from pellucid.core.passes.batch import Batch
from pellucid.core.text.units import coarsen


def omissions_of(batch: Batch, number: int, places: Sequence[Place]) -> list[Omission | None]:
    """[unit]: the text of a batch without the word that contains a place's first character; None where no piece of it is read.

    Places in one word, or in words that share a piece, have equal omissions.
    """
    words, owner = coarsen(batch.units[number], "word", batch.examples[number].segments)
    pieces: list[list[int]] = [[] for _ in range(len(words))]
    for piece, word in enumerate(owner):
        pieces[word].append(piece)
    numbers = [unit_at(words, place) for place in places]
    rows = {one: batch.edited(number, pieces[one], "absent") for one in set(numbers) if one is not None}
    return [None if one is None else Omission(rows[one]) for one in numbers]


def omissions_at(case: AttackCase, units: Sequence[int]) -> list[Omission]:
    """What is to be asked for the scores of these units."""
    assert case.omissions is not None
    return [one for unit in units if (one := case.omissions[unit]) is not None]


def omission_scores(case: AttackCase, units: Sequence[int], answers: np.ndarray) -> np.ndarray:
    """[unit]: scores of these units, highest first to edit; minus infinity where the model reads nothing of a unit.

    answers: [text number], those to `omissions_at`. The number explained is the one of the goal's aim. Scores are rounded as explanations are.
    """
    assert case.omissions is not None and case.start is not None
    column = case.goal.aim.column(case.answer)
    numbers = answers[:, column] if len(answers) else np.zeros(0)
    falls = iter((case.start[column] - numbers).astype(np.float32))
    scores = [-np.inf if case.omissions[unit] is None else float(next(falls)) for unit in units]
    return case.goal.aim.first_edited(np.array(scores))
