"""The span vector with the product as equation 6 first has it: W4 (h_i * h_j), a quadratic form.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 6; they then split W4 into two square
roots, which is true only of some matrices (corrections.md A0.4).
"""

import torch
from torch import Tensor, nn


def exact_vectors(begin: Tensor, end: Tensor, parts: Tensor, product: nn.Linear) -> Tensor:
    """[batch unit unit width] from [batch unit width] each; begin and end have W3 in them.

    units x units x width x width multiplications, where the factored form needs units x width x width.
    """
    products = product(parts[:, :, None] * parts[:, None])
    return torch.tanh(begin[:, :, None] + end[:, None] + products)
