"""Random sets of a text's units, drawn from the text's content: the same for every method, so that edited texts run once for all."""

from dataclasses import dataclass

import numpy as np
import torch

from pellucid.core.foundation.checks import at_least
from pellucid.core.passes.batch import Operator
from pellucid.core.passes.seeds import generator_for
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case


@dataclass(frozen=True)
class RandomEdits:
    """Of one text: removed [edit unit] 0 or 1, and falls [edit], p(whole text) - p(text without them) of the explained class."""

    removed: np.ndarray
    falls: np.ndarray


def random_edits(
    case: Case, purpose: str, n_edits: int, *, unit: Kind, operator: Operator, seed: int
) -> list[RandomEdits]:
    """For each example `n_edits` sets of 1 to n - 1 of its n units, each size as likely; none where it has one unit or less."""
    at_least("n_edits", n_edits, 2)
    sets = [
        _sets(case, example, purpose, n_edits, len(scores), seed)
        for example, scores in enumerate(case.scores(unit))
    ]
    variants = [
        [
            case.batch.rows[example],
            *(case.without(example, np.flatnonzero(one).tolist(), unit, operator) for one in of_text),
        ]
        for example, of_text in enumerate(sets)
    ]
    answers = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    falls = [rows[0, label] - rows[1:, label] for rows, label in answers]
    return [RandomEdits(*pair) for pair in zip(sets, falls, strict=True)]


def _sets(case: Case, example: int, purpose: str, n_edits: int, n_units: int, seed: int) -> np.ndarray:
    """[edit unit]: 1 where a unit is taken out."""
    if n_units < 2:
        return np.zeros((0, n_units))
    generator = generator_for(case.batch.rows[example], purpose, seed)
    sizes = torch.randint(1, n_units, (n_edits,), generator=generator)
    ranks = torch.rand(n_edits, n_units, generator=generator, dtype=torch.float32).argsort(1).argsort(1)
    return (ranks < sizes[:, None]).double().numpy()
