"""The page about the span layer's speed, drawn from the measurements."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.attribution.results import machine_words
from benchmarks.span.cases import GRID, TARGETED
from benchmarks.span.floor import core_floor, layer_floor
from benchmarks.span.reasons import why
from benchmarks.span.targets import Line, Records, lines, memory, named
from benchmarks.span.training import BATCH, ENCODERS

HEAD = """# The span layer's speed

Made by `make bench`; not written by hand.

The layer of a self-explaining model looks at all spans of a text. Written down as published it holds a tensor of
spans x width, several times over ("literal" below). Pellucid never does: `numba` and `tiles` compute the same numbers,
forward and backward, a few spans at a time. `tiles` is plain PyTorch and always there; `numba` is taken on a CPU where
`pip install '.[fast]'` was run and a text has more than 16 units; `triton` is taken on CUDA. `numba` compiles vectors of sixteen numbers, and plain loops that
compute the same where the compiler refuses those vectors; all times below are of the vectors.
"""
GOALS = (
    "**Must** is the least that the layer has to reach (or the most that it may take), **aim** a better value that it "
    "should reach. Both were set before this run and on another processor. A line without an aim has a must alone. "
    "Where a line is a ratio literal / route, more is better; everywhere else less is."
)
READING = """## How to read it

Whole layer: four projections, spans, softmax, sum of squared weights; forward and backward to the unit vectors and all
weights, float32, one thread, every span legal. Shapes are (width, texts, units a text). Time is the median of the
process's own CPU time; other work on the machine disturbs it less than the clock on the wall, but it does. Memory is the
growth of resident memory over one step in a fresh process.

The allocator is said with every ratio because most of the literal side's time is its work: above some size glibc gives
every block back and fetches it page by page in the next step. "Tuned" is `MALLOC_MMAP_MAX_=0`,
`MALLOC_TRIM_THRESHOLD_=1000000000000` and `MALLOC_TOP_PAD_=1000000000`, for all sides.

The floor is what the machine's own speed allows, measured in the same run: two tanh and twelve multiply-adds for each
dimension of each span, and nine multiplications by a square matrix for each unit.
"""
TRITON = """## On a GPU

[The Triton route's times](span-layer-cuda.md) were measured on an H100. On machines without a GPU its numbers are checked in Triton's interpreter.
"""


def write_page(results: Mapping[str, Any], docs: Path) -> Path:
    """Write the page."""
    records = {name: record for name, record in results["records"].items() if "failed" not in record}
    parts = [HEAD, where(results), _targets(records), grid(records, "numba")]
    parts += [_floor(records), _errors(records), _shares(records), _narrow(records), TRITON, READING]
    path = docs / "span-layer.md"
    path.write_text("\n\n".join(part.strip() for part in parts if part) + "\n", encoding="utf-8")
    return path


def where(results: Mapping[str, Any]) -> str:
    """The machine and the versions, in words."""
    machine, versions = results["made_on"], results["versions"]
    cores = "1 core" if machine["cores"] == 1 else f"{machine['cores']} cores"
    return (
        f"On {machine_words(machine)}, {cores}, {machine['device']}; Python {versions['python']}, torch "
        f"{versions['torch']}. Other work ran on the machine (load {machine['load_before']} at the start)."
    )


def _targets(records: Records) -> str:
    target_lines = lines(records, "cpu")
    rows = [
        (
            line.what,
            f"**{line.value:.3g}**",
            f"{line.must:g}",
            "" if line.aim is None else f"{line.aim:g}",
            line.verdict,
        )
        for line in target_lines
    ]
    return (
        f"## What it must reach\n\n{GOALS}\n\n"
        + _table(("", "measured", "must", "aim", "verdict"), rows)
        + _missed(target_lines)
    )


def _missed(target_lines: Iterable[Line]) -> str:
    """Each reason once, after all lines that it holds for."""
    missed: dict[str, list[str]] = {}
    for line in target_lines:
        if line.verdict == "must missed":
            missed.setdefault(why(line.what), []).append(f"**{line.what}**")
    reasons = [f"- {'; '.join(names)}. {reason}".rstrip() for reason, names in missed.items()]
    return "\n\nWhat is missed, and why:\n\n" + "\n".join(reasons) if reasons else ""


def grid(records: Records, fast: str) -> str:
    """Time and memory of every shape."""
    rows = []
    for shape in sorted({*GRID, *TARGETED}):
        sizes = memory(records, shape)
        for allocator in ("default", "tuned"):
            times = records.get(f"times {named(shape)} {allocator}")
            if times is None:
                continue
            literal = times.get("literal")
            speed = [f"{literal / times[route]:.1f}" if literal else "" for route in (fast, "tiles")]
            shown = [f"{sizes[route]:.0f}" if route in sizes else "" for route in (fast, "tiles", "literal")]
            milliseconds = [_number(times.get(route)) for route in (fast, "tiles", "literal")]
            rows.append(
                (
                    str(shape),
                    allocator,
                    *milliseconds,
                    *speed,
                    *(shown if allocator == "default" else [""] * 3),
                )
            )
    head = (
        "shape",
        "allocator",
        f"{fast}, ms",
        "tiles, ms",
        "literal, ms",
        f"literal / {fast}",
        "literal / tiles",
    )
    return "## Time and peak memory\n\n" + _table((*head, f"{fast}, MB", "tiles, MB", "literal, MB"), rows)


def _floor(records: Records) -> str:
    if "floor" not in records:
        return ""
    floor = records["floor"]
    rows = []
    for shape in TARGETED:
        core, times = records.get(f"core {named(shape)}"), records.get(f"times {named(shape)} default")
        if core and times:
            by_core = [f"{core[route]:.2f} ({core[route] / core_floor(floor):.1f} x)" for route in ("numba", "tiles")]
            least = layer_floor(floor, shape)
            by_layer = [f"{times[route] / least:.1f} x" for route in ("numba", "tiles")]
            rows.append((str(shape), *by_core, f"{least:.1f}", *by_layer))
    head = ("shape", "numba, ns", "tiles, ns", "layer's floor, ms", "numba", "tiles")
    return (
        "## Distance from the floor\n\n"
        f"A tanh takes {floor['tanh']:.3f} ns, a multiply-add {floor['multiply_add']:.4f} ns, one inside a matrix "
        f"product {floor['product']:.4f} ns: {core_floor(floor):.3f} ns for a dimension of a span. Spans alone in ns "
        f"for each, then the whole layer.\n\n" + _table(head, rows)
    )


def _errors(records: Records) -> str:
    if "errors" not in records:
        return ""
    parts = []
    for part, title in (("spans", "Spans alone, from the same a, c, p and u"), ("layer", "Whole layer")):
        by_route = records["errors"][part]
        names = list(next(iter(by_route.values())))
        rows = [(route, *(f"{errors[name]:.1e}" for name in names)) for route, errors in by_route.items()]
        parts.append(f"{title}:\n\n" + _table(("", *names), rows))
    return (
        "## Distance from float64\n\nLargest difference over largest value, at (768, 1, 256), scores four times as "
        "spread as a fresh layer's. Gradients go by the name of what they belong to.\n\n" + "\n\n".join(parts)
    )


def _shares(records: Records) -> str:
    rows = []
    for name, (_, width, _) in ENCODERS.items():
        for units in (32, 128, 256, 512):
            step = records.get(f"encoder {name} {units}")
            shape = named((width, BATCH, units))
            times = records.get(f"times {shape} default") or records.get(f"share {shape}")
            if step and times:
                own = step["milliseconds"]
                shares = [f"{times[route] / (own + times[route]):.1%}" for route in ("numba", "tiles")]
                literal = times.get("literal")
                shown = "" if literal is None else f"{literal / (own + literal):.0%}"
                rows.append((name, str(units), _number(own), *shares, shown))
    head = ("encoder", "units", "step without the layer, ms", "numba", "tiles", "literal")
    intro = (
        f"## Share of a training step\n\nBatch {BATCH}, AdamW included, random weights; the layer's part of the "
        f"step.\n\n"
    )
    return intro + _table(head, rows) if rows else ""


def _narrow(records: Records) -> str:
    rows = []
    for name, record in records.items():
        if name.startswith("narrow "):
            _, shape, width = name.split()
            whole = records.get(f"times {shape} default") or records.get(f"share {shape}")
            if whole:
                gains = [
                    f"{_number(record[route])} ({whole[route] / record[route]:.1f} x)" for route in ("numba", "tiles")
                ]
                rows.append((f"({shape.replace(',', ', ')})", width, *gains))
    intro = (
        "## Narrow span vectors\n\nWith `span_width`, against the full width, projection included; it is another "
        "model.\n\n"
    )
    return intro + _table(("shape", "span_width", "numba, ms", "tiles, ms"), rows) if rows else ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    listed = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in listed)
