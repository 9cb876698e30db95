"""The answer in bars, a class a line; what happens to it while words are hidden, as a picture and by the slider; and
which words flip it.
"""

import json
from collections.abc import Callable, Sequence

import numpy as np

from pellucid.drawing.card import probability_bar
from pellucid.drawing.curve_plot import line_styles
from pellucid.drawing.html import Markup, element, fragment, header_row, name, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.widgets import labelled, widget
from pellucid.drawing.wording import percent, readable_number
from pellucid.results.explanation import Prediction
from pellucid.studio.hidden_words import CUTS, HiddenWords

MOST_BARS = 12  # classes
ALONE = "what it writes, a piece"  # of a model that writes: the geometric mean of its pieces' probabilities
MOST_ALONE_SHOWN = 12  # words that flip the answer alone
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


# The slider, and what flips the answer.


def slider_view(cuts: HiddenWords, by_hand: int, measured: Sequence[str] = ()) -> Markup:
    """What the script moves, with all that it needs; without a script the words are clicked instead.

    by_hand: how many words are hidden by clicks. measured: methods, the best of them first, which the choice begins
    with.
    """
    data = {
        "counts": cuts.counts,
        "explained": cuts.explained,
        "most": {title: _hiding_data(hiding.order, hiding.values) for title, hiding in cuts.most.items()},
        "least": {title: _values(hiding.values) for title, hiding in cuts.least.items()},
        "random": _hiding_data(cuts.random[0].order, cuts.random[0].values),
    }
    best_first = sorted(cuts.most, key=lambda title: measured.index(title) if title in measured else len(measured))
    titles = [(title, readable(title)) for title in best_first]
    which = [("most", "the most important words"), ("least", "the least important words"), ("random", "random words")]
    slide = widget(
        "input", type="range", min=0, max=CUTS, value=0, step=1, class_="st-range", aria_label="Words hidden"
    )
    return element(
        "div",
        labelled("Hide ", widget("select", *_options(which), class_="st-which")),
        labelled("by ", widget("select", *_options(titles), class_="st-method")),
        labelled("hidden: ", slide),
        widget("output", _hidden_by(cuts, by_hand), class_="st-count", aria_live="polite"),
        widget("i", class_="st-data", data_cuts=json.dumps(data, separators=(",", ":"))),
        class_="st-slider",
    )


def _hidden_by(cuts: HiddenWords, by_hand: int) -> str:
    """What is in force before the slider moves."""
    return f"{by_hand} of {cuts.counts[-1]} words, by hand" if by_hand else f"0 of {cuts.counts[-1]} words"


def _options(pairs: Sequence[tuple[str, str]]) -> list[Markup]:
    return [widget("option", title, value=value) for value, title in pairs]


def _values(values: np.ndarray) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in values]


def _hiding_data(order: Sequence[int], values: np.ndarray) -> dict[str, object]:
    return {"order": list(order), "values": _values(values)}


def flips_table(cuts: HiddenWords) -> Markup:
    """The fewest words of each method that change the answer, beside random words."""
    total = cuts.counts[-1]
    draws = [draw.flips_at(cuts.counts) for draw in cuts.random]
    known = sorted(total + 1 if count is None else count for count in draws)
    middle = known[len(known) // 2]
    chance = f"{middle} of {total}" if middle <= total else "the answer stays"
    rows = [
        *(_flip_row(readable(title), hiding.flips_at(cuts.counts), total) for title, hiding in cuts.most.items()),
        element("tr", element("th", "random words, the middle of ten draws", scope="row"), element("td", chance)),
    ]
    step = max(after - before for before, after in zip(cuts.counts, cuts.counts[1:], strict=False))
    coarse = f" Looked at every {step} words." if step > 1 else ""
    title = f"How many words must be hidden, the most important first, until the answer is another one?{coarse}"
    head = header_row(("Words hidden by", "Fewest that flip it"))
    return fragment(element("p", title, class_="pl-note"), table(head, rows, "pl-table pl-small"))


def _flip_row(title: str, count: int | None, total: int) -> Markup:
    shown = "the answer stays" if count is None else f"{count} of {total}"
    return element("tr", element("th", name(title), scope="row"), element("td", shown))


def flips_alone(cuts: HiddenWords, prediction: Prediction, named: Callable[[int], Markup]) -> Markup:
    """The words each of which, hidden alone, changes the answer, those that change it most first; where there is none,
    the word that comes nearest. named: draws a word's text.
    """
    words = cuts.moved_most()
    flipping = [word for word in words if cuts.flips_alone(word)]
    total, count = cuts.counts[-1], len(words)
    scope = f"the {total} words" if count == total else f"the {count} words that a method ranks highest"
    if not flipping:
        title = f"No single word flips the answer: {scope} were hidden one at a time. The nearest:"
    else:
        title = f"Single words that flip the answer when each is hidden alone, of {scope}:"
    shown = flipping[:MOST_ALONE_SHOWN] or words[:1]
    items = [element("li", named(word), " ", _answer_without(cuts, prediction, word)) for word in shown]
    more = len(flipping) - len(shown)
    items += [element("li", f"and {more} more")] if more > 0 else []
    return fragment(element("p", title, class_="pl-note st-alone"), element("ul", *items, class_="st-singles"))


def _answer_without(cuts: HiddenWords, prediction: Prediction, word: int) -> Markup:
    """The answer while a word is hidden: "→ negative 61 %"."""
    best = int(cuts.alone[word].argmax())
    return element("small", "→ ", name(prediction.labels[best]), f" {percent(float(cuts.alone[word][best]))}")
