"""The words that two explanations of one text share, with both scores of each.

Tokenizers of two versions may cut a text differently, so that one joins what is two words for the other. What one of them
joins is one word here, with the sum of the scores; sums stay the same.
"""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import SPECIAL

LARGER = ("sentence", "paragraph")  # units that cannot be cut into words
Range = tuple[int, int, int]  # segment, first character, the one after the last


@dataclass(frozen=True)
class CommonWords:
    """words [word] in reading order; before, after [word]: their scores in both explanations."""

    words: tuple[str, ...]
    before: np.ndarray
    after: np.ndarray


def common_words(before: Explanation, after: Explanation) -> CommonWords:
    """The words of a text with both scores; of scores with several rows, the row that reports show."""
    one, other = _at_words(before), _at_words(after)
    ranges = _joined([*_ranges(one), *_ranges(other)])
    texts = before.example.segments
    words = tuple(texts[segment][start:end] for segment, start, end in ranges)
    return CommonWords(words, _summed(one, ranges), _summed(other, ranges))


def unit_of(explanation: Explanation) -> str:
    """What the words of an explanation are: word, or a larger unit that cannot be cut into words."""
    return explanation.units.kind if explanation.units.kind in LARGER else "word"


def _at_words(explanation: Explanation) -> Explanation:
    row = explanation.shown_row()
    return row if unit_of(row) != "word" else row.view("word")


def _ranges(explanation: Explanation) -> list[Range]:
    """The offsets of the units that are text."""
    units = explanation.units
    return [(units.segment[one], units.start[one], units.end[one]) for one in units.content]  # type: ignore[union-attr]  # spans were shared among words


def _joined(ranges: list[Range]) -> list[Range]:
    """The ranges in reading order, those that share a character as one."""
    joined: list[Range] = []
    for segment, start, end in sorted(set(ranges)):
        if joined and joined[-1][0] == segment and start < joined[-1][2]:
            joined[-1] = (segment, joined[-1][1], max(joined[-1][2], end))
        else:
            joined.append((segment, start, end))
    return joined


def _summed(explanation: Explanation, ranges: list[Range]) -> np.ndarray:
    """[range]: the sum of the scores of the units inside each."""
    starts = [(segment, start) for segment, start, _ in ranges]
    sums, units = np.zeros(len(ranges)), explanation.units
    for unit, score in enumerate(explanation.scores):
        if units.segment[unit] != SPECIAL:  # type: ignore[union-attr]  # see `_ranges`
            index = bisect_right(starts, (units.segment[unit], units.start[unit])) - 1  # type: ignore[union-attr]
            sums[index] += float(score)
    return sums
