"""A text's words with the scores of one method: all that checks read of an explanation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.corpus.word_counts import class_of
from pellucid.core.results.explanation import Explanation

Explained = dict[str, list["ScoredText"]]  # method's title -> one an example


@dataclass(frozen=True, eq=False)
class ScoredText:
    """words: in reading order, as the text has them. scores: [word]. label: the explained class. predicted: the model's answer.

    Where units are larger than words, they stand for words. id: the example's.
    """

    words: tuple[str, ...]
    scores: np.ndarray
    label: str
    predicted: str
    id: str = ""

    @property
    def relative(self) -> np.ndarray:
        """[word]: the scores divided by the largest size in the text (0 stays 0), so that texts can be joined."""
        largest = np.abs(self.scores).max(initial=0.0)
        return self.scores / largest if largest else self.scores


def scored_text(explanation: Explanation) -> ScoredText:
    """The words and scores of an explanation; of several draws the first."""
    pairs = list(explanation.shown_row())
    return ScoredText(
        tuple(word for word, _ in pairs),
        np.array([score for _, score in pairs], dtype=np.float64),
        class_of(explanation.target),
        explanation.prediction.label,
        explanation.example.id,
    )


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
