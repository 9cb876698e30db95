"""What the benchmark must show and what it aims at: each line's value, and by how much it is met or missed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.attribution.cases import BY_ROUTE
from pellucid.run.diagnostics import EAGER

Records = Mapping[str, Mapping[str, Any]]
PLACE = "minilm, 1 thread"
SAME = 0.95
BY_ROUTE_BEGINS = "by route: "


@dataclass(frozen=True)
class Line:
    """A value with the one it must reach and the one it aims at; "at most" unless higher is better.

    value None: not measured, and why.
    """

    what: str
    value: float | None
    must: float
    aim: float | None
    unit: str = "x"
    higher: bool = False
    why: str = ""

    @property
    def verdict(self) -> str:
        """In words."""
        if self.value is None:
            return f"not measured: {self.why}"
        if not self._meets(self.must):
            return "must missed by " + self._by(self.must)
        if self.aim is None:
            return "must met"
        return "aim met" if self._meets(self.aim) else "must met, aim missed by " + self._by(self.aim)

    def _meets(self, level: float) -> bool:
        assert self.value is not None
        return self.value >= level if self.higher else self.value <= level

    def _by(self, level: float) -> str:
        assert self.value is not None
        return f"{abs(self.value - level) / level:.1%}"

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return "-" if self.value is None else f"{self.value:.2f} {self.unit}"


def verdicts(records: Records, device: str) -> list[str]:
    """The lines as text."""
    return [
        f"{line.what}: {line.shown} (must {line.must:g}{'' if line.aim is None else f', aim {line.aim:g}'}): "
        f"{line.verdict}"
        for line in (*lines(records, device), *(route_lines(records) if device == "cpu" else ()))
    ]


SHAPLEY = (
    ("shapley_sampling", "ShapleyValueSampling"),
    ("kernel_shap", "KernelShap"),
    ("gaussian_process_shapley", "ShapleyValueSampling"),
    ("gaussian_process_shapley", "KernelShap"),
)


PATHS = ("integrated_gradients", "smooth_gradient", "gradient_shap")
GAMES = ("kernel_shap", "shapley_sampling", "lime")
TOGETHER = "gradients, Grad-CAM of all layers and attention_gradient together"


def lines(records: Records, device: str) -> list[Line]:
    """Every line of the table of targets; our passes are PyTorch's own."""
    short = ("short",) if device == "cpu" else ("many short",)
    both = (*short, short[0].replace("short", "long"))
    return [
        _ratio(
            records,
            "together",
            both,
            1.3,
            1.1,
            f"{TOGETHER} ÷ one forward + backward",
        ),
        _ratio(records, "gradient", short, 1.15, 1.05, "gradient alone, short texts ÷ floor"),
        *(_ratio(records, name, both, 1.15, 1.0, f"{name} ÷ floor") for name in PATHS),
        _ratio(records, "occlusion", both, 1.1, 1.0, "occlusion ÷ floor"),
        *(_ratio(records, name, both, 0.7, 0.55, f"{name}, absent tokens ÷ floor of all tokens") for name in GAMES),
        *(_on_one_core(records) if device == "cpu" else [_against_captum(records)]),
    ]


def routes_of(records: Records) -> dict[str, Mapping[str, Any]]:
    """The best route of every place where it was looked for, with the reason."""
    return {
        name.removeprefix("route / "): record
        for name, record in records.items()
        if name.startswith("route / ") and "name" in record
    }


def route_lines(records: Records) -> list[Line]:
    """Every line of the table of targets by the best route, which may be eager; none where it was not looked for."""
    if PLACE not in routes_of(records):
        return []
    by = "pellucid" if routes_of(records)[PLACE]["name"] == EAGER else BY_ROUTE
    targets = [
        ("gradient", 0.85, 0.65, "gradient ÷ floor"),
        ("together", 0.95, 0.75, f"{TOGETHER} ÷ one forward + backward"),
        *((name, 0.75, 0.65, f"{name} ÷ floor") for name in PATHS),
        ("occlusion", 0.6, 0.42, "occlusion ÷ floor"),
        *((name, 0.33, 0.22, f"{name}, absent tokens ÷ floor of all tokens") for name in GAMES),
    ]
    both = ("short", "long")
    return [
        *(_ratio(records, method, both, must, aim, BY_ROUTE_BEGINS + what, by) for method, must, aim, what in targets),
        _captum_by_route(records, by, ("gradient",), 3.0, 4.0),
        _captum_by_route(records, by, ("integrated_gradients",), 1.4, 1.6),
        _captum_by_route(records, by, GAMES, 6.0, 8.0),
    ]


def _captum_by_route(records: Records, ours: str, methods: tuple[str, ...], must: float, aim: float) -> Line:
    """The least that ours by route is faster than captum as its README shows it, on the short texts."""
    pairs = {
        method: [records.get(f"{method} / {by} / short / {PLACE}", {}) for by in ("captum", ours)] for method in methods
    }
    faster = {
        method: theirs["ratio"] / own["ratio"]
        for method, (theirs, own) in pairs.items()
        if "ratio" in theirs and "ratio" in own
    }
    least = min(faster, key=faster.__getitem__, default=None)
    words = methods[0] if len(methods) == 1 else f"least of {', '.join(methods)}: {least or 'none'}"
    what = f"{BY_ROUTE_BEGINS}captum's time ÷ ours, short texts ({words})"
    reason = _why(*(record for pair in pairs.values() for record in pair))
    return Line(what, None if least is None else faster[least], must, aim, higher=True, why=reason)


def _on_one_core(records: Records) -> list[Line]:
    """What only a processor is asked."""
    what = "thermostat_lime ÷ floor of all tokens"
    return [
        _ratio(records, "thermostat_lime", ("short", "long"), 1.1, None, what),
        _steps(records),
        *_shapley(records),
        _memory(records),
        *_half_precision(records),
    ]


def _ratio(
    records: Records,
    method: str,
    texts: tuple[str, ...],
    must: float,
    aim: float | None,
    what: str,
    by: str = "pellucid",
) -> Line:
    """The worst of the kinds of texts."""
    of_texts = [records.get(f"{method} / {by} / {kind} / {PLACE}", {}) for kind in texts]
    ratios = [record["ratio"] for record in of_texts if "ratio" in record]
    return Line(what, max(ratios, default=None), must, aim, why=_why(*of_texts))


def _steps(records: Records) -> Line:
    """Our steps for captum's error at its 50, as a share of 50, by the rule that needs fewest."""
    record = records.get("same_error", {})
    what = "integrated_gradients: evaluations for captum's error at 50 steps ÷ 50"
    if "captum" not in record:
        return Line(what, None, 0.5, 0.25, why=_why(record))
    enough = record["captum"]["50"]
    reached = [
        (int(n), by.removeprefix("pellucid "))
        for by, errors in record.items()
        if by != "captum"
        for n, error in errors.items()
        if error <= enough
    ]
    if not reached:
        return Line(what, None, 0.5, 0.25, why="captum's error was not reached")
    return Line(f"{what} (rule {min(reached)[1]})", min(reached)[0] / 50, 0.5, 0.25)


def _shapley(records: Records) -> list[Line]:
    """The share of captum's evaluations that ours need for its error, by benchmarks/shapley_error.py."""
    record = records.get("shapley_error", {})
    shapley_lines = []
    for ours, theirs in SHAPLEY:
        shares = [one[ours] for one in record.get("captum", ()) if one["captum"] == theirs and ours in one]
        value = max((share for share in shares if share == share), default=None)  # without what was out of reach
        what = f"{ours}: evaluations for the error of captum's {theirs} ÷ captum's"
        shapley_lines.append(Line(what, value, 0.5, 0.25, why=_why(record)))
    return shapley_lines


def _memory(records: Records) -> Line:
    """The worst method on the long texts, in gigabytes."""
    record = records.get("peak_memory", {})
    peaks = {name: value for name, value in record.get("methods", {}).items() if isinstance(value, float)}
    timed = {
        name.split(" / ")[0]: record["megabytes"]
        for name, record in records.items()
        if " / pellucid / long" in name and "megabytes" in record
    }
    worst = max([*peaks.items(), *timed.items()], key=lambda pair: pair[1], default=("", None))
    value = None if worst[1] is None else worst[1] / 1000
    return Line(
        f"peak memory beyond the model, 8 long texts (worst: {worst[0]})",
        value,
        0.5,
        0.2,
        "GB",
        why=_why(record),
    )


def _half_precision(records: Records) -> list[Line]:
    """The slowest and the least faithful of the forward-only methods, in the number type that serves best."""
    record = records.get("half_precision", {})
    kinds = [
        (
            min(one.get("same_but_ties", one["same_top"]) for one in by_method.values()),
            min(one["speed"] for one in by_method.values()),
            kind,
        )
        for kind, by_method in record.items()
        if isinstance(by_method, dict) and by_method
    ]
    faithful = [(speed, same, kind) for same, speed, kind in kinds if same >= SAME]
    speed, same, kind = max(
        faithful or [(speed, same, kind) for same, speed, kind in kinds], default=(None, None, "bfloat16")
    )
    return [
        Line(
            f"{kind} against float32 by eager, forward-only methods",
            speed,
            2.0,
            None,
            "x",
            higher=True,
            why=_why(record),
        ),
        Line(
            f"texts with the same five top words in {kind}, ties aside",
            same,
            SAME,
            None,
            "",
            higher=True,
            why=_why(record),
        ),
    ]


def _against_captum(records: Records) -> Line:
    """On a GPU, where batching is everything: the least that we are faster than captum as its README shows it."""
    faster = []
    for name, record in records.items():
        theirs = records.get(name.replace(" / pellucid / ", " / captum / "), {})
        if " / pellucid / " in name and "seconds" in record and "seconds" in theirs:
            method, _, texts, _ = name.split(" / ")
            faster.append((theirs["seconds"] / record["seconds"], f"{method}, {texts}"))
    least = min(faster, default=(None, "none"))
    return Line(f"captum's time ÷ ours (least: {least[1]})", least[0], 10.0, None, higher=True, why="not run")


def _why(*records: Mapping[str, Any]) -> str:
    reasons = [record.get("skipped", record.get("failed", "")) for record in records]
    return next((reason for reason in reasons if reason), "not run")
