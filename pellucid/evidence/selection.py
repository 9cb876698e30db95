"""Selection: how scores of words become spans of a text.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3, select the span with the highest
average score. That is always a single word (corrections.md A0.10), so there are other selections as well. Of equal
scores a draw from the text's words chooses, always the same: the first in reading order would let the place of the
evidence decide what metrics of extractions say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from pellucid.base.checks import at_least, one_of, quoted
from pellucid.base.errors import BadSetting
from pellucid.results.extraction import Extraction
from pellucid.text.ranges import (
    choose_ranges,
    drawn_numbers,
    highest_mean,
    largest_sums,
    pick_drawn,
    runs,
    shared_out,
    top_count,
)

# scores [word], lengths, n_spans, drawn numbers [word] that settle equal scores -> ranges of words, in reading order
ChooseRanges = Callable[[np.ndarray, Sequence[int], int, np.ndarray], list[range]]
Budget = float | int
HALF = 0.5


def literal(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The spans with the highest mean: single words, since no mean exceeds the largest of its numbers."""
    return [range(word, word + 1) for word in sorted(_order(scores, drawn)[:n_spans])]


def windows(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The ranges of these lengths with the highest mean, without overlap; the longest is chosen first."""
    return choose_ranges(len(scores), lengths, highest_mean(scores, pick_drawn(drawn)))


def best_words(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """As many of the best words as the budget allows, anywhere in the text; neighbours make one span."""
    return _united(scores, _order(scores, drawn)[: sum(lengths)])


def above_half(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """All words that score more than a half, which are those that a gate lets through; else the best word."""
    above = np.flatnonzero(scores > HALF).tolist()
    return _united(scores, above or _order(scores, drawn)[:1])


def max_sum_centred(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The range with the largest sum of (score - mean score); up to n_spans of them while the sum is above 0."""
    centred = scores - scores.mean()
    rounding = np.abs(centred) <= 1e-9 * np.abs(scores).max(initial=0)  # all words score the same
    centred[rounding] = 0.0
    first, *others = largest_sums(centred, [range(len(scores))], n_spans, pick_drawn(drawn))
    return sorted([first, *(one for one in others if centred[one].sum() > 0)], key=lambda one: one.start)


def _order(scores: np.ndarray, drawn: np.ndarray) -> list[int]:
    return np.lexsort((drawn, -scores)).tolist()


def _united(scores: np.ndarray, words: Sequence[int]) -> list[range]:
    mask = np.zeros(len(scores), dtype=bool)
    mask[list(words)] = True
    return runs(mask)


BY_WORDS: Mapping[str, ChooseRanges] = {
    "literal": literal,
    "same_length": windows,
    "budget": windows,
    "best_words": best_words,
    "max_sum_centred": max_sum_centred,
    "above_half": above_half,
}
BY_SPANS = "top_spans"  # by the scores of spans; all others are by the scores of words
TAKES_BUDGET = ("budget", "best_words")


@dataclass(frozen=True)
class Selection:
    """How scores become spans, each text of a pair by itself.

    mode: a name of `BY_WORDS`, or "top_spans". budget: a share of a text's words (a float up to 1, rounded up) or a
    number of words (an int). n_spans: how many spans a text has at most, in modes that do not fix it; together they are
    as long as the budget. like: extractions of the same examples; the new spans are as long as theirs. Raises
    `BadSetting` for settings that contradict each other.
    """

    mode: str
    budget: Budget | None = None
    n_spans: int = 1
    like: Sequence[Extraction] | None = None

    def __post_init__(self) -> None:
        one_of("selection", self.mode, (*BY_WORDS, BY_SPANS))
        at_least("n_spans", self.n_spans, 1)
        if (self.budget is not None) != (self.mode in TAKES_BUDGET):
            raise BadSetting(
                f"selection={self.mode!r} with budget={self.budget}: a budget belongs to "
                f"{' and '.join(TAKES_BUDGET)}, which need one, such as budget=0.2 or budget=5."
            )
        if (self.like is not None) != (self.mode == "same_length"):
            raise BadSetting(
                "selection='same_length' takes its lengths from extractions of the same texts: give them as like=, "
                "and give like= to no other selection."
            )
        if self.budget is not None:
            check_budget(self.budget)

    def lengths(self, number: int, segment: int, n_words: int) -> list[int]:
        """How many words each span of a text is to have; empty where the mode needs no lengths."""
        if self.like is not None:
            return self.like[number].lengths(segment)
        if self.budget is None:
            return []
        count = self.budget if isinstance(self.budget, Integral) else top_count(n_words, self.budget)
        return shared_out(min(int(count), n_words), self.n_spans)

    def by_words(self, scores: np.ndarray, number: int, segment: int, contents: Sequence[str]) -> list[range]:
        """The selected ranges of one text's words, in reading order. scores: [word]. contents: what each word is."""
        lengths = self.lengths(number, segment, len(scores))
        return BY_WORDS[self.mode](scores, lengths, self.n_spans, drawn_numbers(contents)[0])


def check_budget(budget: Budget) -> None:
    """Raise `BadSetting` unless a budget is a share up to 1, or a number of words."""
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise BadSetting(f"budget={quoted(budget)} is no number; give a share such as 0.2, or words such as 5.")
    if isinstance(budget, Integral):
        at_least("budget", int(budget), 1)
    elif not 0 < budget <= 1:
        raise BadSetting(f"budget={budget} is no share of a text; give more than 0 and up to 1.0, or a whole number.")
