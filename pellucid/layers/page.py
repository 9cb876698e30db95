"""The page of a layer analysis: sums, words and maps, one HTML file without script or network."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import listed
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.drawing.colours import ColourRange, colour_range
from pellucid.drawing.curve_plot import axes, curve_lines, drawn, frame_of, line_styles, sample_of
from pellucid.drawing.heat_map import HALF_LINE, LINE, caution_lines, colour_bar, map_tables, range_bar
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import explains_state, readable
from pellucid.drawing.page import Opening, Section, facts_section, notebook_sections, write_report, written_on
from pellucid.explaining.views.opening import texts_in_words
from pellucid.layers.layer_words import words_changed
from pellucid.layers.record import LayerAnalysis, RowSum
from pellucid.layers.word_tables import (
    cautions,
    changes_tables,
    checks_table,
    drawn_map,
    few_texts_in_words,
    name_of_text,
    retained_tables,
    scale_in_words,
    summary_in_words,
    sums_table,
    trainings_in_words,
)
from pellucid.results.table import Curve
from pellucid.text.example import data_of

OPEN, SHOWN = 3, 50  # texts whose maps are seen at once; texts on the page
RETAINED = "The mean of each word over the texts that have it."
MAPS = "A line a {row}, a column a word: the stronger the colour, the more of the word is used there."
STEP_MAPS = (
    "A line a step, named by its number and the piece that {named}; a column a word: the stronger the colour, the more "
    "of the word the state holds at that step."
)
READ_LAST, WRITTEN_NEXT = "was read last", "is written next"
STEP_GUIDE = "Each number says how much of a word the model's state holds at a step. Special tokens are in no sum."
GUIDE = "Each number says how much of a word a layer of the model still uses. Special tokens are in no sum."
BY_NOISE = (
    "It is measured by noise (“retained information”): how much of it a word bears before the {row}’s state changes. "
    "The less, the more of the word is used there. The unit, a nat, is to the number e what a bit is to 2: 1 nat more "
    "means 2.7 times less noise; at 0 nats noise may hide the word."
)
TRUST = "This is what the states hold, not why the model answered: whether it used that is not measured here."

CLASS_GUIDE = (
    "Each number says how much a word’s state in a layer counts for the explained class by this method. Special tokens "
    "are in no sum."
)


@renderers.add(
    "page_of_layers",
    draws="layer analysis",
    page_of=("pellucid.layers.record.LayerAnalysis",),
    heading="What the layers know",
)
def report(analysis: LayerAnalysis, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the analysis to one HTML file; about: facts that are shown last."""
    sections = layer_sections(analysis)
    if about:
        sections.append(facts_section("What was done", "", about))
    texts = texts_in_words(len(analysis.texts), data_of([example.id for example in analysis.texts]))
    facts = (f"Model {_models_in_words(analysis)}", texts, f"Measured by {readable(analysis.method)}", written_on())
    lead = element("p", guide_in_words(analysis), class_="pl-lead")
    return write_report(path, title=title, sections=sections, guide=lead, opening=Opening(facts, trust_in(analysis)))


def guide_in_words(analysis: LayerAnalysis) -> str:
    """What the numbers of the maps say."""
    if not explains_state(analysis.models[0].seeds[0][0]):
        return CLASS_GUIDE
    guide = STEP_GUIDE if analysis.row_kind == "step" else GUIDE
    return f"{guide} {BY_NOISE.format(row=analysis.row_kind)}" if analysis.measure == "nats" else guide


def trust_in(analysis: LayerAnalysis) -> str:
    """What maps of states do not say; "" for those of a class."""
    return TRUST if explains_state(analysis.models[0].seeds[0][0]) else ""


def _models_in_words(analysis: LayerAnalysis) -> str:
    """Each model by its folder or hub name, as on other pages; before it what this page calls it, if that is no part
    of it.
    """
    named = ((model.name, model.seeds[0][0].model) for model in analysis.models)
    return listed([source if source.endswith(label) else f"{label} ({source})" for label, source in named])


def layer_sections(analysis: LayerAnalysis) -> list[Section]:
    """The maps of the texts, sums, words kept, words dropped."""
    intro = f"{summary_in_words(analysis)} {scale_in_words(analysis)}"
    if analysis.row_kind == "step":
        return _step_sections(analysis, intro)
    maps = MAPS.format(row=analysis.row_kind)
    sections = [
        Section("The texts", maps, _texts(analysis)),
        Section("What is used, layer by layer", intro, _sums(analysis)),
        Section(
            "The words that are kept most", f"{RETAINED} {few_texts_in_words(analysis)}", retained_tables(analysis)
        ),
    ]
    if len(analysis.models) > 1:
        changes = changes_tables(words_changed(analysis), analysis.names[0])
        sections.append(Section("The words that a model stopped using", trainings_in_words(analysis), changes))
    return sections


def _step_sections(analysis: LayerAnalysis, intro: str) -> list[Section]:
    """The maps, and what the numbers are worth: step 3 of one text has nothing to do with that of another, so no sum is
    shown.
    """
    checks = fragment(*caution_lines(cautions(analysis)), checks_table(analysis))
    is_of_written = analysis.models[0].seeds[0][0].is_of_written
    maps = STEP_MAPS.format(named=WRITTEN_NEXT if is_of_written else READ_LAST)
    return [Section("The texts, step by step", f"{intro} {maps}", fragment(checks, _texts(analysis)))]


def _sums(analysis: LayerAnalysis) -> Markup:
    return fragment(
        *caution_lines(cautions(analysis)), sum_curves(analysis), sums_table(analysis), checks_table(analysis)
    )


def _texts(analysis: LayerAnalysis) -> Markup:
    shown = range(min(SHOWN, len(analysis.texts)))
    colours = _colours(analysis, shown) if analysis.measure else None
    legend = element("p", _legend(analysis, colours), class_="pl-note pl-shared")
    cards = [text_maps(analysis, text, colours) for text in shown]
    opened = element("div", *(element("article", card, class_="pl-card") for card in cards[:OPEN]), class_="pl-cards")
    folded = [_folded(analysis, text, cards[text]) for text in shown[OPEN:]]
    left = len(analysis.texts) - len(shown)
    more = element("p", f"{left:,} more texts are in the analysis, but not on this page.", class_="pl-note")
    return fragment(
        legend, opened, element("div", *folded, class_="pl-folded") if folded else None, more if left else None
    )


def _legend(analysis: LayerAnalysis, colours: ColourRange | None) -> Markup:
    if colours is None:
        return fragment(f"Colours: each {analysis.row_kind} of each text from 0 to its own largest score.")
    is_signed = any(
        (explanation.scores < 0).any() for model in analysis.models for seed in model.seeds for explanation in seed
    )
    bar = colour_bar(colours.high, True) if is_signed else range_bar(colours)
    return fragment(f"Colours, in {analysis.measure}: ", bar)


def _folded(analysis: LayerAnalysis, text: int, card: Markup) -> Markup:
    line = analysis.texts[text].text
    summary = element("summary", name(line if len(line) <= 90 else f"{line[:89]}…"))
    return element("details", summary, element("div", card))


def text_maps(analysis: LayerAnalysis, text: int, colours: ColourRange | None) -> Markup:
    """One text: a map a model, then the models beside each other in their last rows, and the sums of its sentences."""
    example = analysis.texts[text]
    label = name_of_text(example, text)
    maps = (_model_map(analysis, text, model, label, colours) for model in analysis.names)
    return fragment(
        element("h3", name(label)),
        element("div", *maps, class_="pl-maps"),
        _across(analysis, text, label, colours),
        _sentences(analysis, text, label),
    )


def _model_map(analysis: LayerAnalysis, text: int, model: str, label: str, colours: ColourRange | None) -> Markup:
    heading = element("h4", name(model)) if len(analysis.models) > 1 else None
    line = HALF_LINE if len(analysis.models) > 1 else LINE
    word_map = drawn_map(analysis, text, model)
    tables = map_tables(word_map, analysis.row_kind, f"{label}, {model}", colours, line)
    return element("div", heading, tables)


def _across(analysis: LayerAnalysis, text: int, label: str, colours: ColourRange | None) -> Markup | None:
    """The last rows of several models; None where there is one model, or no word that all have."""
    if len(analysis.models) < 2:
        return None
    try:
        word_map = analysis.across(text)
    except BadInput:
        return None
    heading = element("h4", f"The last {analysis.row_kind} of each model")
    return fragment(heading, map_tables(word_map, "model", f"{label}, models", colours))


def _sentences(analysis: LayerAnalysis, text: int, label: str) -> Markup | None:
    """The sums of each sentence in a fold; None where there is one sentence."""
    maps = {model: analysis.sentences(text, model) for model in analysis.names}
    if all(len(word_map.words) < 2 for word_map in maps.values()):
        return None
    tables = (
        fragment(
            element("h4", name(model)) if len(maps) > 1 else None,
            map_tables(word_map, analysis.row_kind, f"{label}, sentences, {model}", colour_range([word_map.scores])),
        )
        for model, word_map in maps.items()
    )
    return element("details", element("summary", "Sums of its sentences"), *tables)


def _colours(analysis: LayerAnalysis, texts: range) -> ColourRange:
    return colour_range(analysis.map(text, model).scores for text in texts for model in analysis.names)


# The sum over the words by layer: a line a model with its interval, as inline SVG without script.


def sum_curves(analysis: LayerAnalysis) -> Markup | None:
    """The plot with its legend; None where layers have no common scale, or a model has one row only."""
    curves = [curve_of(model, analysis.sums(model)) for model in analysis.names]
    if not analysis.measure or analysis.row_kind != "layer" or max(len(curve.grid) for curve in curves) < 2:
        return None
    values = [value for curve in curves for value in (*curve.low, *curve.high, 0.0)]
    frame = frame_of([x for curve in curves for x in curve.grid], values)
    styles = line_styles([curve.method for curve in curves])
    rows = max((model.rows for model in analysis.models), key=len)
    ticks = [(float(row), rows[row]) for row in range(0, len(rows), -(-len(rows) // 13))]
    both, lines = axes(frame, "layer", analysis.measure, ticks), curve_lines(curves, frame, styles)
    drawing = drawn(both, lines, spoken=_spoken(curves, analysis.measure))
    caption = element(
        "figcaption",
        element("strong", f"sum over a text's words, in {analysis.measure}"),
        element("small", "mean over the texts; pale bands: 95 % intervals over texts"),
    )
    figure = element("figure", caption, drawing, class_="pl-figure")
    legend = (element("li", sample_of(style), name(model)) for model, style in styles.items())
    return element("div", fragment(figure, element("ul", *legend, class_="pl-lines")), class_="pl-plots pl-many")


def curve_of(model: str, sums: Sequence[RowSum]) -> Curve:
    """A model's sums as a curve over its rows, from 0; where there is no interval, its bounds are the mean."""
    means = [row.total.mean for row in sums]
    low, high = (
        tuple(mean if bound != bound else bound for bound, mean in zip(bounds, means, strict=True))
        for bounds in ([row.total.low for row in sums], [row.total.high for row in sums])
    )
    return Curve(model, "sum", tuple(map(float, range(len(sums)))), tuple(means), low, high)


def _spoken(curves: Sequence[Curve], measure: str) -> str:
    ends = ", ".join(f"{curve.method} from {curve.mean[0]:.2f} to {curve.mean[-1]:.2f}" for curve in curves)
    return f"Line plot of the sum over words by layer in {measure}: {ends}"


@renderers.add(draws="layer analysis")
def notebook_layer_analysis(analysis: LayerAnalysis) -> str:
    """What the layers still use: sums, words and maps, for `_repr_html_`."""
    sections = layer_sections(analysis)
    return notebook_sections(sections)
