"""Backward rules: while they are active, the network computes the same values, and gradients follow a policy's rules.

A call of a torch function that the policy has a rule for goes to that rule; every other call runs unchanged. Relevance is
then the plain gradient times the input. The network itself is not changed, and the rules end with the `with`. They apply
only in the thread that entered it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pellucid.core.passes.policy_pass import Ledger
from pellucid.relevance.expanded_functions import OPENED
from pellucid.relevance.function_call import FunctionCall
from pellucid.relevance.functions import KIND_OF
from pellucid.relevance.modules import treated_whole

# (mode, function call) -> the call's value
Rule = Callable[["ChangedBackward", FunctionCall], Tensor]
Rules = Mapping[str, Rule]


class ChangedBackward(TorchFunctionMode):
    """While active, each function's backward pass follows the rule for its kind; the ledger records what constants absorb."""

    def __init__(self, rules: Rules, ledger: Ledger) -> None:
        super().__init__()
        self.rules = rules
        self.ledger = ledger

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        constants = {name: constant_weight(arg) for name, arg in (kwargs or {}).items()}
        call = FunctionCall(func, tuple(constant_weight(arg) for arg in args), constants)
        opened = OPENED.get(func) or getattr(func, "written_out", None)
        if opened is not None:  # it hides several functions: run these instead, each meets its rule
            with self:
                return opened(*call.args, **call.kwargs)
        kind = KIND_OF.get(func) or str(getattr(func, "kind", ""))
        rule = self.rules.get(kind)
        if rule is None or not call.paths:
            return call.value()
        self.ledger.treated[kind] += 1
        return rule(self, call)


def constant_weight(arg: object) -> object:
    """A weight as a constant, so that gradients lead to the words only."""
    return arg.detach() if isinstance(arg, nn.Parameter) else arg


@contextmanager
def backward_rules(network: nn.Module, ledger: Ledger, rules: Rules) -> Iterator[None]:
    """Inside, the network runs under these rules in this thread."""
    mode = ChangedBackward(rules, ledger)
    with treated_whole(network), mode:
        yield
