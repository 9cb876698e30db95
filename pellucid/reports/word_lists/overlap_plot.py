"""How many words the classes' lists share, against the length of the lists, beside random and rarest-first lists."""

from collections.abc import Mapping, Sequence

from pellucid.core.corpus.list_overlap import OverlapCurve
from pellucid.core.corpus.word_lists import Sums
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.page.curve_plot import LineStyle, axes, sample_of
from pellucid.reports.page.plot_frame import HEIGHT, WIDTH, Frame, round_ticks

STYLES: dict[str, LineStyle] = {
    "raw": LineStyle("pl-c1 pl-d1", None),
    "normalised": LineStyle("pl-c2 pl-d2", None),
    "rarest": LineStyle("pl-c3 pl-d3", None),
    "random": LineStyle("pl-chance", None),
}
NAMES = {
    "raw": "scores added up × idf",
    "normalised": "shares added up × idf",
    "rarest": "rarest words of each class",
    "random": "random words of each class, 95 % of draws",
}


def overlap_plot(curves: Mapping[Sums, OverlapCurve]) -> Markup | None:
    """The curves of both sums in one plot; the controls are those of the longest curve. None where there is none."""
    longest = max(curves.values(), key=lambda curve: len(curve.k))
    if len(longest.k) < 2:
        return None
    lines: dict[str, Sequence[float]] = {
        sums: curve.lists for sums, curve in curves.items() if len(curve.k) > 1
    }
    lines |= {"rarest": longest.rarest, "random": longest.random_mean}
    frame = _frame(len(longest.k), max(max(longest.random_high), *(max(line) for line in lines.values())))
    drawing = element(
        "svg",
        *axes(frame, "words of each list, k", "% shared by pairs of classes"),
        _band(longest, frame),
        *(_line(values, frame, STYLES[key], NAMES[key]) for key, values in reversed(lines.items())),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=_spoken(lines),
        class_="pl-plot",
    )
    keys = (element("li", sample_of(STYLES[key]), name(NAMES[key])) for key in lines)
    return element("figure", drawing, element("ul", *keys, class_="pl-lines"), class_="pl-figure")


def _frame(most: int, highest: float) -> Frame:
    """From 0 to the highest share, as percent, at least 5."""
    return Frame((1.0, float(most)), (0.0, round_ticks(0.0, max(100 * highest, 5.0))[-1]))


def _points(values: Sequence[float], frame: Frame) -> str:
    return frame.points(range(1, len(values) + 1), (100 * value for value in values))


def _line(values: Sequence[float], frame: Frame, style: LineStyle, title: str) -> Markup:
    line = element("polyline", points=_points(values, frame), class_="pl-line")
    return element("g", element("title", title), line, class_=style.css_classes)


def _band(curve: OverlapCurve, frame: Frame) -> Markup:
    there = _points(curve.random_high, frame)
    back = " ".join(reversed(_points(curve.random_low, frame).split()))
    return element("polygon", points=f"{there} {back}", class_="pl-band pl-chance")


def _spoken(lines: Mapping[str, Sequence[float]]) -> str:
    ends = ", ".join(f"{NAMES[key]} {100 * values[-1]:.1f} %" for key, values in lines.items())
    return f"Line plot of the words that pairs of classes share, at the longest lists: {ends}"
