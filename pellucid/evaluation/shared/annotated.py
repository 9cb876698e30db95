"""What each annotator marked, as words, and scores against each of them, averaged."""

from collections.abc import Callable, Sequence

import numpy as np

from pellucid.core.text.example import annotators_of, marked
from pellucid.core.text.units import Units
from pellucid.evaluation.shared.case import Case

Annotated = Sequence[Sequence[np.ndarray]]


def annotated_words(case: Case) -> list[list[np.ndarray]]:
    """For each example, and each annotator who marked a word, [word] bool: True where it is marked."""
    annotated = []
    for view in case.views("word"):
        assert isinstance(view.units, Units)  # views of text units are never spans
        of_all = (marked(view.units, marks) for marks in annotators_of(view.example))
        annotated.append([words for words in of_all if words is not None and words.any()])
    return annotated


def shares_marked(annotated: Annotated) -> list[np.ndarray | None]:
    """For each example [word]: the share of its annotators who marked the word; None where nobody marked any."""
    return [np.mean(of_example, axis=0) if len(of_example) else None for of_example in annotated]


def mean_over_annotators(
    annotated: Annotated, score: Callable[[int, np.ndarray], Sequence[float]], n_columns: int = 1
) -> np.ndarray:
    """[example column]: the score against each annotator, averaged; nan where nobody marked a word.

    score: the number of an example, [word] bool of one annotator -> one number a column.
    """
    rows = [
        np.mean([score(example, words) for words in of_example], axis=0)
        if len(of_example)
        else np.full(n_columns, np.nan)
        for example, of_example in enumerate(annotated)
    ]
    return np.array(rows, dtype=float).reshape(-1, n_columns)
