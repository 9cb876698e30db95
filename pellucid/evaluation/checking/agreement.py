"""How far two methods, or one method under two models, agree on the words of texts."""

from collections.abc import Sequence

import numpy as np

from pellucid.core.corpus.rank_agreement import tau_b, top_overlap
from pellucid.evaluation.checking.scored_text import ScoredText, alike

TAU = "Kendall's tau"


def top_measure(k: int) -> str:
    """What the overlap of the k highest-scored words is called."""
    return f"overlap of the top {k}" if k > 1 else "same top word"


def tau_of(one: np.ndarray, other: np.ndarray) -> float:
    """[word], [word] -> tau-b; nan where the words are not the same in number, or nothing can be ranked."""
    return tau_b(one, other) if one.shape == other.shape else float("nan")


def top_of(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """[word], [word] -> the share of the k highest that both have; nan where nothing can be chosen."""
    return top_overlap(one, other, k) if one.shape == other.shape else float("nan")


def taus(ones: Sequence[ScoredText], others: Sequence[ScoredText]) -> list[float]:
    """For each text tau-b of both sides' scores; nan where they explain other classes, or nothing can be ranked."""
    return [
        tau_of(one.scores, other.scores) if alike(one, other) else float("nan")
        for one, other in zip(ones, others, strict=True)
    ]


def tops(ones: Sequence[ScoredText], others: Sequence[ScoredText], k: int) -> list[float]:
    """For each text the share of the k highest-scored words that both have; nan as in `taus`."""
    return [
        top_of(one.scores, other.scores, k) if alike(one, other) else float("nan")
        for one, other in zip(ones, others, strict=True)
    ]
