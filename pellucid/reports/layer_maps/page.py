"""The page of a layer analysis: sums, words and maps, one HTML file without script or network."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.core.corpus.layer_analysis import LayerAnalysis
from pellucid.core.corpus.layer_words import words_changed
from pellucid.core.foundation.errors import BadInput
from pellucid.reports.layer_maps.drawn_map import drawn_map
from pellucid.reports.layer_maps.sum_curves import sum_curves
from pellucid.reports.layer_maps.word_tables import changes_tables, checks_table, retained_tables, sums_table
from pellucid.reports.layer_maps.wording import (
    cautions,
    few_texts_in_words,
    name_of_text,
    scale_in_words,
    summary_in_words,
    trainings_in_words,
)
from pellucid.reports.markup.colours import ColourRange, colour_range
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.map_table import HALF_LINE, LINE, map_tables
from pellucid.reports.page.heat_map import caution_lines, colour_bar, range_bar
from pellucid.reports.page.page import facts_section, write_report
from pellucid.reports.page.section import Section
from pellucid.reports.wording.method_facts import explains_state

OPEN, SHOWN = 10, 50  # texts whose maps are seen at once; texts on the page
RETAINED = "The mean of each word over the texts that have it."
MAPS = "A line a {row}, a column a word: the stronger the colour, the more of the word is used there."
STEP_MAPS = (
    "A line a step, named by its number and the piece that was read last; a column a word: the stronger the colour, the more of the "
    "word the state holds at that step."
)
STEP_GUIDE = (
    "Each number says how much of a word the model's state holds at a step. Special tokens are in no sum."
)
GUIDE = "Each number says how much of a word a layer of the model still uses. Special tokens are in no sum."

CLASS_GUIDE = (
    "Each number says how much a word’s state in a layer counts for the explained class by this method. Special tokens are in no "
    "sum."
)


def report(
    analysis: LayerAnalysis, *, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the analysis to one HTML file; about: facts that are shown last."""
    sections = layer_sections(analysis)
    if about:
        sections.append(facts_section("What was done", "", about))
    reads_states = explains_state(analysis.models[0].seeds[0][0])
    guide = (STEP_GUIDE if analysis.row_kind == "step" else GUIDE) if reads_states else CLASS_GUIDE
    return write_report(path, title=title, sections=sections, guide=element("p", guide, class_="pl-lead"))


def layer_sections(analysis: LayerAnalysis) -> list[Section]:
    """Sums, words kept, words dropped, and the maps of the texts."""
    intro = f"{summary_in_words(analysis)} {scale_in_words(analysis)}"
    if analysis.row_kind == "step":
        return _step_sections(analysis, intro)
    sections = [
        Section("What is used, layer by layer", intro, _sums(analysis)),
        Section(
            "The words that are kept most",
            f"{RETAINED} {few_texts_in_words(analysis)}",
            retained_tables(analysis),
        ),
    ]
    if len(analysis.models) > 1:
        changes = changes_tables(words_changed(analysis), analysis.names[0])
        sections.append(
            Section("The words that a model stopped using", trainings_in_words(analysis), changes)
        )
    maps = MAPS.format(row=analysis.row_kind)
    return [*sections, Section("The texts", maps, _texts(analysis))]


def _step_sections(analysis: LayerAnalysis, intro: str) -> list[Section]:
    """The maps, and what the numbers are worth: step 3 of one text has nothing to do with that of another, so no sum is shown."""
    checks = fragment(*caution_lines(cautions(analysis)), checks_table(analysis))
    return [
        Section("The texts, step by step", f"{intro} {STEP_MAPS}", fragment(checks, _texts(analysis))),
    ]


def _sums(analysis: LayerAnalysis) -> Markup:
    return fragment(
        *caution_lines(cautions(analysis)),
        sum_curves(analysis),
        sums_table(analysis),
        checks_table(analysis),
    )


def _texts(analysis: LayerAnalysis) -> Markup:
    shown = range(min(SHOWN, len(analysis.texts)))
    colours = _colours(analysis, shown) if analysis.measure else None
    legend = element("p", _legend(analysis, colours), class_="pl-note pl-shared")
    cards = [text_maps(analysis, text, colours) for text in shown]
    opened = element(
        "div", *(element("article", card, class_="pl-card") for card in cards[:OPEN]), class_="pl-cards"
    )
    folded = [_folded(analysis, text, cards[text]) for text in shown[OPEN:]]
    left = len(analysis.texts) - len(shown)
    more = element("p", f"{left:,} more texts are in the analysis, but not on this page.", class_="pl-note")
    return fragment(
        legend,
        opened,
        element("div", *folded, class_="pl-folded") if folded else None,
        more if left else None,
    )


def _legend(analysis: LayerAnalysis, colours: ColourRange | None) -> Markup:
    if colours is None:
        return fragment(f"Colours: each {analysis.row_kind} of each text from 0 to its own largest score.")
    is_signed = any(
        (one.scores < 0).any() for model in analysis.models for seed in model.seeds for one in seed
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


def _model_map(
    analysis: LayerAnalysis, text: int, model: str, label: str, colours: ColourRange | None
) -> Markup:
    heading = element("h4", name(model)) if len(analysis.models) > 1 else None
    line = HALF_LINE if len(analysis.models) > 1 else LINE
    one = drawn_map(analysis, text, model)
    tables = map_tables(one, analysis.row_kind, f"{label}, {model}", colours, line)
    return element("div", heading, tables)


def _across(analysis: LayerAnalysis, text: int, label: str, colours: ColourRange | None) -> Markup | None:
    """The last rows of several models; None where there is one model, or no word that all have."""
    if len(analysis.models) < 2:
        return None
    try:
        one = analysis.across(text)
    except BadInput:
        return None
    heading = element("h4", f"The last {analysis.row_kind} of each model")
    return fragment(heading, map_tables(one, "model", f"{label}, models", colours))


def _sentences(analysis: LayerAnalysis, text: int, label: str) -> Markup | None:
    """The sums of each sentence in a fold; None where there is one sentence."""
    maps = {model: analysis.sentences(text, model) for model in analysis.names}
    if all(len(one.words) < 2 for one in maps.values()):
        return None
    tables = (
        fragment(
            element("h4", name(model)) if len(maps) > 1 else None,
            map_tables(one, analysis.row_kind, f"{label}, sentences, {model}", colour_range([one.scores])),
        )
        for model, one in maps.items()
    )
    return element("details", element("summary", "Sums of its sentences"), *tables)


def _colours(analysis: LayerAnalysis, texts: range) -> ColourRange:
    return colour_range(analysis.map(text, model).scores for text in texts for model in analysis.names)
