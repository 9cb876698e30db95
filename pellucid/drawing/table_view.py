"""The comparison table: methods are rows, metrics are columns; each number has an interval and a verdict."""

from collections.abc import Mapping, Sequence

from pellucid.base.kinds import metrics, renderers
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import entry_of, readable
from pellucid.drawing.page import facts_view, glossary_view, in_words, notebook_frame
from pellucid.drawing.wording import bounds, three
from pellucid.results.interval import Advice, Kind, TrustCard
from pellucid.results.table import CEILING, CHANCE, Cell, Table

VERDICTS = {
    "better than chance": ("▲", "better", "pl-better"),
    "worse than chance": ("▼", "worse", "pl-worse"),
    "undecided": ("○", "unclear", "pl-unclear"),
}
DIRECTIONS = {"higher": "↑ higher is better", "lower": "↓ lower is better"}
SHORT_DIRECTIONS = {"higher": "↑ better", "lower": "↓ better"}
KEY = (
    "Each number is the mean over the texts; its 95 % interval stands below it. ▲ better, ▼ worse and ○ unclear "
    "compare a method with random scores on the same texts; of tables of noise at most 5 % get any of these "
    "marks. Bold is the best method of a column, where it is marked as better. Random scores are the last "
    "method; “draws ±” gives the standard deviation between their random draws. ↑ more is better, ↓ less is better."
)
Cells = Mapping[tuple[str, str], Cell]


def table_view(results: Table) -> Markup:
    """The trust card, the table in a box that scrolls, what its columns mean, settings and caveats."""
    return fragment(
        card_view(results.card) if results.card is not None else None,
        table_numbers_switch(),
        scroll_box(comparison(results), "Comparison"),
        element("p", KEY, class_="pl-note"),
        *caution_lines(results.caveats),
        _measurements(results),
        _repetition(results),
    )


def comparison(results: Table) -> Markup:
    """The table itself; chance is its last row, or the agreement of the people who marked the texts."""
    cells = {(cell.method, cell.metric): cell for cell in results.cells}
    best = {metric: best_of(metric, cells) for metric in results.metrics}
    of_people = {(cell.method, cell.metric): cell for cell in results.ceiling}
    titles = (_column(metric, cells) for metric in results.metrics)
    ordered = sorted(results.methods, key=is_chance)
    rows = [_row(method, results.metrics, cells, best) for method in ordered]
    if of_people:
        rows.append(_row(CEILING, results.metrics, of_people, dict.fromkeys(results.metrics)))
    return table(element("tr", element("th", "method", scope="col"), *titles), rows, "pl-table")


def is_chance(method: str) -> bool:
    """Whether a method is random scores, which every other method must beat."""
    return method.partition("(")[0] == CHANCE


def best_of(metric: str, cells: Cells) -> float | None:
    """The best mean of a column, chance left out; None where fewer than two methods were measured, or where the best
    is not better than random scores that were judged beside it.
    """
    column = [cell for cell in cells.values() if cell.metric == metric and not is_chance(cell.method)]
    known = [cell for cell in column if cell.value.mean == cell.value.mean]
    if len(known) < 2:
        return None
    sign = 1 if column[0].better == "higher" else -1
    best = max(known, key=lambda cell: sign * cell.value.mean)
    has_floor = any(cell.over_chance is not None for cell in column)
    return best.value.mean if best.verdict == "better than chance" or not has_floor else None


def _column(metric: str, cells: Cells) -> Markup:
    better = next(cell.better for cell in cells.values() if cell.metric == metric)
    direction = element("small", SHORT_DIRECTIONS.get(better, better))
    return element("th", name(readable(metric)), direction, scope="col")


def table_numbers_switch() -> Markup:
    """What writes into each cell the number of texts and the difference from chance, which a pointer also shows."""
    summary = element("summary", "show texts and differences from chance in every cell")
    return element("details", summary, class_="pl-numbers pl-of-table")


def _row(method: str, names: tuple[str, ...], cells: Cells, best: Mapping[str, float | None]) -> Markup:
    meaning = {CHANCE: "random scores", CEILING: "people, each by the others"}.get(method.partition("(")[0])
    title = element("th", name(readable(method)), None if meaning is None else element("small", meaning), scope="row")
    values = (_cell(cells.get((method, metric)), best[metric]) for metric in names)
    return element("tr", title, *values, class_=None if meaning is None else "pl-floor")


def _cell(cell: Cell | None, best: float | None) -> Markup:
    if cell is None:
        return element("td", "–")
    is_best = cell.value.mean == best and not is_chance(cell.method)
    value = element("strong" if is_best else "span", three(cell.value.mean), class_="pl-value")
    return element("td", value, element("small", bounds(cell.value)), _mark(cell), title=_difference(cell))


def _mark(cell: Cell) -> Markup | None:
    if is_chance(cell.method):
        spread = cell.spread
        return None if spread is None else element("small", f"draws ± {three(spread)}", class_="pl-unclear")
    symbol, word, css_class = VERDICTS[cell.verdict]
    return element("small", f"{symbol} {word}", class_=css_class)


def _difference(cell: Cell) -> str:
    if cell.over_chance is None:
        return f"{cell.n} texts"
    over = cell.over_chance
    return f"{cell.n} texts; from chance {three(over.mean)} ({bounds(over)})"


def _measurements(results: Table) -> Markup:
    head = header_row(("metric", "texts", "settings", "meaning"))
    cells = (next(cell for cell in results.cells if cell.metric == metric) for metric in results.metrics)
    box = scroll_box(table(head, (_measurement(cell, results) for cell in cells)), "How it was measured")
    terms = glossary_view(key for cell in results.cells for key in cell.settings)
    summary = element("summary", "How each column was measured")
    return element("details", summary, box, terms, class_="pl-expert")


def _measurement(cell: Cell, results: Table) -> Markup:
    counts = sorted({each.n for each in results.cells if each.metric == cell.metric})
    texts = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    entry = entry_of(metrics, cell.metric)
    meaning = " ".join(part for part in (entry.summary, entry.paper) if part) if entry else "–"
    facts = (texts, in_words(cell.settings), meaning)
    heading = element("th", name(readable(cell.metric)), scope="row")
    return element("tr", heading, *(element("td", name(text)) for text in facts))


def _repetition(results: Table) -> Markup | None:
    if not results.about:
        return None
    summary = element("summary", "What is needed to repeat it")
    return element("details", summary, facts_view(results.about), class_="pl-expert")


# A trust card as a list: a heading for each kind of advice, its sentences, and the tests behind them to unfold.


def card_view(card: TrustCard) -> Markup:
    """The card; kinds without advice are left out."""
    points = [(kind, card.points(kind)) for kind in HEADINGS]
    rows = (
        fragment(
            element("dt", element("span", sign, aria_hidden="true"), " ", heading),
            element("dd", *map(_point, advice)),
        )
        for kind, advice in points
        if advice
        for sign, heading in [heading_of(kind, advice)]
    )
    return fragment(element("dl", *rows, class_="pl-key pl-trust"), element("p", card.tests, class_="pl-note"))


def _point(advice: Advice) -> Markup:
    sentence = element("p", advice.sentence)
    if not advice.evidence:
        return sentence
    items = (element("li", sentence) for sentence in advice.evidence)
    return fragment(sentence, element("details", element("summary", "the tests"), element("ul", *items)))


# What the kinds of advice of a trust card are called, and their signs, in the order in which they are shown.

HEADINGS: dict[Kind, tuple[str, str]] = {
    "shortcut": ("⚠", "What decides by itself"),
    "use": ("✓", "Use for faithful reading"),
    "fast": ("»", "Use when speed matters"),
    "second": ("+", "Faithful, but less so"),
    "people": ("¶", "Nearest to what people marked"),
    "unclear": ("○", "Unclear"),
    "avoid": ("✗", "Do not use"),
    "untested": ("…", "Not tested"),
    "limits": ("!", "What these numbers cannot say"),
}
"""kind -> (sign, heading); signs differ in shape, not in colour alone."""
NOTHING_TO_USE = "○", "No method is recommended"


def heading_of(kind: Kind, points: Sequence[Advice]) -> tuple[str, str]:
    """The sign and heading of some advice; no tick stands beside advice that names no method to use."""
    names_methods = any(point.methods for point in points)
    return HEADINGS[kind] if kind != "use" or names_methods else NOTHING_TO_USE


def title(model: str, n_texts: int) -> str:
    """The heading of a card."""
    return f"Which explanation of {model} to trust, from {n_texts:,} text{'' if n_texts == 1 else 's'}"


@renderers.add(draws="trust card")
def notebook_html_of_trust_card(card: TrustCard) -> str:
    """Which methods a comparison recommends, for `_repr_html_`."""
    return notebook_frame(card_view(card))
