"""A network computes the same values with another backward pass: each function call may meet a rule.

A call of a torch function that the policy has a rule for goes to that rule; every other call runs unchanged. Relevance is
then the plain gradient times the input. The network itself is not changed, and the rules end with the `with`. They apply
only in the thread that entered it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.expanded_functions import OPENED
from pellucid.relevance.functions import KIND_OF
from pellucid.relevance.modules import treated_whole

# (mode, function, arguments, keyword arguments) -> the function's value
Rule = Callable[["ChangedBackward", Callable, tuple, dict[str, Any]], Any]
Rules = Mapping[str, Rule]


class ChangedBackward(TorchFunctionMode):
    """While active, functions have the backward that the rules give their kind; the ledger notes what constants absorb."""

    def __init__(self, rules: Rules, ledger: Ledger) -> None:
        super().__init__()
        self.rules = rules
        self.ledger = ledger

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        args = tuple(constant_weight(arg) for arg in args)
        kwargs = {name: constant_weight(arg) for name, arg in (kwargs or {}).items()}
        opened = OPENED.get(func) or getattr(func, "written_out", None)
        if opened is not None:  # it hides several functions: run these instead, each meets its rule
            with self:
                return opened(*args, **kwargs)
        kind = KIND_OF.get(func) or str(getattr(func, "kind", ""))
        rule = self.rules.get(kind)
        if rule is None or not paths(args, kwargs):
            return func(*args, **kwargs)
        self.ledger.treated[kind] += 1
        return rule(self, func, args, kwargs)


def constant_weight(arg: Any) -> Any:
    """A weight as a constant, so that gradients lead to the words only."""
    return arg.detach() if isinstance(arg, nn.Parameter) else arg


def paths(args: tuple, kwargs: dict[str, Any]) -> list[Tensor]:
    """The arguments that depend on the words: relevance can go back through them."""
    return [arg for arg in flat((*args, *kwargs.values())) if isinstance(arg, Tensor) and arg.requires_grad]


def flat(args: tuple) -> tuple:
    """The arguments without lists around them; einsum and cat may take theirs in a list."""
    return tuple(part for arg in args for part in (arg if isinstance(arg, list | tuple) else (arg,)))


@contextmanager
def backward_rules(network: nn.Module, ledger: Ledger, rules: Rules) -> Iterator[None]:
    """Inside, the network runs under these rules in this thread."""
    mode = ChangedBackward(rules, ledger)
    with treated_whole(network), mode:
        yield
