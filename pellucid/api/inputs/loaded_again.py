"""How another process gets the same model: those that were loaded from files are loaded there again."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.model import Model

MOST_WORKERS = 1_000
_ways: WeakKeyDictionary[Any, Callable[[], Model]] = WeakKeyDictionary()


def remember(model: Model, again: Callable[[], Model]) -> None:
    """Note how a model was loaded; again: a top-level function with its arguments, in a `partial`."""
    _ways[model] = again


def loading_for(workers: int, model: Model) -> Callable[[], Model] | None:
    """What loads the model in each worker; None for one worker, which is this process."""
    return loading_of(model) if whole("workers", workers, 1, MOST_WORKERS) > 1 else None


def loading_of(model: Model) -> Callable[[], Model]:
    """What loads the model in another process. Raises `ModelCannot` for a model that is only in this one."""
    again = _ways.get(model)
    if again is None:
        raise ModelCannot(
            f"{model.name} is only in the memory of this process, and workers load the model themselves: give its folder or its name "
            "on the hub, or leave workers= away."
        )
    return again
