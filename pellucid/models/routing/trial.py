"""A route: how a network's passes are computed; and the trial that says which is fastest and gives the same."""

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from pellucid.base.errors import BadFile
from pellucid.base.files import cache_folder, whole_file
from pellucid.base.kinds import routes
from pellucid.run.batch import Row
from pellucid.run.parity import residuals
from pellucid.run.trace import Trace, Want
from pellucid.text.example import Example


def own_call(network: nn.Module, columns: Mapping[str, Any]) -> object:
    """What the network itself answers to these keywords."""
    return network(**columns)


class Route(Protocol):
    """One way to compute the passes of a network; it is made once for each network that it computes.

    Its contexts change the running thread alone, and leave nothing behind. What a route does not recognise, PyTorch
    computes as ever.
    """

    def __init__(self, network: nn.Module) -> None: ...

    @staticmethod
    def lacks() -> str:
        """Why the route cannot compute on this machine, in words; "" where it can."""
        ...

    def explaining(self) -> AbstractContextManager[object]:
        """The context of a pass that is explained: its gradients lead to inputs and states, not to weights."""
        ...

    def training(self) -> AbstractContextManager[object]:
        """The context of the forward pass of a training step: its gradients lead to weights too."""
        ...

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """The answer of `network(**columns)`, or a tuple with its logits: of a pass of which only logits and word
        embeddings are wanted.

        columns: the keywords of the network's forward. Word embeddings are looked up by the network's own module.
        """
        ...


def answering(route: Route) -> AbstractContextManager[object]:
    """The context of a pass of which only logits, word embeddings and their gradients are seen: `route.answering()`,
    where a route has that, in which it may leave out what no logit depends on.
    """
    context: Callable[[], AbstractContextManager[object]] = getattr(route, "answering", route.explaining)
    return context()


def shortened(route: Route) -> AbstractContextManager[object]:
    """The context of such a pass in which no function of PyTorch may be exchanged: `route.shortened()`, where a route
    has that.
    """
    context: Callable[[], AbstractContextManager[object]] = getattr(route, "shortened", nullcontext)
    return context()


def whole_block(route: Route) -> Callable[[], bool]:
    """Has a route that computes the last block at one position compute it whole; returns whether anything changed."""
    whole: Callable[[], bool] = getattr(route, "read_all_positions", bool)
    return whole


def route_class(name: str) -> type[Route]:
    """The class of a registered route; raises `UnknownName` for other names."""
    return cast(type[Route], routes.get(name).make)


# Kinds of passes, of which each has its fastest route: those that leave answers behind, those that also record what is
# on the way, and those with a graph.

ANSWERS, STATES, GRADIENTS = KINDS = ("answers", "states", "gradients")
WANTS = {ANSWERS: Want(), STATES: Want(hidden=True), GRADIENTS: Want(gradients=True)}


def kind_of(want: Want, starts_inside: bool) -> str:
    """The kind of a pass that shall leave this behind; starts_inside: at a layer's states in place of the words."""
    if want.gradients or want.head_graph:
        return GRADIENTS
    recorded = want.hidden or want.exchanges_functions or want.wide_head
    return STATES if recorded or starts_inside else ANSWERS


# The trial of a route: whether its answers and gradients are those of eager, and whether it is faster.

# The passes of a model by which the trial of a route compares it with eager.

TEXTS = tuple(
    Example((text,), id=f"trial {index}")
    for index, text in enumerate(
        (
            "We saw the new film last week, and most of us thought that it was a good one.",
            "It was not bad.",
            "Dull!",
        )
    )
)
LONGER = Example((" ".join(text for example in TEXTS * 3 for text in example.segments),), id="trial of speed")
MANY = 32  # texts of a pass of short ones
LARGE = 256  # pieces of a pass that is compared beside short ones
MOST_TOKENS = 640  # of a pass: more than that do not run together on one core

Run = Callable[[Route, Sequence[Row], Want], Trace]
Timed = Callable[[Route], object]


@dataclass(frozen=True, eq=False)
class TrialPasses:
    """Passes of a few texts.

    trace: a run of rows under a route. exact: such a run in the number type of the weights, where `trace` computes in
    mixed precision: there one bit may become another number of bfloat16, which says nothing of a route. rows: a
    function that returns the rows of texts. kinds: the kinds of passes that the model has.
    """

    trace: Run
    exact: Run
    rows: Callable[[Sequence[Example]], Sequence[Row]]
    kinds: Sequence[str]

    def answers(self, route: Route) -> list[Tensor]:
        """Logits of passes without and with a graph, and the gradient of a mixture of them by the words."""
        rows = self.rows(TEXTS)
        with torch.inference_mode(False):
            gradients = _with_gradient(self.exact, route, rows) if GRADIENTS in self.kinds else ()
            return [_logits(self.exact, route, rows), *gradients]

    def full_pass(self, route: Route) -> Tensor:
        """Logits of a pass that is large enough for packed weights."""
        row = self._longest
        with torch.inference_mode(False):
            return _logits(self.exact, route, [row] * (1 + LARGE // len(row)))

    def short_texts(self, route: Route) -> Tensor:
        """Logits of so many short texts that a route computes the products of the head too, which have one row a
        text.
        """
        row = min(self.rows(TEXTS), key=len)
        with torch.inference_mode(False):
            return _logits(self.exact, route, [row] * MANY)

    def pass_of(self, kind: str, seconds: float, eager: Route) -> "tuple[Timed, Timed]":
        """Passes of a kind over a text of some sentences: as often beside itself as fits the time under eager, and
        alone.
        """
        row, run = self._longest, _with_gradient if kind == GRADIENTS else partial(_recorded, WANTS[kind])

        def passes(count: int, route: Route) -> None:
            with torch.inference_mode(False):
                run(self.trace, route, [row] * count)

        start = perf_counter()
        passes(1, eager)
        fitting = int(seconds / (perf_counter() - start))
        count = max(1, min(fitting, MOST_TOKENS // len(row)))
        return partial(passes, count), partial(passes, 1)

    @property
    def _longest(self) -> Row:
        return max((row for row in self.rows([*TEXTS, LONGER]) if not row.windows), key=len)


def _logits(trace: Run, route: Route, rows: Sequence[Row]) -> Tensor:
    return _recorded(Want(), trace, route, rows)


def _recorded(want: Want, trace: Run, route: Route, rows: Sequence[Row]) -> Tensor:
    with torch.no_grad():
        return trace(route, rows, want).logits


def _with_gradient(run: Run, route: Route, rows: Sequence[Row]) -> list[Tensor]:
    trace = run(route, rows, Want(gradients=True))
    mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
    return [trace.logits.detach(), *torch.autograd.grad(mixture.sum(), trace.embeddings)]


NEAR = 1e-5  # relative to the largest number of an answer or a gradient
GAIN = 1.1  # so many times as fast as eager a route must be; less is the noise of a busy machine
ALONE = 0.95  # so many times as fast as eager it must be for a text alone, too
SECONDS = 0.25  # of the passes of eager in a turn: short passes are unlike those of a long work
TURNS = 4  # of all routes, one after the other


def is_right(passes: TrialPasses, route: Route, eager: Route) -> bool:
    """Whether answers and gradients of short texts differ by no more than 1e-5 of their largest number, and the answers
    of a full pass and of one of many texts by no more than that of themselves, or of 1; nan differs from everything.
    """
    pairs = zip(passes.answers(route), passes.answers(eager), strict=True)
    if not all(difference(ours, theirs) <= NEAR for ours, theirs in pairs):
        return False
    large = (passes.full_pass, passes.short_texts)
    return all(bool((residuals(run(route), run(eager)) <= NEAR).all()) for run in large)


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    infinite = theirs.isinf() & (ours == theirs)  # classes that the model rules out
    gap, size = ((each.abs().masked_fill(infinite, 0.0)).max() for each in (ours - theirs, theirs))
    return float(gap / size.clamp_min(1e-30))


def speeds_of(passes: TrialPasses, others: Mapping[str, Route], eager: Route) -> dict[str, dict[str, float]]:
    """For each kind of pass how many times as fast as eager each of the other routes is: the shortest of several turns
    each. A route that is slower than eager for a text alone has that number.
    """
    answers_only = {name for name in others if routes.get(name).facts["answers_only"]}
    speeds = {}
    for kind in passes.kinds:
        able = {name: route for name, route in others.items() if kind == ANSWERS or name not in answers_only}
        full, alone = (_speeds(run, able, eager) for run in passes.pass_of(kind, SECONDS, eager)) if able else ({}, {})
        speeds[kind] = {name: full[name] if alone[name] >= ALONE else min(full[name], alone[name]) for name in able}
    return speeds


def _speeds(run: Timed, others: Mapping[str, Route], eager: Route) -> dict[str, float]:
    for route in others.values():
        run(route)  # what is made once is not timed
    turns = [[_seconds(run, route) for route in (eager, *others.values())] for _ in range(TURNS)]
    of_eager, *of_others = (min(column) for column in zip(*turns, strict=True))
    return {name: of_eager / seconds for name, seconds in zip(others, of_others, strict=True)}


def _seconds(run: Timed, route: Route) -> float:
    start = perf_counter()
    run(route)
    return perf_counter() - start


# What earlier trials chose, in one small file of the user's: a trial measures time, and one a machine is enough.
#
# The file lies in the folder of what is kept for later. Without it every process tries for itself.

PACKAGES = ("torch", "transformers", "openvino", "pellucid")  # whose versions may change what is fastest
NAMES_OF_PROCESSORS = (  # of Intel's and AMD's, and of ARM's
    *("vendor_id", "cpu family", "model\t", "model name", "flags"),
    *("cpu implementer", "cpu architecture", "cpu variant", "cpu part", "features"),
)
MOST = 200  # choices in the file; the oldest go first

Choice = tuple[str, str]  # a route's name, and why


def storage_key(question: Mapping[str, object]) -> str:
    """What a choice depends on, as one word: the question, this machine and the versions of what computes."""
    everything = {**question, "machine": _machine(), "versions": {name: _version(name) for name in PACKAGES}}
    return sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()[:32]


def stored_choice(key: str) -> Choice | None:
    """What a trial chose before; None where the file does not have it or cannot be read."""
    match _stored().get(key):
        case {"route": str(name), "why": str(why)}:
            return name, why
    return None


def store_choice(key: str, choice: Choice) -> None:
    """Add a choice to the file; where nothing can be written, nothing is."""
    name, why = choice
    entries = {
        **_stored(),
        key: {"route": name, "why": why},
    }  # read again: another process may have added its own
    latest = dict(list(entries.items())[-MOST:])
    with suppress(BadFile, OSError), whole_file(_path()) as file:
        file.write((json.dumps(latest, indent=1) + "\n").encode())


def _stored() -> dict[str, object]:
    try:
        entries = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _path() -> Path:
    """Raises `OSError` for a user without a home."""
    return cache_folder() / "routes.json"


@cache
def _machine() -> list[str]:
    """The processor, and how many cores it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # another system
        lines = []
    facts = [line for line in lines if line.lower().startswith(NAMES_OF_PROCESSORS)]
    return [platform.machine(), platform.processor(), str(os.cpu_count()), *dict.fromkeys(facts)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
