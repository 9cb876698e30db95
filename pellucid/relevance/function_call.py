"""One call of a torch function, as a rule gets it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True, eq=False)
class FunctionCall:
    """A torch function with its arguments and its keyword arguments; their types are those of the function."""

    function: Callable
    args: tuple
    kwargs: dict[str, Any]

    def value(self) -> Any:
        """What the function returns."""
        return self.function(*self.args, **self.kwargs)

    def value_at(self, *args: object) -> Any:
        """What the function returns for other arguments and the same keyword arguments."""
        return self.function(*args, **self.kwargs)

    def without(self, name: str) -> "FunctionCall":
        """The call without a keyword argument, if it has that one."""
        named = {key: value for key, value in self.kwargs.items() if key != name}
        return FunctionCall(self.function, self.args, named)

    def argument(self, name: str, position: int) -> Any:
        """The argument of that name, which may stand at this position instead; None where the call has none."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if position < len(self.args) else None

    @property
    def paths(self) -> list[Tensor]:
        """The arguments that depend on the words: relevance can go back through them."""
        return [arg for arg in flat((*self.args, *self.kwargs.values())) if depends_on_words(arg)]


def depends_on_words(arg: object) -> bool:
    """Whether relevance can go back through an argument: weights are constants here, so only the words have gradients."""
    return isinstance(arg, Tensor) and arg.requires_grad


def flat(args: tuple) -> tuple:
    """The arguments without lists around them; einsum and cat may take theirs in a list."""
    return tuple(part for arg in args for part in (arg if isinstance(arg, list | tuple) else (arg,)))
