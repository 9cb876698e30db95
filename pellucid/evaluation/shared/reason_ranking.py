"""Where a text's ranking of words has the words of a known reason, or those that people marked.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 4, score rankings by precision at the number of true
words; average precision takes the whole ranking into account. Of equal scores every number here is the exact mean over all their
orders.
"""

import numpy as np


def average_precision(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """Of the reason's words in the ranking of all words [word]: 1 if they come first, 1 / rank if there is a single one."""
    is_there, before, rank = _expected_ranking(is_reason, scores)
    return float((is_there * (before + 1) / rank).sum() / is_reason.sum())


def area_under_precision(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """The area under precision over recall, by trapezoids from (recall, precision) = (0, 1), of the words of a reason [word]."""
    is_there, before, rank = _expected_ranking(is_reason, scores)
    precision_before = np.where(rank > 1, before / np.maximum(rank - 1, 1), 1.0)
    return float((is_there * (precision_before + (before + 1) / rank) / 2).sum() / is_reason.sum())


def _expected_ranking(is_reason: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three arrays [rank]: the chance that a word of the reason stands there; how many stand before it then; the rank, from 1.

    Of m equal scores with g words of the reason, each place is one's with chance g / m, and each place before it within the m then
    with chance (g - 1) / (m - 1).
    """
    _, level, size = np.unique(-scores, return_inverse=True, return_counts=True)
    own = np.bincount(level, weights=is_reason)
    first = np.repeat(np.cumsum(size) - size, size)  # words above the level
    above = np.repeat(np.cumsum(own) - own, size)
    rank = np.arange(1, len(scores) + 1)
    own, size = np.repeat(own, size), np.repeat(size, size)
    before = above + (rank - 1 - first) * (own - 1) / np.maximum(size - 1, 1)
    return own / size, before, rank


def expected_among_first(is_reason: np.ndarray, scores: np.ndarray, k: int) -> float:
    """How many of the reason's words are among the k words with the highest scores; of equal scores at the border their share."""
    k = min(k, len(scores))
    border = np.sort(scores)[::-1][k - 1]
    above, level = scores > border, scores == border
    left = k - int(above.sum())
    return float((is_reason & above).sum() + left * is_reason[level].mean())


def mean_rank(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """The mean rank of the reason's words, 1 for the highest score; equal scores have the mean of their ranks."""
    ranks = [1 + (scores > score).sum() + ((scores == score).sum() - 1) / 2 for score in scores[is_reason]]
    return float(np.mean(ranks))


def highest_in_reason(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """1 if the word with the highest score is one of the reason, else 0; equal ones share."""
    return expected_among_first(is_reason, scores, 1)


def decoy_above(is_reason: np.ndarray, is_decoy: np.ndarray, scores: np.ndarray) -> float:
    """1 if a decoy's word scores above all words of the reason, 0 if below; if d of its words and r of the reason's share the
    highest score, d / (d + r), the share of their orders in which the decoy comes first.
    """
    highest = scores[is_reason | is_decoy].max()
    decoys, reasons = ((marked & (scores == highest)).sum() for marked in (is_decoy, is_reason))
    return float(decoys / (decoys + reasons))
