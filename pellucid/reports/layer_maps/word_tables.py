"""Tables of a layer analysis: sums by layer, words kept most, words that a model stopped using, checks."""

from collections.abc import Sequence

from pellucid.core.corpus.layer_analysis import LayerAnalysis, ModelLayers
from pellucid.core.corpus.layer_words import LayerWord, WordChange, WordChanges, retained_words
from pellucid.core.foundation.kinds import diagnostics
from pellucid.reports.layer_maps.wording import (
    change_mark,
    changes_in_words,
    interval_in_words,
    sum_in_words,
    word_in_words,
)
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number

BY_ROW, IN_LAST, CHANGED = 8, 15, 20  # words that are shown


def sums_table(analysis: LayerAnalysis) -> Markup:
    """A line a row: each model's sum over a text's words, mean and interval."""
    sums = {model: {row.row: row for row in analysis.sums(model)} for model in analysis.names}
    labels = list(dict.fromkeys(row for of_model in sums.values() for row in of_model))
    rows = (
        element(
            "tr",
            element("th", name(label), scope="row"),
            *(
                element("td", sum_in_words(of_model[label]) if label in of_model else "–")
                for of_model in sums.values()
            ),
        )
        for label in labels
    )
    return scroll_box(table(header_row((analysis.row_kind, *sums)), rows, "pl-table"), "Sums")


def retained_tables(analysis: LayerAnalysis) -> Markup:
    """For each model the first words of each row, and those of the last row with their intervals."""
    parts = []
    for model in analysis.models:
        heading = element("h3", name(model.name), class_="pl-heading") if len(analysis.models) > 1 else None
        parts.append(fragment(heading, _by_row(analysis, model), _last_row(analysis, model)))
    return fragment(*parts)


def _by_row(analysis: LayerAnalysis, model: ModelLayers) -> Markup:
    rows = (
        element(
            "tr", element("th", name(row), scope="row"), element("td", name(_listed(analysis, model, row)))
        )
        for row in model.rows
    )
    titles = (analysis.row_kind, "words kept most, with their means")
    return scroll_box(table(header_row(titles), rows, "pl-table"), f"Words by {analysis.row_kind}")


def _listed(analysis: LayerAnalysis, model: ModelLayers, row: str) -> str:
    words = retained_words(analysis, model.name, row)[:BY_ROW]
    return ", ".join(map(word_in_words, words)) or "no word occurs in enough texts"


def _last_row(analysis: LayerAnalysis, model: ModelLayers) -> Markup:
    words = retained_words(analysis, model.name)[:IN_LAST]
    titles = (f"word in {analysis.row_kind} {model.rows[-1]}", "mean (95 % interval)", "occurrences", "texts")
    rows = table(header_row(titles), map(_word, words), "pl-table")
    return element(
        "details",
        element("summary", "The last one, with intervals"),
        scroll_box(rows, "Words of the last row"),
    )


def _word(word: LayerWord) -> Markup:
    return element(
        "tr",
        element("th", name(word.word), scope="row"),
        element("td", interval_in_words(word.score)),
        element("td", f"{word.count:,}"),
        element("td", f"{word.n_texts:,}"),
    )


def changes_tables(changes: Sequence[WordChanges], first: str) -> Markup:
    """For each further model the words that it uses less, the clearest first."""
    return fragment(*(_changes(one, first) for one in changes))


def _changes(changes: WordChanges, first: str) -> Markup:
    sentence = element("p", changes_in_words(changes, first), class_="pl-note")
    if not changes.words:
        return sentence
    shown = changes.stopped[:CHANGED] or changes.words[: CHANGED // 4]
    titles = ("word", first, changes.model, "difference", "texts")
    rows = table(header_row(titles), map(_change, shown), "pl-table")
    return fragment(sentence, scroll_box(rows, f"Words that {changes.model} uses less"))


def _change(change: WordChange) -> Markup:
    symbol, verdict, css_class = change_mark(change)
    return element(
        "tr",
        element("th", name(change.word), scope="row"),
        element("td", number(change.first)),
        element("td", number(change.other)),
        element(
            "td", interval_in_words(change.less), element("small", f"{symbol} {verdict}", class_=css_class)
        ),
        element("td", f"{change.n_texts:,}"),
    )


def checks_table(analysis: LayerAnalysis) -> Markup | None:
    """Each diagnostic of the explanations: what it is, its mean and its worst value; None where there are none."""
    values: dict[str, list[float]] = {}
    for one in (one for model in analysis.models for seed in model.seeds for one in seed):
        for label, value in one.diagnostics.items():
            values.setdefault(label, []).append(value)
    if not values:
        return None
    rows = (_check(label, of_label) for label, of_label in values.items())
    titles = ("check", "what it is", "mean", "worst")
    return element(
        "details",
        element("summary", "Checks of the explanations"),
        scroll_box(table(header_row(titles), rows, "pl-table"), "Checks"),
    )


def _check(label: str, values: Sequence[float]) -> Markup:
    entry = diagnostics.get(label) if label in diagnostics.names() else None
    worst = min if entry is not None and entry.facts["worst"] == "lowest" else max
    return element(
        "tr",
        element("th", name(readable(label)), scope="row"),
        element("td", entry.summary if entry else ""),
        element("td", number(sum(values) / len(values))),
        element("td", number(worst(values))),
    )
