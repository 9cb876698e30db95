"""A picture of intervals as SVG: rows down, panels across, each number with its interval and a line at 0."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from pellucid.results.table import Interval

LABELS, PANEL, GAP, ROW, HEAD, FOOT = 300, 172, 22, 20, 62, 42
LETTER = 6.4  # pixels that a letter of a row's name takes at most, in the mean
GOOD, BAD, UNCLEAR = "#00694f", "#a5262c", "#5d6470"
FONT = "font-family='system-ui,sans-serif'"


@dataclass(frozen=True)
class Panel:
    """One measure: its heading, what its direction means, and row -> interval (None: not measured)."""

    heading: str
    about: str
    intervals: Mapping[str, Interval | None]


def interval_plot(
    title: str,
    rows: Sequence[str],
    panels: Sequence[Panel],
    foot: str,
    coloured: bool = True,
    grey: Collection[str] = (),
) -> str:
    """An SVG document on white ground; right of each panel's line at 0 is better.

    coloured: intervals that exclude 0 have the colour of better or worse; False where too few seeds stand behind them
        for a verdict.
    grey: rows of which this holds alone.
    """
    labels = max(LABELS, round(LETTER * max(map(len, rows), default=0)))
    width = labels + len(panels) * (PANEL + GAP)
    height = HEAD + ROW * len(rows) + FOOT
    parts = [
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        _text(12, 20, title, size=14, weight=600),
        *(_text(12, HEAD + ROW * index + 14, row) for index, row in enumerate(rows)),
        *(
            part
            for number, panel in enumerate(panels)
            for part in _panel(panel, rows, labels + number * (PANEL + GAP), {*rows} - {*grey} if coloured else set())
        ),
        _text(12, height - 10, foot, size=11, colour=UNCLEAR),
    ]
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>"
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _panel(panel: Panel, rows: Sequence[str], left: int, coloured: Collection[str]) -> list[str]:
    known = [interval for interval in panel.intervals.values() if interval is not None]
    most = (
        max((abs(end) for interval in known for end in (interval.low, interval.high) if end == end), default=0) or 1.0
    )
    bottom = HEAD + ROW * len(rows)

    def at(value: float) -> float:
        return round(left + PANEL * (value / most + 1) / 2, 1)

    marks = [
        mark
        for index, row in enumerate(rows)
        if (interval := panel.intervals.get(row)) is not None
        for mark in _mark(interval, at, HEAD + ROW * index + ROW // 2, row in coloured)
    ]
    return [
        _text(left, 40, panel.heading, weight=600),
        _text(left, 54, panel.about, size=11, colour=UNCLEAR),
        f"<line x1='{at(0)}' x2='{at(0)}' y1='{HEAD}' y2='{bottom}' stroke='#a0a5ad'/>",
        *marks,
        _text(left, bottom + 13, f"−{most:.2f}", size=10, colour=UNCLEAR),
        _text(left + PANEL, bottom + 13, f"+{most:.2f}", size=10, colour=UNCLEAR, anchor="end"),
    ]


def _mark(interval: Interval, at: Callable[[float], float], y: int, coloured: bool) -> list[str]:
    colour = UNCLEAR if not (coloured and interval.excludes_zero) else GOOD if interval.mean > 0 else BAD
    circle = f"<circle cx='{at(interval.mean)}' cy='{y}' r='3.5' fill='{colour}'/>"
    if interval.low != interval.low:
        return [circle]
    line = (
        f"<line x1='{at(interval.low)}' x2='{at(interval.high)}' y1='{y}' y2='{y}' stroke='{colour}' "
        f"stroke-width='1.8'/>"
    )
    return [line, circle]


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    weight: int = 400,
    colour: str = "#1c1f24",
    anchor: str = "start",
) -> str:
    look = f"{FONT} font-size='{size}' font-weight='{weight}' fill='{colour}' text-anchor='{anchor}'"
    return f"<text x='{x}' y='{y}' {look}>{escape(text)}</text>"
