"""The answer in bars, a class a line; and what happens to it while words are hidden, as a picture."""

from collections.abc import Sequence

import numpy as np

from pellucid.drawing.card import probability_bar
from pellucid.drawing.curve_plot import line_styles
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import readable
from pellucid.drawing.wording import percent, readable_number
from pellucid.results.explanation import Prediction
from pellucid.studio.hidden_words import CUTS, HiddenWords

MOST_BARS = 12  # classes
ALONE = "what it writes, a piece"  # of a model that writes: the geometric mean of its pieces' probabilities
WIDTH, HEIGHT = 320, 120


def answer_bars(
    prediction: Prediction, values: np.ndarray, edited: np.ndarray | None = None, explained: int = 0
) -> Markup:
    """A line a class: its name, a bar, its probability; below it that of the edited text, where there is one.

    values, edited: [class]. Of many classes the likeliest are shown, and the explained one.
    """
    are_shares = bool(len(values) > 1 or 0 <= values[0] <= 1)
    order = np.argsort(-values, kind="stable")[:MOST_BARS].tolist()
    shown = sorted({*order, explained}) if len(values) > MOST_BARS else list(range(len(values)))
    names = prediction.labels if len(prediction.labels) == len(values) else [ALONE] * len(values)
    lines = (_line(names[index], index, values, edited, are_shares, index == explained) for index in shown)
    bars = element("div", *lines, class_="st-bars")
    if len(values) == 1 or prediction.gives_several:  # such a text can have several answers, or none
        return bars
    now = names[int((values if edited is None else edited).argmax())]
    answer = element("p", "The answer: ", element("strong", name(now), class_="st-now"), class_="st-answer")
    return fragment(bars, answer)


def _line(
    label: str, index: int, values: np.ndarray, edited: np.ndarray | None, are_shares: bool, is_explained: bool
) -> Markup:
    before, after = float(values[index]), None if edited is None else float(edited[index])
    shown = before if after is None else after
    change = None if after is None else element("small", f"was {_number(before, are_shares)}", class_="st-before")
    title = element("strong", name(label)) if is_explained else name(label)
    return element(
        "div",
        element("span", title, class_="st-class"),
        probability_bar(min(1.0, max(0.0, shown))) if are_shares else None,
        element("span", _number(shown, are_shares), class_="st-value"),
        change,
        class_="st-bar",
        id=f"class-{index}",
    )


def _number(value: float, is_share: bool) -> str:
    return percent(value) if is_share else readable_number(value)


def hiding_plot(cuts: HiddenWords) -> Markup:
    """A line a method: the explained class while its most important words are hidden; the band is ten random orders."""
    every = [hiding.values[:, cuts.explained] for hiding in cuts.most.values()]
    chance = cuts.chance
    low, high = _range([*every, chance])
    points = lambda values: " ".join(f"{_x(cut):g},{_y(value, low, high):g}" for cut, value in enumerate(values))  # noqa: E731
    top, bottom = chance.max(0), chance.min(0)
    band = points(top) + " " + " ".join(reversed(points(bottom).split()))
    styles = line_styles(list(cuts.most))
    lines = (
        element("polyline", points=points(values), class_=f"pl-line {styles[title].css_classes}", fill="none")
        for title, values in zip(cuts.most, every, strict=True)
    )
    legend = (
        element("span", _swatch(styles[title].css_classes), name(readable(title)), class_="st-key")
        for title in cuts.most
    )
    picture = element(
        "svg",
        element("polygon", points=band, class_="st-band"),
        *lines,
        element("line", x1=_x(0), x2=_x(0), y1=0, y2=HEIGHT, class_="st-cursor"),
        viewBox=f"-2 -4 {WIDTH + 4} {HEIGHT + 8}",
        class_="st-plot",
        role="img",
        aria_label=_spoken(cuts),
    )
    ends = f"{readable_number(low)} at the foot, {readable_number(high)} at the top; from no word hidden to all hidden"
    return element(
        "figure",
        picture,
        element("figcaption", *legend, element("span", _band_swatch(), "ten random orders", class_="st-key")),
        element("small", f"The explained answer: {ends}.", class_="pl-note"),
        class_="st-curve",
    )


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    low, high = min(float(np.min(each)) for each in values), max(float(np.max(each)) for each in values)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def _x(cut: int) -> float:
    return round(WIDTH * cut / CUTS, 1)


def _y(value: float, low: float, high: float) -> float:
    return round(HEIGHT * (1 - (float(value) - low) / (high - low)), 1)


def _swatch(css_classes: str) -> Markup:
    line = element("line", x1=0, x2=22, y1=5, y2=5, class_=f"pl-line {css_classes}")
    return element("svg", line, viewBox="0 0 22 10", width=22, height=10, aria_hidden="true")


def _band_swatch() -> Markup:
    return element(
        "svg",
        element("rect", x=0, y=1, width=22, height=8, class_="st-band"),
        viewBox="0 0 22 10",
        width=22,
        height=10,
        aria_hidden="true",
    )


def _spoken(cuts: HiddenWords) -> str:
    means = {title: float(hiding.values[:, cuts.explained].mean()) for title, hiding in cuts.most.items()}
    parts = [f"{readable(title)} {mean:.2f}" for title, mean in means.items()]
    return f"Mean of the explained answer over all cuts: {', '.join(parts)}, random words {cuts.chance.mean():.2f}."
