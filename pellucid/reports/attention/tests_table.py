"""The tests as a table: a row a line, a column a model, and what the number says."""

import math

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.results.attention_analysis import AttentionAnalysis, AttentionLine, ModelAttention
from pellucid.reports.attention.wording import (
    MARKS,
    READINGS,
    counts_in_words,
    idle_in_words,
    line_name,
    ordered_lines,
)
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.page.facts_view import in_words
from pellucid.reports.page.glossary_view import glossary_view
from pellucid.reports.wording.method_facts import entry_of, readable
from pellucid.reports.wording.numbers import bounds, three

DIRECTIONS = {"higher": "↑ speaks for the weights", "lower": "↓ speaks for the weights"}


def evidence_table(model: ModelAttention) -> Markup:
    """What the verdict rests on: each number beside the lines that it is compared with."""
    rows = []
    for one in model.verdict.evidence:
        symbol, word, css_class = READINGS[one.reading]
        title = element("th", name(readable(one.test)), scope="row")
        value = fragment(
            element("span", three(one.value.mean), class_="pl-value"), element("small", bounds(one.value))
        )
        reading = element("small", f"{symbol} {word}", class_=css_class)
        rows.append(
            element(
                "tr",
                title,
                element("td", value, reading),
                element("td", one.bound, class_="pl-lines-of"),
                element("td", one.sentence),
            )
        )
    head = header_row(("test", "value, 95 % interval", "lines", "what it says"))
    return scroll_box(table(head, rows, "pl-table pl-tests"), "What the verdict rests on")


def tests_table(analysis: AttentionAnalysis) -> Markup:
    """Every line that is no point of a curve, and each model's verdict below its name."""
    lines = ordered_lines(analysis.models[0])
    columns = (_model_column(model) for model in analysis.models)
    head = element(
        "tr", element("th", "test", scope="col"), *columns, element("th", "what it says", scope="col")
    )
    rows = (_row(line, analysis) for line in lines)
    return scroll_box(table(head, rows, "pl-table pl-tests"), "Tests of attention")


def settings_table(analysis: AttentionAnalysis) -> Markup:
    """How each test was done: its settings and its source, folded."""
    lines = {line.test: line for line in analysis.models[0].lines}
    rows = (_settings_row(line) for line in lines.values())
    head = header_row(("test", "settings", "after whom"))
    box = scroll_box(table(head, rows, "pl-table"), "How each test was done")
    seed = analysis.about.get("seed")
    drawn = [] if seed is None else [element("p", f"Seed of all draws: {seed}.", class_="pl-note")]
    terms = glossary_view(key for line in lines.values() for key in line.settings)
    return element(
        "details", element("summary", "How each test was done"), *drawn, box, terms, class_="pl-expert"
    )


def _settings_row(line: AttentionLine) -> Markup:
    entry = entry_of(attention_tests, line.test)
    source = (entry.paper if entry else "") or "–"  # summaries speak of shapes of tensors
    title = element("th", name(readable(line.test)), scope="row")
    return element(
        "tr", title, element("td", name(in_words(line.settings) or "–")), element("td", name(source))
    )


def _model_column(model: ModelAttention) -> Markup:
    symbol, word, css_class = MARKS[model.verdict.answer]
    return element(
        "th", name(model.name), element("small", f"{symbol} {word}", class_=css_class), scope="col"
    )


def _row(line: AttentionLine, analysis: AttentionAnalysis) -> Markup:
    title = element(
        "th", name(line_name(line)), element("small", DIRECTIONS.get(line.better, "")), scope="row"
    )
    cells = (_cell(_same(model, line)) for model in analysis.models)
    says = " ".join(part for part in (line.meaning, idle_in_words(line)) if part)
    return element("tr", title, *cells, element("td", says))


def _same(model: ModelAttention, line: AttentionLine) -> AttentionLine | None:
    return next((one for one in model.lines if (one.test, one.part) == (line.test, line.part)), None)


def _cell(line: AttentionLine | None) -> Markup:
    if line is None or math.isnan(line.value.mean):
        return element("td", "–")
    return element(
        "td",
        element("span", three(line.value.mean), class_="pl-value"),
        element("small", bounds(line.value)),
        element("small", f"n = {counts_in_words(line)}"),
    )
