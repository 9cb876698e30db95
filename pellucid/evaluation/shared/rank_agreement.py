"""Kendall's tau of a text's weights with the scores of a method.

Kendall (1945), "The Treatment of Ties in Ranking Problems" (tau-b).
"""

import numpy as np
import torch
from torch import Tensor

from pellucid.evaluation.shared.weighed_texts import WeighedText


def kendall_tau(text: WeighedText, method: str) -> Tensor:
    """[1]: tau-b of the words' weights and the sizes of their scores, -1 to 1; nan where either is constant."""
    from scipy.stats import kendalltau  # scipy.stats takes most of a second to import

    weights, scores = text.rankings[method]
    constant = any(len(np.unique(values)) < 2 for values in (weights, np.abs(scores)))
    tau = np.nan if constant else float(kendalltau(weights, np.abs(scores)).statistic)
    return torch.tensor([tau], dtype=torch.float64)
