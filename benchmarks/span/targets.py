"""What the layer must reach, beside what it reached."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.span.cases import FAST, GRID, TARGETED
from benchmarks.span.floor import core_floor, layer_floor
from benchmarks.span.layer import Shape
from benchmarks.span.training import ENCODERS

Records = Mapping[str, Any]
# shape, allocator: the fast route must and should be so many times faster than the literal layer, the tiles must be,
# and so many times smaller at the peak.
RATIOS: dict[tuple[Shape, str], tuple[float, float, float, float | None]] = {
    ((384, 8, 32), "default"): (2.5, 3.2, 1.4, 12),
    ((768, 8, 32), "default"): (2.0, 2.5, 1.4, 6),
    ((768, 1, 128), "default"): (3.5, 4.8, 2.2, 15),
    ((384, 8, 128), "default"): (16, 26, 6, 50),
    ((384, 8, 256), "default"): (20, 37, 8, 90),
    ((768, 8, 256), "default"): (18, 29, 8, 100),
    ((768, 1, 512), "default"): (22, 39, 11, 120),
    ((384, 1, 256), "tuned"): (5.5, 9, 2, None),
    ((768, 1, 256), "tuned"): (5.5, 8, 3, None),
}
SHARES = {"MiniLM, 6 x 384": (0.12, 0.20), "12 x 768": (0.05, 0.09)}  # of a step, at 256 units


class Line(NamedTuple):
    """least: whether `must` is the lowest that is allowed, or the highest."""

    what: str
    value: float
    must: float
    aim: float | None
    least: bool

    @property
    def verdict(self) -> str:
        """In words."""
        if self.value < self.must if self.least else self.value > self.must:
            return "must missed"
        if self.aim is None:
            return "must met"
        met = self.value >= self.aim if self.least else self.value <= self.aim
        return "aim met" if met else "must met"


def named(shape: Shape) -> str:
    """As in the names of records."""
    return ",".join(map(str, shape))


def lines(records: Records, device: str) -> list[Line]:
    """Every line that what was measured allows."""
    fast = FAST[device]
    target_lines = [*_ratios(records, fast), *_memory(records, fast), *_absolute(records, fast)]
    target_lines += [*_everywhere(records, fast), *_shares(records, fast), *_masks(records)]
    return [*target_lines, *_floors(records, fast), *_accuracy(records), *_growth(records, fast)]


def _times(records: Records, shape: Shape, allocator: str) -> Mapping[str, float]:
    return records.get(f"times {named(shape)} {allocator}", {})


def _ratios(records: Records, fast: str) -> list[Line]:
    target_lines = []
    for (shape, allocator), (must, aim, tiles, _) in RATIOS.items():
        times = _times(records, shape, allocator)
        if "literal" not in times:
            continue
        for route, least, best in ((fast, must, aim), ("tiles", tiles, None)):
            what = f"{shape}, {allocator} allocator: literal / {route}, time"
            target_lines.append(Line(what, times["literal"] / times[route], least, best, True))
    return target_lines


def _memory(records: Records, fast: str) -> list[Line]:
    target_lines = []
    for (shape, _), (*_, must) in RATIOS.items():
        sizes = memory(records, shape)
        if must is not None and "literal" in sizes:
            target_lines += [
                Line(
                    f"{shape}: literal / {route}, peak memory",
                    sizes["literal"] / sizes[route],
                    must,
                    None,
                    True,
                )
                for route in (fast, "tiles")
                if route in sizes
            ]
    return target_lines


def memory(records: Records, shape: Shape) -> dict[str, float]:
    """Megabytes by route."""
    merged: dict[str, float] = {}
    for name, record in records.items():
        if name.startswith(f"memory {named(shape)} ") and "failed" not in record:
            merged |= record
    return merged


def _absolute(records: Records, fast: str) -> list[Line]:
    """Against what projections, their gradients and squares of scores take, tiles besides."""
    target_lines = []
    for route in (fast, "tiles"):
        shares = {
            shape: sizes[route] / expected_megabytes(shape)
            for shape in {*GRID, *TARGETED}
            if route in (sizes := memory(records, shape))
        }
        if shares:
            shape = max(shares, key=shares.__getitem__)
            what = f"worst of {len(shares)} shapes, {shape}: {route}, peak memory / expected"
            target_lines.append(Line(what, shares[shape], 1.15, None, False))
        if route in (sizes := memory(records, (768, 8, 512))):
            target_lines.append(Line(f"(768, 8, 512): {route}, peak memory in MB", sizes[route], 250, None, False))
    return target_lines


def expected_megabytes(shape: Shape) -> float:
    """Nine tensors of unit vectors, four squares of scores, four of weights, and 4 MB."""
    width, batch, units = shape
    return 4 * (9 * batch * units * width + 4 * batch * units**2 + 4 * width**2) / 2**20 + 4


def _masks(records: Records) -> list[Line]:
    masks, padded = records.get("masks", {}), records.get("padded", {})
    return [
        *(Line(f"8 texts of 512 units: {route}, legal spans in ms", masks[route], 1, None, False) for route in masks),
        *(Line(f"padded batch / its texts alone, {route}", padded[route], 1.1, None, False) for route in padded),
    ]


def _shares(records: Records, fast: str) -> list[Line]:
    target_lines = []
    for name, (must, tiles) in SHARES.items():
        width = ENCODERS[name][1]
        step, times = records.get(f"encoder {name} 256"), _times(records, (width, 8, 256), "default")
        if step and times:
            for route, most in ((fast, must), ("tiles", tiles)):
                share = 100 * times[route] / (times[route] + step["milliseconds"])
                target_lines.append(
                    Line(f"{name}, 256 units: {route}, % of a training step", share, 100 * most, None, False)
                )
    return target_lines


def _everywhere(records: Records, fast: str) -> list[Line]:
    target_lines = []
    for route, must in ((fast, 1.2), ("tiles", 0.9)):
        ratios = {
            shape: times["literal"] / times[route]
            for shape in {*GRID, *TARGETED}
            if "literal" in (times := _times(records, shape, "default"))
        }
        if ratios:
            shape = min(ratios, key=ratios.__getitem__)
            what = f"worst of {len(ratios)} shapes, {shape}: literal / {route}, time"
            target_lines.append(Line(what, ratios[shape], must, None, True))
    return target_lines


def _floors(records: Records, fast: str) -> list[Line]:
    if "floor" not in records:
        return []
    target_lines = []
    core, times = records.get("core 768,1,256"), _times(records, (768, 8, 256), "default")
    for route, of_core, aim_core, of_layer, aim_layer in (
        (fast, 2.5, 1.5, 1.6, 1.2),
        ("tiles", 7.0, None, 4.0, None),
    ):
        if core:
            value = core[route] / core_floor(records["floor"])
            target_lines.append(Line(f"spans alone, (768, 1, 256): {route} / floor", value, of_core, aim_core, False))
        if times:
            value = times[route] / layer_floor(records["floor"], (768, 8, 256))
            target_lines.append(Line(f"layer, (768, 8, 256): {route} / floor", value, of_layer, aim_layer, False))
    return target_lines


def _accuracy(records: Records) -> list[Line]:
    if "errors" not in records:
        return []
    spans, layers = records["errors"]["spans"], records["errors"]["layer"]
    target_lines = [
        Line(
            f"spans alone, (768, 1, 256): worst error of {route} x 1e6",
            1e6 * max(errors.values()),
            1.5,
            None,
            False,
        )
        for route, errors in spans.items()
    ]
    literal = max(layers["literal"].values())
    target_lines += [
        Line(
            f"layer: worst error of {route} / that of literal",
            max(layers[route].values()) / literal,
            2,
            None,
            False,
        )
        for route in spans
    ]
    exact = max(layers["tiles in float64"].values())
    return [
        *target_lines,
        Line("layer: worst error of tiles in float64 x 1e13", 1e13 * exact, 1, None, False),
    ]


def _growth(records: Records, fast: str) -> list[Line]:
    short, long = (_times(records, (768, 1, units), "default") for units in (256, 512))
    return [
        Line(f"width 768: time at 512 units / at 256, {route}", long[route] / short[route], 4.2, None, False)
        for route in (fast, "tiles")
        if short and long
    ]
