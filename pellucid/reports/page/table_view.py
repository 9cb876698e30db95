"""The comparison table: methods as rows, metrics as columns, each number with interval and verdict."""

from collections.abc import Mapping

from pellucid.core.foundation.kinds import metrics
from pellucid.core.results.table import CHANCE, Cell, Table
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.facts_view import facts_view, in_words
from pellucid.reports.page.heat_map import warnings
from pellucid.reports.wording.method_facts import entry_of, readable
from pellucid.reports.wording.numbers import bounds, three

VERDICTS = {
    "better than chance": ("▲", "better", "pl-better"),
    "worse than chance": ("▼", "worse", "pl-worse"),
    "undecided": ("○", "unclear", "pl-unclear"),
}
DIRECTIONS = {"higher": "↑ higher is better", "lower": "↓ lower is better"}
KEY = (
    "Each number is the mean over the texts, with its 95 % interval below. Bold: the best of its "
    "column. ▲ better, ▼ worse and ○ unclear compare with random scores on the same texts (the last "
    "row, with the standard deviation between its draws)."
)
Cells = Mapping[tuple[str, str], Cell]


def table_view(table: Table) -> Markup:
    """The table in a box of its own that scrolls, what its columns mean, settings and caveats."""
    return fragment(
        element(
            "div", comparison(table), class_="pl-scroll", tabindex=0, role="region", aria_label="Comparison"
        ),
        element("p", KEY, class_="pl-note"),
        *warnings(table.caveats),
        _measured(table),
        _repeat(table),
    )


def comparison(table: Table) -> Markup:
    """The table itself; chance is its last row."""
    cells = {(cell.method, cell.metric): cell for cell in table.cells}
    best = {metric: best_of(metric, cells) for metric in table.metrics}
    heads = (_column(metric, cells) for metric in table.metrics)
    ordered = sorted(table.methods, key=is_chance)
    rows = (_row(method, table.metrics, cells, best) for method in ordered)
    head = element("tr", element("th", "method", scope="col"), *heads)
    return element("table", element("thead", head), element("tbody", *rows), class_="pl-table")


def is_chance(method: str) -> bool:
    """Whether the row is the floor of random scores."""
    return method.partition("(")[0] == CHANCE


def best_of(metric: str, cells: Cells) -> float | None:
    """The best mean of a column, chance left out; None when nothing was measured."""
    found = [cell for cell in cells.values() if cell.metric == metric and not is_chance(cell.method)]
    means = [cell.value.mean for cell in found if cell.value.mean == cell.value.mean]
    if len(means) < 2:
        return None
    return max(means) if found[0].better == "higher" else min(means)


def _column(metric: str, cells: Cells) -> Markup:
    better = next(cell.better for cell in cells.values() if cell.metric == metric)
    entry = entry_of(metrics, metric)
    direction = element("small", DIRECTIONS.get(better, better))
    return element(
        "th", name(readable(metric)), direction, scope="col", title=entry.summary if entry else None
    )


def _row(method: str, names: tuple[str, ...], cells: Cells, best: Mapping[str, float | None]) -> Markup:
    floor = is_chance(method)
    title = element(
        "th", name(readable(method)), element("small", "random scores") if floor else None, scope="row"
    )
    found = (_cell(cells.get((method, metric)), best[metric]) for metric in names)
    return element("tr", title, *found, class_="pl-floor" if floor else None)


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
    symbol, word, look = VERDICTS[cell.verdict]
    return element("small", f"{symbol} {word}", class_=look)


def _difference(cell: Cell) -> str:
    if cell.over_chance is None:
        return f"{cell.n} texts"
    over = cell.over_chance
    return f"{cell.n} texts; {three(over.mean)} from chance, 95 % interval {bounds(over)}: {cell.verdict}"


def _measured(table: Table) -> Markup:
    head = element(
        "tr", *(element("th", title, scope="col") for title in ("metric", "texts", "settings", "meaning"))
    )
    rows = (_measure(next(c for c in table.cells if c.metric == metric), table) for metric in table.metrics)
    held = element("table", element("thead", head), element("tbody", *rows))
    box = element(
        "div", held, class_="pl-scroll", tabindex=0, role="region", aria_label="How it was measured"
    )
    return element("details", element("summary", "How each column was measured"), box, class_="pl-expert")


def _measure(cell: Cell, table: Table) -> Markup:
    counts = sorted({other.n for other in table.cells if other.metric == cell.metric})
    texts = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    entry = entry_of(metrics, cell.metric)
    meaning = " ".join(part for part in (entry.summary, entry.paper) if part) if entry else "–"
    held = (texts, in_words(cell.settings), meaning)
    heading = element("th", name(readable(cell.metric)), scope="row")
    return element("tr", heading, *(element("td", name(text)) for text in held))


def _repeat(table: Table) -> Markup | None:
    if not table.about:
        return None
    summary = element("summary", "What is needed to repeat it")
    return element("details", summary, facts_view(table.about), class_="pl-expert")
