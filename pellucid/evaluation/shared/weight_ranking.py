"""Whether a text's weights rank its words as a method's scores do."""

import numpy as np
import torch
from torch import Tensor

from pellucid.core.corpus.rank_agreement import tau_b
from pellucid.evaluation.shared.weighed_texts import WeighedText


def kendall_tau(text: WeighedText, method: str) -> Tensor:
    """[1]: tau-b of the words' weights and the sizes of their scores, -1 to 1; nan where either is constant."""
    weights, scores = text.rankings[method]
    return torch.tensor([tau_b(weights, np.abs(scores))], dtype=torch.float64)
