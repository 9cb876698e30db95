"""The route of a model, for each kind of its passes: the one that was named, or by trial the fastest whose answers are
those of eager.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from pellucid.base.errors import ModelCannot, RouteNotUsed, UnknownName, notify
from pellucid.base.kinds import routes
from pellucid.models.routing.last_block import is_changed
from pellucid.models.routing.linear_product import peaks
from pellucid.models.routing.trial import (
    GAIN,
    KINDS,
    Route,
    TrialPasses,
    is_right,
    kind_of,
    route_class,
    speeds_of,
    storage_key,
    store_choice,
    stored_choice,
    whole_block,
)
from pellucid.run.diagnostics import EAGER
from pellucid.run.module_hooks import is_watched
from pellucid.run.trace import Want

AUTO = "auto"
FEWEST_WEIGHTS = 1_000_000  # of a network's matrices; a smaller one gains nothing
REMEMBERED = 32  # models

_REMEMBERING = threading.Lock()
Remembered = tuple[str, str, frozenset[str]]  # a route's name, why, and the routes that compute the last block whole
_remembered: "OrderedDict[tuple[object, ...], Remembered]" = OrderedDict()


JOINS = "+"  # between the routes of kinds of passes: "openvino+onednn"
EARLIER = {"openvino_onednn": "openvino+onednn"}  # names of version 0.1


def joined_name(names: Sequence[str]) -> str:
    """The name of routes for answers, states and gradients; what comes last stands for all kinds after it."""
    while len(names) > 1 and names[-1] == names[-2]:
        names = names[:-1]
    return JOINS.join(names)


def names_by_kind(name: str) -> dict[str, str]:
    """The route of each kind of pass; raises `UnknownName` for a name that is not registered, or too many of them."""
    names = EARLIER.get(name, name).split(JOINS)
    for part in names if len(names) <= len(KINDS) else [name]:
        routes.get(part)
    return dict(zip(KINDS, [*names, *names[-1:] * len(KINDS)], strict=False))


@dataclass(frozen=True, eq=False)
class RouteChoice:
    """A route for each kind of pass, with the name of all. why: the reason for it, in words."""

    name: str
    by_kind: Mapping[str, Route]
    why: str

    def route_for(self, want: Want, starts_inside: bool) -> Route:
        """The route of a pass that shall leave this behind; starts_inside: at a layer's states."""
        return self.by_kind[kind_of(want, starts_inside)]


@dataclass(frozen=True, eq=False)
class RouteQuestion:
    """For which network a route is wanted.

    name: a registered one, or "auto". digest: a function that returns what identifies the model. passes: what its trial
    runs. is_mixed: whether it computes in mixed precision. by_name: the routes of this network, so that what one
    compiles in its trial is used afterwards. whole: those that must compute the last block whole.
    """

    name: str
    network: nn.Module
    device: str
    digest: Callable[[], str]
    passes: TrialPasses
    is_mixed: bool = False
    by_name: dict[str, Route] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def answer(self) -> RouteChoice:
        """The chosen routes; of equal models on one device and equally many threads they are tried once a process.

        Which ones are the fastest is measured once a machine; a route that was chosen so before must still give eager's
        answers.
        """
        if self.name == EAGER:
            return self._choice(EAGER, "it was named")
        name, why, whole = self._known_or_tried()
        for each in whole - self.whole:  # of an equal model, whose trial said so
            whole_block(self._named(each))()
        if name == EAGER and self.name != AUTO:
            notify(f"route={self.name!r} is not used: {why}. PyTorch's own operators compute.", RouteNotUsed)
        return self._choice(name, why)

    def _choice(self, name: str, why: str) -> RouteChoice:
        return RouteChoice(name, {kind: self._named(each) for kind, each in names_by_kind(name).items()}, why)

    def _known_or_tried(self) -> Remembered:
        # Equal weights say nothing of how a head reads states, and a network that is watched is computed whole.
        classes = tuple(type(module) for module in self.network.modules())
        key = self.name, self.device, self.digest(), torch.get_num_threads(), classes, is_changed(self.network)
        with _REMEMBERING:
            known = _remembered.get(key)
        if known is None:  # two threads may both try
            name, why = self._fastest() if self.name == AUTO else self._named_routes()
            known = name, why, frozenset(self.whole)
            with _REMEMBERING:
                known = _remembered.setdefault(key, known)
                while len(_remembered) > REMEMBERED:
                    _remembered.popitem(last=False)
        return known

    def _named_routes(self) -> tuple[str, str]:
        refusal = self._refusal_of_any(self.name)
        return (EAGER, refusal) if refusal else (EARLIER.get(self.name, self.name), "it was named")

    def _refusal_of_any(self, name: str) -> str:
        """Why one of the routes of a name cannot be used, in words; "" where all can."""
        others = dict.fromkeys(each for each in names_by_kind(name).values() if each != EAGER)
        return next(filter(None, map(self._refusal, others)), "")

    def _fastest(self) -> tuple[str, str]:
        if sum(each.numel() for each in self.network.parameters() if each.ndim == 2) < FEWEST_WEIGHTS:
            return EAGER, "the network is too small to gain by another"
        facts = {"digest": self.digest(), "device": self.device, "threads": torch.get_num_threads()}
        key = storage_key({**facts, "routes": routes.names()})
        others = [name for name in routes.names() if name != EAGER]
        stored = stored_choice(key)
        if stored is not None and self._is_usable(stored[0]):
            return stored
        refusals = {name: self._refusal(name) for name in others}
        measured = self._measured(refusals)
        if not self._is_unusual_moment():
            store_choice(key, measured)
        return measured

    def _is_usable(self, name: str) -> bool:
        """Whether what a file names can be used; anything may stand in it."""
        try:
            return not self._refusal_of_any(name)
        except UnknownName:
            return False

    def _is_unusual_moment(self) -> bool:
        """Whether the trial runs under something of the user's that passes, and that may slow a route down."""
        return (
            torch.is_autocast_enabled("cpu")
            or not torch.backends.mkldnn.enabled
            or any(is_watched(module) for module in self.network.modules())
        )

    def _measured(self, refusals: Mapping[str, str]) -> tuple[str, str]:
        """The fastest of the routes that are not refused, for each kind of pass, and why."""
        possible = {name: self._named(name) for name, refusal in refusals.items() if not refusal}
        names: list[str] = []
        reasons = [f"{name}: {refusal}" for name, refusal in refusals.items() if refusal]
        for kind, speeds in speeds_of(self.passes, possible, self._named(EAGER)).items():
            best = max(speeds, key=speeds.__getitem__, default=EAGER)
            names.append(best if speeds.get(best, 0.0) >= GAIN else EAGER)
            times = [f"{name} was {speed:.2f} times as fast as {EAGER}" for name, speed in speeds.items()]
            reasons.append(f"{kind}: {', '.join(times) or 'no other route'}")
        if self.device == "cpu":
            rates = (f"{speed:.0f} GFLOP/s by {way}" for way, speed in peaks().items())
            reasons.append(f"large products of float32 reach {' and '.join(rates)}")
        return joined_name(names), "; ".join(reasons)

    def _named(self, name: str) -> Route:
        if name not in self.by_name:
            self.by_name[name] = route_class(name)(self.network)
        return self.by_name[name]

    def _refusal(self, name: str) -> str:
        """Why a route cannot be used for this network, in words; "" where it can."""
        if lack := self._lack(name):
            return lack
        try:
            route, eager = self._named(name), self._named(EAGER)
            refusal = self._trial(route, eager)
            if refusal and whole_block(route)():
                self.whole.add(name)
                refusal = self._trial(route, eager)
        except ModelCannot as error:
            return f"the trial failed: {error}"
        return refusal

    def _trial(self, route: Route, eager: Route) -> str:
        """Why the answers of a route are refused, in words; "" where they are those of eager."""
        known: str = getattr(route, "refusal", "")  # what it always is, where a route has one reason
        try:
            return "" if is_right(self.passes, route, eager) else known or f"its answers are not those of {EAGER}"
        except ModelCannot as error:
            return known or f"the trial failed: {error}"

    def _lack(self, name: str) -> str:
        """Why a route cannot be used for any network here, in words; "" where it can."""
        facts = routes.get(name).facts
        if facts["devices"] and self.device not in facts["devices"]:
            return f"it does not compute on {self.device}"
        if self.is_mixed and not facts["mixes"]:
            return "it does not compute in mixed precision"
        return route_class(name).lacks()


def check_route(name: str) -> None:
    """Raises `UnknownName` for a name that is neither "auto" nor of registered routes."""
    if name != AUTO:
        names_by_kind(name)
