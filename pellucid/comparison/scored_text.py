"""A text's words with the scores of one method: all that checks read of an explanation."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.results.class_words import class_of
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import tau_b, top_overlap
from pellucid.text.example import Example
from pellucid.text.ranges import drawn_order
from pellucid.text.units import text_units

LARGER = ("word", "sentence", "paragraph")  # units that are words, or cannot be cut into them
Explained = dict[str, list["ScoredText"]]  # method's title -> one an example


@dataclass(frozen=True, eq=False)
class ScoredText:
    """words: in reading order, as the text has them. scores: [word]. label: the explained class. predicted: the model's
    answer.

    Where units are larger than words, they stand for words. id: the example's. other_draws: [draw word], of a method
    that draws several times the scores of the draws after the first.
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
        first_draw = self.scores[None]
        return first_draw if self.other_draws is None else np.concatenate([first_draw, self.other_draws])

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
    for explanation in explanations:
        texts.setdefault(explanation.method, []).append(scored_text(explanation))
    return texts


def alike(first: ScoredText, second: ScoredText) -> bool:
    """Whether scores can be compared: both explain one class of equally many words."""
    return first.label == second.label and len(first.scores) == len(second.scores)


def joined(parts: Iterable[Explained], titles: Sequence[str]) -> Explained:
    """The texts of several parts, one after the other."""
    texts: Explained = {title: [] for title in titles}
    for part in parts:
        for title in titles:
            texts[title] += part[title]
    return texts


# How far two methods, or one method under two models, agree on the words of texts.

TAU = "Kendall's tau"


def top_measure(k: int) -> str:
    """What the overlap of the k highest-scored words is called."""
    return f"overlap of the top {k}" if k > 1 else "same top word"


def tau_of(first: np.ndarray, second: np.ndarray) -> float:
    """[word], [word] -> tau-b; nan where the words are not the same in number, or nothing can be ranked."""
    return tau_b(first, second) if first.shape == second.shape else float("nan")


def top_of(first: np.ndarray, second: np.ndarray, k: int) -> float:
    """[word], [word] -> the share of the k highest that both have; nan where nothing can be chosen."""
    return top_overlap(first, second, k) if first.shape == second.shape else float("nan")


def taus(ones: Sequence[ScoredText], others: Sequence[ScoredText]) -> list[float]:
    """For each text tau-b of both sides' scores; nan where they explain other classes, or nothing can be ranked."""
    return [
        tau_of(first.scores, second.scores) if alike(first, second) else float("nan")
        for first, second in zip(ones, others, strict=True)
    ]


def tops(ones: Sequence[ScoredText], others: Sequence[ScoredText], k: int) -> list[float]:
    """For each text the share of the k highest-scored words that both have; nan as in `taus`."""
    return [
        top_of(first.scores, second.scores, k) if alike(first, second) else float("nan")
        for first, second in zip(ones, others, strict=True)
    ]


# Texts without some of their words, as a person would delete them.

Place = tuple[int, int, int]  # segment, first character, the one after the last


def word_places(example: Example) -> list[Place]:
    """Where the words of an example stand, in reading order."""
    return [
        (segment, start, end)
        for segment, text in enumerate(example.segments)
        for start, end in text_units(text, "word")
    ]


def without_highest(example: Example, text: ScoredText, share: float) -> Example:
    """The example without its highest-scored words, at least one and never all of a segment, and without marks.

    share: of the words. Equal scores at the edge are chosen by a draw from the text's words. An example whose words are
    not those that were scored stays as it is.
    """
    places = word_places(example)
    if len(places) != len(text.scores):
        return replace(example, rationales=())
    count = max(1, round(share * len(places)))
    return without_words(example, [places[word] for word in drawn_order(text.scores, text.words)[:count]])


def without_words(example: Example, removed: Collection[Place]) -> Example:
    """The example without these words, never all of a segment, and without marks."""
    segments = tuple(
        _without(segment, {(start, end) for segment_index, start, end in removed if segment_index == index})
        for index, segment in enumerate(example.segments)
    )
    return replace(example, segments=segments, rationales=())


def _without(text: str, removed: Collection[tuple[int, int]]) -> str:
    """The text without these ranges, with single blanks; as it was where nothing would be left."""
    rest = list(text)
    for start, end in removed:
        rest[start:end] = " " * (end - start)
    return " ".join("".join(rest).split()) or text
