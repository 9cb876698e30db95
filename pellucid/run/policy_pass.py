"""A forward pass whose backward pass follows a relevance policy's rules: its gradient x input is relevance."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd import Function

from pellucid.base.catalogue import Call
from pellucid.base.checks import reason
from pellucid.base.errors import ModelCannot
from pellucid.base.packages import cached_property
from pellucid.run.batch import Batch, shared_texts
from pellucid.run.model import Model, check_layer
from pellucid.run.readout import LOGITS, Readout
from pellucid.run.rounding import number_type, widened
from pellucid.run.target import Explainable
from pellucid.run.trace import Trace, Want
from pellucid.run.traces import Gradients, by_rows, gradients_of

# The ledger of relevance: how much of it, in each example, ends in constants and rules instead of in the words.

# constants: biases, position and type embeddings; rule: what the policy itself absorbs (in a stabiliser, in a softmax)
Account = Literal["constants", "rule"]
ACCOUNTS: tuple[Account, ...] = ("constants", "rule")


class Ledger:
    """The accounts of one pass of n_examples rows, and how often a policy's rule was applied to each kind of function.

    shares: account -> a leaf tensor of ones [example]; its gradient is the relevance that the account absorbed.
    treated: function -> how often.
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
        writable = (
            output.clone() if output._is_view() else output
        )  # networks may change it in place, which a view forbids
        return _Noted.apply(writable, self.shares[account], constant.detach())


class _Noted(Function):
    keeps_relevance = True

    @staticmethod
    def forward(ctx: Any, output: Tensor, share: Tensor, constant: Tensor) -> Tensor:
        ctx.save_for_backward(constant)
        ctx.n_examples = len(share)
        ctx.mark_dirty(output)  # the same tensor is returned, with this function in its graph
        return output

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (constant,) = ctx.saved_tensors
        finite = constant.nan_to_num(neginf=0.0, posinf=0.0)  # a mask's minus infinity carries no relevance
        absorbed = (grad * finite).reshape(ctx.n_examples, -1).sum(1)
        return grad, absorbed.double(), None


SCRIPTED = "torch::jit"  # in the names of functions that are compiled TorchScript


@dataclass
class PolicyPass:
    """A batch under a model and a policy.

    point: word embeddings [example unit width] instead of the model's own. states: whether hidden states are recorded;
    without them a route may leave out what no answer depends on.
    """

    model: Model
    batch: Batch
    policy: Call
    point: Tensor | None = None
    states: bool = True

    @cached_property
    def ledger(self) -> Ledger:
        """How much relevance constants and rules absorb, in place of the words."""
        texts = {*shared_texts(self.batch.rows, self.point)}
        return Ledger(len(texts) or len(self.batch), self.model.device)

    @cached_property
    def trace(self) -> Trace:
        """The pass with its graph; raises `ModelCannot` where a function in it has a backward of its own."""
        want = Want(gradients=True, hidden=self.states, under=partial(self.policy, self.ledger))
        trace = self.model.trace(self.batch.rows, want, self.point)
        refuse_opaque(trace.logits, self.model.name)
        return trace

    @property
    def logits(self) -> Tensor:
        """[example logit], without a graph."""
        return self.answers(LOGITS)

    def answers(self, readout: Readout) -> Tensor:
        """[example answer]: what is read off the pass, without a graph."""
        return readout.answers(self.trace, self.batch.rows).detach()

    def state(self, layer: int | None) -> Tensor:
        """[example unit width]: the word embeddings, or a hidden state; raises as `check_layer` does."""
        check_layer(self.model, layer)
        return (self.trace.embeddings if layer is None else self.trace.hidden[layer]).detach()

    @property
    def number_type(self) -> torch.dtype:
        """The shortest type that relevance went through."""
        return number_type(self.model, self.trace.embeddings.dtype)

    def gradients(self, target: Explainable) -> Gradients:
        """The target's gradients under the rules, and what the ledger's accounts absorbed; each call is a backward
        pass.
        """
        values = target.values(target.readout.answers(self.trace, self.batch.rows))
        try:
            return gradients_of(values, self.trace, accounts=self.ledger.shares)
        except NotImplementedError as error:  # as of weights that are no plain tensors
            raise ModelCannot(
                f"The backward rules of relevance do not go through {self.model.name}: {reason(error)}. Methods "
                f"without such rules work, integrated_gradients and occlusion among them."
            ) from error

    def origin(self, readout: Readout) -> Tensor:
        """[example ...]: the network's own numbers, from which answers follow; without a graph."""
        return readout.origin(self.trace, self.batch.rows).detach()

    def values_from(self, target: Explainable, origin: Tensor) -> Tensor:
        """[example]: the target's values by other numbers in place of `origin`, for the first examples of the pass."""
        rows = self.batch.rows[: len(origin)]
        return target.values(target.readout.answers_from(origin, self.trace, rows))

    def starting_relevance(self, target: Explainable) -> Tensor:
        """[example], in float64: the target's gradient by the network's own numbers times these.

        That is the target's value where it is linear in them. A log-probability is not, and starts with this sum all
        the same.
        """
        origin = self.origin(target.readout).double().requires_grad_()
        (gradient,) = torch.autograd.grad(self.values_from(target, origin).sum(), origin)
        return (gradient * origin).flatten(1).sum(-1).detach()

    def vector_jacobian_product(self, readout: Readout, weights: Tensor) -> Tensor:
        """[example unit width]: the gradient by the word embeddings of the sum of the network's own numbers x weights
        [example ...].
        """
        origin = readout.origin(self.trace, self.batch.rows)
        values = (origin * weights.to(origin)).flatten(1).sum(1)
        return widened(by_rows(values, self.trace, [(self.trace.texts or self.trace).embeddings])[0])

    def alone(self, example: int) -> "PolicyPass":
        """One example by itself, under the same policy."""
        batch, point = self.batch.select([example]), self.point
        if point is not None:
            point = point[[example], : max(batch.lengths)]
        return replace(self, batch=batch, point=point)


def refuse_opaque(output: Tensor, name: str) -> None:
    """Raise `ModelCannot` where a function in the output's graph has a backward that no policy can replace.

    Such are custom autograd Functions and compiled TorchScript. Our own Functions have the attribute `keeps_relevance`.
    """
    waiting, seen = [output.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        function = getattr(node, "_forward_cls", None)
        if (function is not None and not hasattr(function, "keeps_relevance")) or SCRIPTED in node.name():
            what = node.name() if function is None else function.__name__
            raise ModelCannot(
                f"{name} computes {what} with a backward of its own, for which relevance has no rule; its relevance "
                "would be wrong without a sign of it. Write the function out in torch's functions, or use "
                "integrated_gradients."
            )
        waiting += [below for below, _ in node.next_functions]
