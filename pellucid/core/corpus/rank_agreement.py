"""How far two rankings of a text's words agree: Kendall's tau-b, and the overlap of the k highest.

Kendall (1945), "The Treatment of Ties in Ranking Problems" (tau-b).
"""

import numpy as np


def tau_b(one: np.ndarray, other: np.ndarray) -> float:
    """[word], [word] -> tau-b of their scores, -1 to 1; nan where one side has a single score for all words."""
    from scipy.stats import kendalltau  # scipy.stats takes most of a second to import

    return float(kendalltau(one, other).statistic) if _is_ranked(one) and _is_ranked(other) else float("nan")


def top_overlap(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """The share of the k words with the highest scores that both have, 0 to 1.

    Ties at the edge are settled by reading order, the same on both sides. nan where there are no more than k words, of which
    nothing can be chosen, and where one side has a single score for all of them.
    """
    if len(one) <= k or not (_is_ranked(one) and _is_ranked(other)):
        return float("nan")
    return len(set(highest(one, k)) & set(highest(other, k))) / k


def highest(scores: np.ndarray, k: int) -> list[int]:
    """The indices of the k highest scores, highest first; ties in reading order."""
    return np.argsort(-scores, kind="stable")[:k].tolist()


def _is_ranked(scores: np.ndarray) -> bool:
    return len(scores) > 1 and bool(np.ptp(scores) > 0)
