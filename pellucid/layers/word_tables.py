"""Tables of a layer analysis: sums by layer, words kept most, words that a model stopped using, checks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pellucid.base.kinds import diagnostics
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.wording import readable_number
from pellucid.layers.layer_words import LayerWord, WordChange, WordChanges, default_min_texts, retained_words
from pellucid.layers.record import LayerAnalysis, ModelLayers, RowSum
from pellucid.results.table import Interval
from pellucid.results.word_map import WordMap
from pellucid.text.example import Example
from pellucid.text.ranges import step_labels
from pellucid.text.units import Units

BY_ROW, IN_LAST, CHANGED = 8, 15, 20  # words that are shown


def sums_table(analysis: LayerAnalysis) -> Markup:
    """A line a row: each model's sum over a text's words, mean and interval."""
    sums = {model: {row.row: row for row in analysis.sums(model)} for model in analysis.names}
    labels = list(dict.fromkeys(row for of_model in sums.values() for row in of_model))
    rows = (
        element(
            "tr",
            element("th", name(label), scope="row"),
            *(element("td", sum_in_words(of_model[label]) if label in of_model else "–") for of_model in sums.values()),
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
        element("tr", element("th", name(row), scope="row"), element("td", name(_listed(analysis, model, row))))
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
        "details", element("summary", "The last one, with intervals"), scroll_box(rows, "Words of the last row")
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
    return fragment(*(_changes(change, first) for change in changes))


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
        element("td", readable_number(change.first)),
        element("td", readable_number(change.second)),
        element("td", interval_in_words(change.less), element("small", f"{symbol} {verdict}", class_=css_class)),
        element("td", f"{change.n_texts:,}"),
    )


def checks_table(analysis: LayerAnalysis) -> Markup | None:
    """Each diagnostic of the explanations: what it is, its mean and its worst value; None where there are none."""
    values: dict[str, list[float]] = {}
    for explanation in (explanation for model in analysis.models for seed in model.seeds for explanation in seed):
        for label, value in explanation.diagnostics.items():
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
        element("td", readable_number(sum(values) / len(values))),
        element("td", readable_number(worst(values))),
    )


# A layer analysis in words: what was measured, in which unit, and what the numbers do not say.

OWN_SCALES = (
    "This method gives each {row} of each model a scale of its own: compare words within a {row}, not {row}s or models."
)
ONE_SCALE = "All {row}s and models share one scale, in {measure}: 0 means that nothing of a word is used."
INDEPENDENCE = (
    "A sum over words is what is kept of a sentence or a text only as far as its words vary independently of each "
    "other; this is assumed, not measured."
)
ONE_TRAINING = (
    "Each model is one training. The interval is over texts, and the difference must also exceed the spread of the "
    "explanations' seeds; a second training of the same model may differ by more."
)
TRAININGS = "Each model was trained with several seeds; the intervals are over trainings."
EACH_ALONE = "Each word is judged alone: of a hundred words without any change, about two or three will seem dropped."
LEFT_OUT = "Words of fewer than {bar} texts are in no list of words; the maps show them."
FEW = "With so few texts every word is listed, also where it occurs once: a mean of one text says nothing about others."
MOST_CAVEATS = 12


def summary_in_words(analysis: LayerAnalysis) -> str:
    """What the analysis is of."""
    texts, row = len(analysis.texts), analysis.row_kind
    models = "; ".join(
        f"{model.name}: {_counted(len(model.rows), row)}"
        + (f", {len(model.seeds)} trainings" if len(model.seeds) > 1 else "")
        for model in analysis.models
    )
    return f"{_counted(texts, 'text')} by {readable(analysis.method)}. {models}."


def name_of_text(example: Example, index: int) -> str:
    """The id of a text; where that is only a number, or none, the word Text stands before it; index: from 0."""
    return f"Text {example.id}" if example.id.isdecimal() else example.id or f"Text {index}"


def few_texts_in_words(analysis: LayerAnalysis) -> str:
    """Which words no mean is shown of: those of too few texts; "" where rows are no layers."""
    bar = default_min_texts(analysis)
    if analysis.row_kind != "layer":
        return ""
    return FEW if bar == 1 else LEFT_OUT.format(bar=bar)


def scale_in_words(analysis: LayerAnalysis) -> str:
    """Which scores can be compared."""
    if not analysis.measure:
        return OWN_SCALES.format(row=analysis.row_kind)
    return f"{ONE_SCALE.format(row=analysis.row_kind, measure=analysis.measure)} {INDEPENDENCE}"


def cautions(analysis: LayerAnalysis) -> Iterator[str]:
    """The caveats, a bounded number of them."""
    yield from analysis.caveats[:MOST_CAVEATS]
    left = len(analysis.caveats) - MOST_CAVEATS
    if left > 0:
        yield f"{left:,} more caveats are in the analysis."


def trainings_in_words(analysis: LayerAnalysis) -> str:
    """Over what the intervals of changed words are."""
    several = max(len(model.seeds) for model in analysis.models) > 1
    return f"{TRAININGS if several else ONE_TRAINING} {EACH_ALONE}"


def interval_in_words(interval: Interval) -> str:
    """1.2 (0.9 to 1.5); without bounds the mean alone."""
    if interval.low != interval.low:
        return readable_number(interval.mean)
    return f"{readable_number(interval.mean)} ({readable_number(interval.low)} to {readable_number(interval.high)})"


def sum_in_words(row: RowSum) -> str:
    """A row's sum with its interval."""
    return interval_in_words(row.total)


def word_in_words(word: LayerWord) -> str:
    """“film” 1.2"""
    return f"“{word.word}” {readable_number(word.score.mean)}"


def change_mark(change: WordChange) -> tuple[str, str, str]:
    """The symbol, words and CSS class of a change."""
    symbols = {"stopped using": ("▼", "pl-worse"), "uses more": ("▲", "pl-better"), "unclear": ("○", "pl-unclear")}
    symbol, css_class = symbols[change.verdict]
    return symbol, change.verdict, css_class


def changes_in_words(changes: WordChanges, first: str) -> str:
    """How many words a model stopped using against the first one."""
    if changes.why_not:
        return changes.why_not
    stopped = len(changes.stopped)
    return (
        f"Against {first}, {changes.model} clearly uses less of {_counted(stopped, 'word')} of "
        f"{len(changes.words):,} that both read in enough texts."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# A text's map as people see it: rows that are steps carry the piece that was read last, or that is written next.


def drawn_map(analysis: LayerAnalysis, text: int, model: str) -> WordMap:
    """The scores [row word] of one text, its rows named for drawing."""
    word_map = analysis.map(text, model)
    explanation = analysis.model(model).seeds[0][text]
    units = explanation.units
    if analysis.row_kind != "step" or not isinstance(units, Units):
        return word_map
    labels = step_labels(units, explanation.is_of_written)
    return replace(word_map, rows=labels) if len(labels) == len(word_map.rows) else word_map
