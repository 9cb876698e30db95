"""The ledger of relevance: how much of it, in each example, ends in constants and rules instead of in the words."""

from collections import Counter
from typing import Literal

import torch
from torch import Tensor
from torch.autograd import Function

# constants: biases, position and type embeddings; rule: what the policy itself absorbs (in a stabiliser, in a softmax)
Account = Literal["constants", "rule"]
ACCOUNTS: tuple[Account, ...] = ("constants", "rule")


class Ledger:
    """The accounts of one pass of n_examples rows, and how often a policy's rule was applied to each kind of function.

    shares: account -> a leaf tensor of ones [example]; its gradient is the relevance that the account absorbed. treated:
    function -> how often.
    """

    def __init__(self, n_examples: int, device: torch.device) -> None:
        self.shares: dict[str, Tensor] = {
            account: torch.ones(n_examples, dtype=torch.float64, device=device, requires_grad=True)
            for account in ACCOUNTS
        }
        self.treated: Counter[str] = Counter()
        self.n_examples = n_examples

    def note(self, output: Tensor, constant: Tensor, account: Account = "constants") -> Tensor:
        """The output, unchanged; in the backward pass the relevance of the constant in it goes to the account.

        output: [example ...] or [example * k ...]; for other shapes nothing is noted, because the example is not known.
        constant: a tensor that broadcasts to the output.
        """
        if not output.requires_grad or output.ndim == 0 or output.shape[0] % self.n_examples:
            return output
        own = (
            output.clone() if output._is_view() else output
        )  # networks may change it in place, which a view forbids
        return _Noted.apply(own, self.shares[account], constant.detach())


class _Noted(Function):
    keeps_relevance = True

    @staticmethod
    def forward(ctx, output, share, constant):
        ctx.save_for_backward(constant)
        ctx.n_examples = len(share)
        ctx.mark_dirty(output)  # the same tensor is returned, with this function in its graph
        return output

    @staticmethod
    def backward(ctx, grad):
        (constant,) = ctx.saved_tensors
        finite = constant.nan_to_num(neginf=0.0, posinf=0.0)  # a mask's minus infinity carries no relevance
        absorbed = (grad * finite).reshape(ctx.n_examples, -1).sum(1)
        return grad, absorbed.double(), None
