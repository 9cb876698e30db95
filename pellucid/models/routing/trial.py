"""The trial of a route: whether its answers and gradients are those of eager, and whether it is faster."""

from collections.abc import Callable
from time import perf_counter

from torch import Tensor

from pellucid.models.routing.route import Route
from pellucid.models.routing.trial_passes import TrialPasses

NEAR = 1e-5  # relative to the largest number of an answer or a gradient
GAIN = 1.1  # so many times as fast as eager a route must be; less is the noise of a busy machine
SECONDS = 3.0  # of all timed passes of two routes together: short passes are unlike those of a long work
TURNS = 3  # of both routes, one after the other


def is_right(passes: TrialPasses, route: Route, eager: Route) -> bool:
    """Whether answers and gradients differ by no more than 1e-5 of their largest number; nan differs from everything."""
    pairs = zip(passes.answers(route), passes.answers(eager), strict=True)
    return all(difference(ours, own) <= NEAR for ours, own in pairs)


def difference(ours: Tensor, own: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - own).abs().max() / own.abs().max().clamp_min(1e-30))


def speed_of(passes: TrialPasses, route: Route, eager: Route) -> float:
    """How many times as fast as eager the route is: the shortest of several turns each."""
    run = passes.pass_of(SECONDS / (2 * TURNS), eager)
    run(route)  # what is made once is not timed
    turns = [(_seconds(run, eager), _seconds(run, route)) for _ in range(TURNS)]
    of_eager, of_route = (min(column) for column in zip(*turns, strict=True))
    return of_eager / of_route


def _seconds(run: Callable[[Route], object], route: Route) -> float:
    start = perf_counter()
    run(route)
    return perf_counter() - start
