"""The span vector as a feed-forward network of its two ends, the general form.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 1; it leaves the network open.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class FeedForward(nn.Module):
    """h_ij = tanh((h_i + h_j) / 2 + W gelu(L h_i + R h_j)): a hidden layer as wide as the vector.

    [L R] is one matrix applied to [h_i, h_j]. The mean is added so that training starts where the factored form
    starts, from the encoder's features.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)
        nn.init.normal_(self.out.weight, std=0.02)
        nn.init.zeros_(self.out.bias)

    def forward(self, parts: Tensor) -> Tensor:
        """[batch unit width] -> [batch unit unit width]"""
        hidden = gelu(self.left(parts)[:, :, None] + self.right(parts)[:, None])
        return torch.tanh((parts[:, :, None] + parts[:, None]) / 2 + self.out(hidden))

    def of_pairs(self, first: Tensor, last: Tensor) -> Tensor:
        """[span width] of the units that spans begin and end with -> [span width]"""
        hidden = gelu(self.left(first) + self.right(last))
        return torch.tanh((first + last) / 2 + self.out(hidden))
