"""What the plausibility metrics share: the words a person marked, and as many of the best-scored words.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from pellucid.base.checks import at_least, between
from pellucid.comparison.case import Case
from pellucid.run.model import Model
from pellucid.text.example import Example, annotators_of, marked
from pellucid.text.ranges import (
    choose_ranges,
    contents_of,
    drawn_numbers,
    highest_mean,
    pick_drawn,
    shared_out,
    top_count,
)
from pellucid.text.units import Units, coarsen

Marks = Sequence[np.ndarray | None]
DRAWS = 500  # selections of a text with equal scores, where there are more of them
SPAN_DRAWS = 40  # the same of spans, which take longer to choose


def marked_words(case: Case) -> list[np.ndarray | None]:
    """For each example [word] bool: True where a person marked the word; None where no word is marked."""
    return [_any(marks) for marks in case.rationales("word")]


def _any(marks: np.ndarray | None) -> np.ndarray | None:
    return marks if marks is not None and marks.any() else None


def selection_chances(case: Case, marks: Marks, budget: float | None, n_spans: int | None = None) -> list[np.ndarray]:
    """For each example [word], 0 to 1: the share of the selections of `selected_words` that have the word, exact
    without n_spans.
    """
    if n_spans is not None:
        return [selected_word.mean(0) for selected_word in selected_words(case, marks, budget, n_spans)]
    share = _budget(case, marks, budget)
    return [_edge(scores, share).chances for scores in case.scores("word")]


def selected_words(case: Case, marks: Marks, budget: float | None, n_spans: int | None = None) -> list[np.ndarray]:
    """For each example [selection word] bool: the best-scored words, as many as the budget allows, at least one.

    Several selections where equal scores leave a choice: all of them, or `DRAWS` that are drawn from what the words
    are.

    marks: for each example [word], marked or not, or the share of annotators who marked the word.

    budget: share of a text's words; None: the mean share of marked words over the examples that have marks, so that the
    selection is as long as people's on average and reveals nothing of a single text. n_spans: the words form at most so
    many spans in each text of an example, those with the highest mean score; None: they may be anywhere.
    """
    share, units = _budget(case, marks, budget), [view.units for view in case.views("word")]
    contents = [contents_of(unit) for unit in units if isinstance(unit, Units)]  # views of words are never spans
    if n_spans is None:
        return [
            _edge(scores, share).selections(of_text)
            for scores, of_text in zip(case.scores("word"), contents, strict=True)
        ]
    at_least("n_spans", n_spans, 1)
    scored = zip(case.scores("word"), case.segments("word"), contents, strict=True)
    return [_in_spans(*of_example, share=share, n_spans=n_spans) for of_example in scored]


@dataclass(frozen=True)
class _Edge:
    """The best-scored words of a text. above: [word] bool, those chosen anyway. level: the equal ones of which `left`
    are chosen.
    """

    above: np.ndarray
    level: np.ndarray
    left: int

    @property
    def chances(self) -> np.ndarray:
        chances = self.above.astype(float)
        chances[self.level] = self.left / len(self.level)
        return chances

    def selections(self, contents: Sequence[str]) -> np.ndarray:
        """[selection word] bool."""
        if comb(len(self.level), self.left) <= DRAWS:
            words = np.array(list(combinations(self.level, self.left)))
        else:
            numbers = drawn_numbers(contents, DRAWS)[:, self.level]
            words = self.level[numbers.argsort(1)[:, : self.left]]
        masks = np.tile(self.above, (len(words), 1))
        np.put_along_axis(masks, words, True, 1)
        return masks


def _edge(scores: np.ndarray, share: float) -> _Edge:
    count = top_count(len(scores), share)
    border = np.sort(scores)[-count]
    above = scores > border
    return _Edge(above, np.flatnonzero(scores == border), count - int(above.sum()))


def _in_spans(
    scores: np.ndarray, segments: np.ndarray, contents: Sequence[str], *, share: float, n_spans: int
) -> np.ndarray:
    """[selection word] bool: the best spans of each segment; together they are as long as the budget."""
    numbers = drawn_numbers(contents, SPAN_DRAWS)
    masks = np.zeros(numbers.shape, dtype=bool)
    for segment in np.unique(segments):
        words = np.flatnonzero(segments == segment)
        lengths = shared_out(top_count(len(words), share), n_spans)
        for mask, drawn in zip(masks, numbers[:, words], strict=True):
            best = highest_mean(scores[words], pick_drawn(drawn))
            for word_range in choose_ranges(len(words), lengths, best):
                mask[words[list(word_range)]] = True
    return masks[:1] if (masks == masks[0]).all() else masks


def _budget(case: Case, marks: Marks, budget: float | None) -> float:
    share = _share(case, marks) if budget is None else budget
    between("budget", share, 0.0, 1.0)
    return share


def _share(case: Case, marks: Marks) -> float:
    return mean_share(marks) if case.marked_share is None else case.marked_share


def marked_share(model: Model, examples: Sequence[Example]) -> float:
    """The mean share of marked words over these examples and their annotators; needs no explanations."""
    return mean_share([_marks(model, example) for example in examples if annotators_of(example)])


def _marks(model: Model, example: Example) -> np.ndarray | None:
    """[word]: the share of annotators who marked the word, of those who marked any; None where nobody did."""
    words = coarsen(model.encode([example]).units[0], "word", example.segments)[0]
    of_all = [_any(marked(words, marks)) for marks in annotators_of(example)]
    return shares_marked([[marks for marks in of_all if marks is not None]])[0]


def mean_share(marks: Marks) -> float:
    """The mean share of marked words over the examples that have marks; 0 where none has."""
    shares = [words.mean() for words in marks if words is not None]
    return float(np.mean(shares)) if shares else 0.0


# What each annotator marked, as words, and scores against each of them, averaged.

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
