"""A picture of curves as SVG: a line a name, with its band where it has one, named at its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from pellucid.drawing.curve_plot import round_ticks

LEFT, TOP, WIDTH, HEIGHT, RIGHT, FOOT = 66, 64, 440, 260, 110, 74  # RIGHT: more where a name is longer
LETTER = 7.5  # of a curve's name, at most
INK, MUTED, RULE = "#1c1f24", "#5d6470", "#dfe1e4"
COLOURS = ("#3a3f47", "#00694f", "#b3471b", "#0b5c8a", "#6b4fa0")
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"
APART = 14  # between two names of curves

Point = tuple[float, float]


@dataclass(frozen=True)
class NamedCurve:
    """points: (x, y) in their order. band: (lowest, highest) y of each point, () for none. names: of points, () for
    none.
    """

    name: str
    points: tuple[Point, ...]
    band: tuple[Point, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Frame:
    """From values to places; both axes begin at 0."""

    most_x: float
    most_y: float

    def x(self, value: float) -> float:
        return round(LEFT + WIDTH * value / self.most_x, 1)

    def y(self, value: float) -> float:
        return round(TOP + HEIGHT * (1 - min(max(value / self.most_y, 0.0), 1.0)), 1)


def curve_plot(
    title: str,
    curves: Sequence[NamedCurve],
    axes: tuple[str, str],
    foot: str,
    written: Callable[[float], str] = "{:g}".format,
) -> str:
    """An SVG document on white ground. axes: what is drawn across and up, from 0; bands beyond the highest point are
    cut off.

    written: a place on the axis across -> what stands there.
    """
    points = [point for one in curves for point in one.points]
    frame = _Frame(*(round_ticks(0.0, max((point[axis] for point in points), default=1.0))[-1] for axis in (0, 1)))
    longest = max((len(one.name) for one in curves), default=0)
    width, height = LEFT + WIDTH + max(RIGHT, round(LETTER * longest) + 16), TOP + HEIGHT + FOOT
    ends = spread([frame.y(one.points[-1][1]) for one in curves], APART)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        svg_text(16, 26, title, size=15),
        *_axes(frame, axes, written),
        *(
            part
            for number, one in enumerate(curves)
            for part in _curve(one, frame, COLOURS[number % len(COLOURS)], ends[number])
        ),
        svg_text(16, height - 12, foot, colour=MUTED),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """The heights, moved down where two are closer than `apart`, so that names do not lie on each other."""
    order, moved, last = sorted(range(len(heights)), key=heights.__getitem__), [0.0] * len(heights), -apart
    for number in order:
        last = max(heights[number], last + apart)
        moved[number] = last
    return moved


def _axes(frame: _Frame, axes: tuple[str, str], written: Callable[[float], str]) -> list[str]:
    across, up = axes
    parts = [svg_text(16, TOP - 14, up, colour=MUTED)]
    for value in round_ticks(0.0, frame.most_y):
        y = frame.y(value)
        parts.append(f"<line x1='{LEFT}' x2='{LEFT + WIDTH}' y1='{y}' y2='{y}' stroke='{RULE}'/>")
        parts.append(svg_text(LEFT - 8, y + 4, f"{value:g}", colour=MUTED, anchor="end"))
    for value in round_ticks(0.0, frame.most_x):
        parts.append(svg_text(frame.x(value), TOP + HEIGHT + 18, written(value), colour=MUTED, anchor="middle"))
    parts.append(svg_text(LEFT + WIDTH / 2, TOP + HEIGHT + 38, across, colour=MUTED, anchor="middle"))
    return parts


def _curve(curve: NamedCurve, frame: _Frame, colour: str, end: float) -> list[str]:
    places = [(frame.x(x), frame.y(y)) for x, y in curve.points]
    parts = []
    if curve.band:
        upper = [f"{x},{frame.y(high)}" for (x, _), (_, high) in zip(places, curve.band, strict=True)]
        lower = [f"{x},{frame.y(low)}" for (x, _), (low, _) in zip(places, curve.band, strict=True)]
        parts.append(f"<polygon points='{' '.join([*upper, *reversed(lower)])}' fill='{colour}' opacity='0.15'/>")
    listed = " ".join(f"{x},{y}" for x, y in places)
    parts.append(f"<polyline points='{listed}' fill='none' stroke='{colour}' stroke-width='2'/>")
    for (x, y), name in zip(places, curve.names, strict=False):
        parts.append(f"<circle cx='{x}' cy='{y}' r='3.5' fill='{colour}'/>")
        parts.append(svg_text(x + 5, y - 6, name, colour=colour))
    parts.append(svg_text(LEFT + WIDTH + (28 if curve.names else 10), end + 4, curve.name, colour=colour, size=13))
    return parts


def svg_text(x: float, y: float, words: str, *, colour: str = INK, size: int = 11, anchor: str = "start") -> str:
    """Words at a place; a size in pixels."""
    look = f"{FONT} font-size='{size}' fill='{colour}' text-anchor='{anchor}'"
    return f"<text x='{x}' y='{y}' {look}>{escape(words)}</text>"
