"""How another process gets the same model: those that were loaded from files are loaded there again."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

from pellucid.core.explaining.route_record import EAGER
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
    # A trial measures time: each process might take another route.
    route = getattr(model, "route_in_use", EAGER)
    return (
        again
        if route == EAGER and getattr(model, "route", EAGER) == EAGER
        else partial(_by_route, again, route)
    )


def _by_route(again: Callable[[], Model], route: str) -> Model:
    """The model that is loaded again, computed by the route that the first process uses; raises `ModelCannot` where it cannot be."""
    model: Any = again()
    model = replace(model, route=route)
    if model.route_in_use != route:
        raise ModelCannot(
            f"A worker cannot compute by the route {route}, as this process does: {model.route_choice.why}; give route='eager', or leave "
            "workers= away."
        )
    return cast(Model, model)
