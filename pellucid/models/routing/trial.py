"""The trial of a route: whether its answers and gradients are those of eager, and whether it is faster."""

from collections.abc import Callable, Mapping
from time import perf_counter

from torch import Tensor

from pellucid.core.passes.parity import residuals
from pellucid.models.routing.route import Route
from pellucid.models.routing.trial_passes import TrialPasses

NEAR = 1e-5  # relative to the largest number of an answer or a gradient
GAIN = 1.1  # so many times as fast as eager a route must be; less is the noise of a busy machine
SECONDS = 0.75  # of the passes of eager in a turn: short passes are unlike those of a long work
TURNS = 4  # of all routes, one after the other


def is_right(passes: TrialPasses, route: Route, eager: Route) -> bool:
    """Whether answers and gradients of short texts differ by no more than 1e-5 of their largest number, and the answers of a full pass
    and of one of many texts by no more than that of themselves, or of 1; nan differs from everything.
    """
    pairs = zip(passes.answers(route), passes.answers(eager), strict=True)
    if not all(difference(ours, own) <= NEAR for ours, own in pairs):
        return False
    large = (passes.full_pass, passes.short_texts)
    return all(bool((residuals(run(route), run(eager)) <= NEAR).all()) for run in large)


def difference(ours: Tensor, own: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    infinite = own.isinf() & (ours == own)  # classes that the model rules out
    gap, size = ((each.abs().masked_fill(infinite, 0.0)).max() for each in (ours - own, own))
    return float(gap / size.clamp_min(1e-30))


def speeds_of(passes: TrialPasses, others: Mapping[str, Route], eager: Route) -> dict[str, float]:
    """How many times as fast as eager each of the other routes is: the shortest of several turns each."""
    if not others:
        return {}
    run = passes.pass_of(SECONDS, eager)
    for route in others.values():
        run(route)  # what is made once is not timed
    turns = [[_seconds(run, route) for route in (eager, *others.values())] for _ in range(TURNS)]
    of_eager, *of_others = (min(column) for column in zip(*turns, strict=True))
    return {name: of_eager / seconds for name, seconds in zip(others, of_others, strict=True)}


def _seconds(run: Callable[[Route], object], route: Route) -> float:
    start = perf_counter()
    run(route)
    return perf_counter() - start
