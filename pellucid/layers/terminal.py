"""A layer analysis in a terminal: sums by layer, the words kept most, and those that a model stopped using."""

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.drawing.html import plain
from pellucid.drawing.terminal import Line, block, caution_lines, indented, line, printed
from pellucid.layers.concept_analysis import ConceptAnalysis, ConceptDensity
from pellucid.layers.concept_card import ABOUT, cells, nearest_concept, plainest_first, sentence, titles
from pellucid.layers.layer_words import WordChange, retained_words, words_changed
from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.layers.word_tables import (
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
from pellucid.models.language_heads.lens_table import LensTable

WORDS, CHANGED = 5, 10


@renderers.add(draws="layer analysis")
def terminal_layer_analysis(analysis: LayerAnalysis, *, colour: bool | None = None, width: int | None = None) -> str:
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
        lines += [Text(""), line("Words that a model stopped using", style="bold"), line(trainings_in_words(analysis))]
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
        rows.append(f"{analysis.row_kind} {row.row}: sum {sum_in_words(row)}; most: {words or 'none in enough texts'}")
    return rows


def _steps(analysis: LayerAnalysis, model: ModelLayers) -> list[str]:
    """How many steps each of the first texts has, and where to see them."""
    texts = range(min(WORDS, len(analysis.texts)))
    steps = (len(analysis.map(text, model.name).rows) for text in texts)
    lines = [
        f"{name_of_text(example, index)}: {count} {analysis.row_kind}{'s' if count > 1 else ''}"
        for index, (example, count) in enumerate(zip(analysis.texts, steps, strict=False))
    ]
    return [*lines, "The scores are on the page (--html) and in the file (--save)."]


def _change(change: WordChange) -> str:
    symbol, verdict, _ = change_mark(change)
    return f"{symbol} “{change.word}”: {interval_in_words(change.less)} less, {verdict}"


# The layers of a lens in a terminal: what it names from each, with its translators and without.

TITLES = ("layer", "named first", "KL", "by the bare head", "KL", "translated")


@renderers.add(draws="lens table")
def terminal_lens_table(table: LensTable, *, colour: bool | None = None, width: int | None = None) -> str:
    """A row for each layer: the share of pieces that the lens names first, and that the bare head does.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in TITLES:
        grid.add_column(title, justify="right", no_wrap=True)
    for layer in table.layers:
        bare = "–" if layer.bare_recovery is None else str(layer.bare_recovery)
        translated = "yes" if layer.translated else "no"
        grid.add_row(str(layer.layer), str(layer.recovery), _nats(layer.kl), bare, _nats(layer.bare_kl), translated)
    lines: list[Line | Grid] = [grid, Text(""), *_notes(table)]
    return printed(lines, colour, width)


def _nats(value: float | None) -> str:
    return "–" if value is None else f"{max(value, 0.0):.3f}"


def _notes(table: LensTable) -> list[Line]:
    """What the columns are, and how translators were chosen."""
    return [
        line(
            f"Named first: the share of {table.n_pieces:,} pieces of {table.n_rows:,} dev texts (or parts of long "
            f"ones) whose own id is the most likely one, with its 95 % interval over texts. KL: nats from what the "
            f"head says of the last layer."
        ),
        line(
            "A translator that these texts do not show to be better than the bare head is left out, so none is below "
            "it; the same texts chose, so new ones may come out a little lower."
        ),
    ]


# What layers hold of a word beyond its concepts, in a terminal: a table of r a density.


@renderers.add(draws="concept analysis")
def terminal_concept_analysis(
    analysis: ConceptAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The text, the word, r by layer and concept under both densities, and what to keep in mind.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    lines: list[Line | Grid] = [
        line(analysis.explanation.example.text),
        line(sentence(analysis)),
        line(nearest_concept(analysis)),
    ]
    for density in plainest_first(analysis):
        lines += [
            Text(""),
            line(f"r by {density.name} density: {ABOUT[density.name]}", style="bold"),
            _grid(analysis, density),
        ]
    return printed([*lines, Text(""), *caution_lines(analysis.caveats)], colour, width)


def _grid(analysis: ConceptAnalysis, density: ConceptDensity) -> Grid:
    """A row a concept, since their names are long; a column a layer."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column(Text("layer"), overflow="fold")
    for layer in analysis.layers:
        grid.add_column(str(layer), justify="right", no_wrap=True)
    columns = [cells(density, row) for row in range(len(analysis.layers))]
    for title, *row in zip(titles(analysis)[1:], *columns, strict=True):
        grid.add_row(Text(plain(title)), *map(Text, row))
    return grid
