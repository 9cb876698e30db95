"""A layer analysis in a terminal: sums by layer, the words kept most, and those that a model stopped using."""

from rich.text import Text

from pellucid.core.corpus.layer_analysis import LayerAnalysis, ModelLayers
from pellucid.core.corpus.layer_words import WordChange, retained_words, words_changed
from pellucid.core.foundation.kinds import renderers
from pellucid.reports.layer_maps.wording import (
    cautions,
    change_mark,
    changes_in_words,
    few_texts_in_words,
    interval_in_words,
    name_of_text,
    scale_in_words,
    sum_in_words,
    summary_in_words,
    trainings_in_words,
    word_in_words,
)
from pellucid.reports.terminal.rich_text import Line, block, caution_lines, indented, line, printed

WORDS, CHANGED = 5, 10


@renderers.add(draws="layer analysis")
def terminal_layer_analysis(
    analysis: LayerAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """For each model a line a layer: the sum over a text's words and the words kept most; then the words dropped.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    lines: list[Line] = [line(summary_in_words(analysis)), line(scale_in_words(analysis))]
    lines += caution_lines(cautions(analysis))
    if note := few_texts_in_words(analysis):
        lines.append(line(note))
    for model in analysis.models:
        lines += block(model.name, _rows(analysis, model))
    if len(analysis.models) > 1:
        lines += [
            Text(""),
            line("Words that a model stopped using", style="bold"),
            line(trainings_in_words(analysis)),
        ]
    for changes in words_changed(analysis):
        lines.append(line(changes_in_words(changes, analysis.names[0])))
        lines += indented(map(_change, changes.stopped[:CHANGED]))
    return printed(lines, colour, width)


def _rows(analysis: LayerAnalysis, model: ModelLayers) -> list[str]:
    if analysis.row_kind != "layer":  # step 3 of one text has nothing to do with that of another
        return _steps(analysis, model)
    rows = []
    for row in analysis.sums(model.name):
        words = ", ".join(map(word_in_words, retained_words(analysis, model.name, row.row)[:WORDS]))
        rows.append(
            f"{analysis.row_kind} {row.row}: sum {sum_in_words(row)}; most: {words or 'none in enough texts'}"
        )
    return rows


def _steps(analysis: LayerAnalysis, model: ModelLayers) -> list[str]:
    """How many steps each of the first texts has, and where to see them."""
    texts = range(min(WORDS, len(analysis.texts)))
    steps = (len(analysis.map(text, model.name).rows) for text in texts)
    lines = [
        f"{name_of_text(example, number)}: {count} {analysis.row_kind}{'s' if count > 1 else ''}"
        for number, (example, count) in enumerate(zip(analysis.texts, steps, strict=False))
    ]
    return [*lines, "The scores are on the page (--html) and in the file (--save)."]


def _change(change: WordChange) -> str:
    symbol, verdict, _ = change_mark(change)
    return f"{symbol} “{change.word}”: {interval_in_words(change.less)} less, {verdict}"
