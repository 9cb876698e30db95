"""Where a text's ranking of words has the words of a known reason.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 4, score rankings by precision at the number of true
words; average precision takes the whole ranking into account. Equal scores share their ranks.
"""

import numpy as np
from sklearn.metrics import average_precision_score


def average_precision(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """Of the reason's words in the ranking of all words [word]: 1 if they come first, 1 / rank if there is a single one."""
    return float(average_precision_score(is_reason, scores))


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
    """1 if a decoy's word scores above all words of the reason, 0.5 if they are equal, 0 if below."""
    return float(np.heaviside(scores[is_decoy].max() - scores[is_reason].max(), 0.5))
