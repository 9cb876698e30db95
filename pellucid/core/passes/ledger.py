"""Where relevance goes besides the words: what constants and rules absorb on its way down, example by example."""

from collections import Counter
from typing import Literal

import torch
from torch import Tensor
from torch.autograd import Function

# constants: biases, position and type embeddings; rule: what the policy itself takes away (a stabiliser, a softmax)
Account = Literal["constants", "rule"]
ACCOUNTS: tuple[Account, ...] = ("constants", "rule")


class Ledger:
    """Accounts of one pass of n_examples rows, and how often each kind of function was treated.

    An account is a leaf of ones, one an example: its gradient is the relevance that went there.
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

        output: [example ...] or [example * k ...]; other outputs belong to no example, and nothing is noted. constant:
        what broadcasts to it.
        """
        if not output.requires_grad or output.ndim == 0 or output.shape[0] % self.n_examples:
            return output
        own = output.clone() if output._is_view() else output  # networks go on in place, which a view refuses
        return _Noted.apply(own, self.shares[account], constant.detach())


class _Noted(Function):
    keeps_relevance = True

    @staticmethod
    def forward(ctx, output, share, constant):
        ctx.save_for_backward(constant)
        ctx.n_examples = len(share)
        ctx.mark_dirty(output)  # the very tensor goes on, with this function behind it
        return output

    @staticmethod
    def backward(ctx, grad):
        (constant,) = ctx.saved_tensors
        finite = constant.nan_to_num(neginf=0.0, posinf=0.0)  # a mask's minus infinity carries no relevance
        absorbed = (grad * finite).reshape(ctx.n_examples, -1).sum(1)
        return grad, absorbed.double(), None
