"""A text's words with the scores of one method: all that checks read of an explanation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.corpus.word_counts import class_of
from pellucid.core.results.explanation import Explanation

LARGER = ("word", "sentence", "paragraph")  # units that are words, or cannot be cut into them
Explained = dict[str, list["ScoredText"]]  # method's title -> one an example


@dataclass(frozen=True, eq=False)
class ScoredText:
    """words: in reading order, as the text has them. scores: [word]. label: the explained class. predicted: the model's answer.

    Where units are larger than words, they stand for words. id: the example's. other_draws: [draw word], of a method that draws
    several times the scores of the draws after the first.
    """

    words: tuple[str, ...]
    scores: np.ndarray
    label: str
    predicted: str
    id: str = ""
    other_draws: np.ndarray | None = None

    @property
    def draws(self) -> np.ndarray:
        """[draw word]: the scores of all draws; of a method that does not draw several times, its scores."""
        own = self.scores[None]
        return own if self.other_draws is None else np.concatenate([own, self.other_draws])

    @property
    def relative(self) -> np.ndarray:
        """[word]: the scores divided by the largest size in the text (0 stays 0), so that texts can be joined."""
        largest = np.abs(self.scores).max(initial=0.0)
        return self.scores / largest if largest else self.scores


def scored_text(explanation: Explanation) -> ScoredText:
    """The words and scores of an explanation; of several draws the first, with the others beside it."""
    pairs = list(explanation.shown_row())
    return ScoredText(
        tuple(word for word, _ in pairs),
        np.array([score for _, score in pairs], dtype=np.float64),
        class_of(explanation.target),
        explanation.prediction.label,
        explanation.example.id,
        _other_draws(explanation),
    )


def _other_draws(explanation: Explanation) -> np.ndarray | None:
    if [kind for kind, _ in explanation.rows] != ["draw"]:
        return None
    view = explanation if explanation.units.kind in LARGER else explanation.words()
    return view.scores[1:, ~view.special].astype(np.float64)


def by_method(explanations: Iterable[Explanation]) -> Explained:
    """Method's title -> its texts, in the order of the explanations."""
    texts: Explained = {}
    for one in explanations:
        texts.setdefault(one.method, []).append(scored_text(one))
    return texts


def alike(one: ScoredText, other: ScoredText) -> bool:
    """Whether scores can be compared: both explain one class of equally many words."""
    return one.label == other.label and len(one.scores) == len(other.scores)


def joined(parts: Iterable[Explained], titles: Sequence[str]) -> Explained:
    """The texts of several parts, one after the other."""
    texts: Explained = {title: [] for title in titles}
    for part in parts:
        for title in titles:
            texts[title] += part[title]
    return texts
