"""What the plausibility metrics share: the words a person marked, and as many of the best-scored words.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.checks import at_least, between
from pellucid.core.passes.model import Model
from pellucid.core.text.annotators import annotators_of
from pellucid.core.text.example import Example
from pellucid.core.text.marks import marked
from pellucid.core.text.ranges import choose_ranges, highest_mean, shared_out, top_count
from pellucid.core.text.units import coarsen
from pellucid.evaluation.shared.annotated import shares_marked
from pellucid.evaluation.shared.case import Case

Marks = Sequence[np.ndarray | None]


def marked_words(case: Case) -> list[np.ndarray | None]:
    """For each example [word] bool: True where a person marked the word; None where no word is marked."""
    return [_any(marks) for marks in case.rationales("word")]


def _any(marks: np.ndarray | None) -> np.ndarray | None:
    return marks if marks is not None and marks.any() else None


def selected_words(
    case: Case, marks: Marks, budget: float | None, n_spans: int | None = None
) -> list[np.ndarray]:
    """For each example [word] bool: the best-scored words, as many as the budget allows, at least one.

    marks: for each example [word], marked or not, or the share of annotators who marked the word.

    budget: share of a text's words; None: the mean share of marked words over the examples that have marks, so that the
    selection is as long as people's on average and reveals nothing of a single text. n_spans: the words form at most so
    many spans in each text of an example, those with the highest mean score; None: they may be anywhere.
    """
    share = _share(case, marks) if budget is None else budget
    between("budget", share, 0.0, 1.0)
    if n_spans is not None:
        at_least("n_spans", n_spans, 1)
        scored = zip(case.scores("word"), case.segments("word"), strict=True)
        return [_in_spans(scores, segments, share, n_spans) for scores, segments in scored]
    selections = []
    for order in case.orders("word"):
        mask = np.zeros(len(order), dtype=bool)
        mask[order[: top_count(len(order), share)]] = True
        selections.append(mask)
    return selections


def _in_spans(scores: np.ndarray, segments: np.ndarray, share: float, n_spans: int) -> np.ndarray:
    """[word] bool: the best spans of each segment; together they are as long as the budget."""
    mask = np.zeros(len(scores), dtype=bool)
    for segment in np.unique(segments):
        words = np.flatnonzero(segments == segment)
        lengths = shared_out(top_count(len(words), share), n_spans)
        for word_range in choose_ranges(len(words), lengths, highest_mean(scores[words])):
            mask[words[list(word_range)]] = True
    return mask


def _share(case: Case, marks: Marks) -> float:
    return mean_share(marks) if case.marked_share is None else case.marked_share


def marked_share(model: Model, examples: Sequence[Example]) -> float:
    """The mean share of marked words over these examples and their annotators; needs no explanations."""
    return mean_share([_marks(model, example) for example in examples if annotators_of(example)])


def _marks(model: Model, example: Example) -> np.ndarray | None:
    """[word]: the share of annotators who marked the word, of those who marked any; None where nobody did."""
    words = coarsen(model.encode([example]).units[0], "word", example.segments)[0]
    of_all = [_any(marked(words, marks)) for marks in annotators_of(example)]
    return shares_marked([[one for one in of_all if one is not None]])[0]


def mean_share(marks: Marks) -> float:
    """The mean share of marked words over the examples that have marks; 0 where none has."""
    shares = [words.mean() for words in marks if words is not None]
    return float(np.mean(shares)) if shares else 0.0


def overlap(first: np.ndarray, second: np.ndarray) -> int:
    """How many words are in both selections."""
    return int((first & second).sum())
