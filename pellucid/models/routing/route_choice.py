"""The route of a model: the one that was named, or by trial the fastest whose answers are those of eager."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import nn

from pellucid.base.errors import ModelCannot, RouteNotUsed, notify
from pellucid.base.kinds import routes
from pellucid.models.routing.trial import (
    GAIN,
    Route,
    TrialPasses,
    is_right,
    route_class,
    speeds_of,
    storage_key,
    store_choice,
    stored_choice,
)
from pellucid.run.diagnostics import EAGER
from pellucid.run.module_hooks import is_watched

AUTO = "auto"
FEWEST_WEIGHTS = 1_000_000  # of a network's matrices; a smaller one gains nothing
REMEMBERED = 32  # models

_REMEMBERING = threading.Lock()
_remembered: "OrderedDict[tuple[str, str, str, int], tuple[str, str]]" = OrderedDict()


@dataclass(frozen=True, eq=False)
class RouteChoice:
    """A route by name. why: the reason for it, in words."""

    name: str
    route: Route
    why: str


@dataclass(frozen=True, eq=False)
class RouteQuestion:
    """For which network a route is wanted.

    name: a registered one, or "auto". digest: a function that returns what identifies the model. passes: what its trial
    runs. is_mixed: whether it computes in mixed precision. by_name: the routes of this network, so that what one
    compiles in its trial is used afterwards.
    """

    name: str
    network: nn.Module
    device: str
    digest: Callable[[], str]
    passes: TrialPasses
    is_mixed: bool = False
    by_name: dict[str, Route] = field(default_factory=dict)

    def answer(self) -> RouteChoice:
        """The chosen route; of equal models on one device and equally many threads it is tried once a process.

        Which one is the fastest is measured once a machine; a route that was chosen so before must still give eager's
        answers.
        """
        if self.name == EAGER:
            return self._route(EAGER, "it was named")
        name, why = self._known_or_tried()
        if name == EAGER and self.name != AUTO:
            notify(f"route={self.name!r} is not used: {why}. PyTorch's own operators compute.", RouteNotUsed)
        return self._route(name, why)

    def _route(self, name: str, why: str) -> RouteChoice:
        return RouteChoice(name, self._named(name), why)

    def _known_or_tried(self) -> tuple[str, str]:
        key = self.name, self.device, self.digest(), torch.get_num_threads()
        with _REMEMBERING:
            known = _remembered.get(key)
        if known is None:  # two threads may both try
            known = self._fastest() if self.name == AUTO else self._named_one()
            with _REMEMBERING:
                known = _remembered.setdefault(key, known)
                while len(_remembered) > REMEMBERED:
                    _remembered.popitem(last=False)
        return known

    def _named_one(self) -> tuple[str, str]:
        refusal = self._refusal(self.name)
        return (EAGER, refusal) if refusal else (self.name, "it was named")

    def _fastest(self) -> tuple[str, str]:
        if sum(each.numel() for each in self.network.parameters() if each.ndim == 2) < FEWEST_WEIGHTS:
            return EAGER, "the network is too small to gain by another"
        facts = {"digest": self.digest(), "device": self.device, "threads": torch.get_num_threads()}
        key = storage_key({**facts, "routes": routes.names()})
        others = [name for name in routes.names() if name != EAGER]
        stored = stored_choice(key)
        if stored is not None and (stored[0] == EAGER or (stored[0] in others and not self._refusal(stored[0]))):
            return stored
        refusals = {name: self._refusal(name) for name in others}
        measured = self._measured(refusals)
        if not self._is_unusual_moment():
            store_choice(key, measured)
        return measured

    def _is_unusual_moment(self) -> bool:
        """Whether the trial runs under something of the user's that passes, and that may slow a route down."""
        return (
            torch.is_autocast_enabled("cpu")
            or not torch.backends.mkldnn.enabled
            or any(is_watched(module) for module in self.network.modules())
        )

    def _measured(self, refusals: Mapping[str, str]) -> tuple[str, str]:
        """The fastest of the routes that are not refused, and why."""
        possible = {name: self._named(name) for name, refusal in refusals.items() if not refusal}
        speeds = speeds_of(self.passes, possible, self._named(EAGER))
        best = max(speeds, key=speeds.__getitem__, default=EAGER)
        if speeds.get(best, 0.0) >= GAIN:
            return best, f"in the trial it was {speeds[best]:.2f} times as fast as {EAGER}"
        refused = [f"{name}: {refusal}" for name, refusal in refusals.items() if refusal]
        return EAGER, "; ".join([*refused, *(f"{name}: {speed:.2f} times as fast" for name, speed in speeds.items())])

    def _named(self, name: str) -> Route:
        if name not in self.by_name:
            self.by_name[name] = route_class(name)(self.network)
        return self.by_name[name]

    def _refusal(self, name: str) -> str:
        """Why a route cannot be used for this network, in words; "" where it can."""
        if lack := self._lack(name):
            return lack
        try:
            right = is_right(self.passes, self._named(name), self._named(EAGER))
        except ModelCannot as error:
            return f"the trial failed: {error}"
        return "" if right else f"its answers are not those of {EAGER}"

    def _lack(self, name: str) -> str:
        """Why a route cannot be used for any network here, in words; "" where it can."""
        facts = routes.get(name).facts
        if facts["devices"] and self.device not in facts["devices"]:
            return f"it does not compute on {self.device}"
        if self.is_mixed and not facts["mixes"]:
            return "it does not compute in mixed precision"
        return route_class(name).lacks()


def check_route(name: str) -> None:
    """Raises `UnknownName` for a name that is neither "auto" nor registered."""
    if name != AUTO:
        routes.get(name)
