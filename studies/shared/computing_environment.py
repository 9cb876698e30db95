"""What a unit's numbers were computed with: precision and threads, which change them, and the machine, which may."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, cast

import torch

from pellucid.run.diagnostics import EAGER
from pellucid.text.ranges import TIES
from pellucid.training.recipe import Precision, computes_in

PACKAGES = ("torch", "transformers", "numpy")


class ComputingIdentity(TypedDict, total=False):
    """What changes a unit's numbers. Units of earlier versions have none of it, or no route: they are eager. threads:
    None on a GPU.
    """

    precision: str
    threads: int | None
    device: str
    route: str


class ComputingRecord(ComputingIdentity, total=False):
    """The identity with the processor, the versions of packages, and the rule for equal scores where words are
    ranked.
    """

    processor: str
    versions: dict[str, str]
    equal_scores: str


class ComputedUnits(TypedDict):
    """How many units were computed alike."""

    computed: ComputingRecord
    units: int


NOT_RECORDED: ComputingRecord = {}


def computing_identity(precision: Precision, device: str, route: str = EAGER) -> ComputingIdentity:
    """What two trainings must share, besides plan, recipe and texts, to be repetitions of each other."""
    kind = torch.device(device)
    threads = torch.get_num_threads() if kind.type == "cpu" else None
    precise = computes_in(precision, kind)
    return {"precision": precise, "threads": threads, "device": kind.type, "route": route}


def computing_record(precision: Precision, device: str, route: str = EAGER) -> ComputingRecord:
    """The identity with processor and versions, as it is saved beside a unit's numbers."""
    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    return {
        **computing_identity(precision, device, route),
        "processor": processor(device),
        "versions": versions,
        "equal_scores": TIES,
    }


def processor(device: str = "cpu") -> str:
    """The name of the processor or the GPU; "unknown" where the system does not say."""
    if torch.device(device).type == "cuda":
        return str(torch.cuda.get_device_name(device))
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8", errors="replace").splitlines() if listed.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or "unknown")


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch computes on one thread in the block. Another number of threads would round differently."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def count_machines(runs: Sequence[Mapping[str, Any]]) -> list[ComputedUnits]:
    """The different records of runs, each with its number of runs. Runs of earlier versions have no record."""
    groups: list[ComputedUnits] = []
    for run in runs:
        computed = _machine(run.get("computed", NOT_RECORDED))
        same = next((one for one in groups if one["computed"] == computed), None)
        if same is None:
            groups.append({"computed": computed, "units": 1})
        else:
            same["units"] += 1
    return groups


def _machine(computed: ComputingRecord) -> ComputingRecord:
    """The record as it was written before there was a rule for equal scores, and, if its route is eager, before there
    were routes.
    """
    left_out = {"equal_scores", *(("route",) if computed.get("route") == EAGER else ())}
    return cast(ComputingRecord, {name: value for name, value in computed.items() if name not in left_out})


def where_computed(groups: Sequence[ComputedUnits]) -> str:
    """The records of a study as a sentence for its page."""
    listed = "; ".join(f"{_described(one['computed'])} ({one['units']})" for one in groups)
    return f"Computed with (units): {listed}."


def _described(computed: ComputingRecord) -> str:
    if not computed:
        return "precision, threads, processor and versions not recorded"
    threads = "" if computed["threads"] is None else f", {computed['threads']} thread"
    versions = ", ".join(f"{name} {number}" for name, number in computed["versions"].items())
    route = computed.get("route", EAGER)
    by = "" if route == EAGER else f", route {route}"
    return f"{computed['precision']}{threads}{by}, {computed['processor']}, {versions}"
