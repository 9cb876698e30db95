"""What layers hold of a word beyond its concepts: two plots, two tables, and what they mean."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.kinds import renderers
from pellucid.drawing.card import expert_facts, text_heading, text_highlights
from pellucid.drawing.curve_plot import MARKERS, LineStyle, axes, drawn, frame_of, marked_line, sample_of
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, definition_list, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.long_text import text_block
from pellucid.drawing.page import Opening, Section, facts_section, notebook_frame, write_report, written_on
from pellucid.drawing.wording import readable_number
from pellucid.layers.concept_analysis import GAUSSIAN, SUBSTITUTION, ConceptAnalysis, ConceptDensity

INTRO = (
    "How much more than its concept does each layer hold of a word? r is the confidence of the layer’s state in the "
    "word, less its mean confidence in the concept’s words. Where r is small, the word could be replaced by others of "
    "the concept and the state would hardly show it."
)
ABOUT = {
    GAUSSIAN: "the distance of the words’ embeddings, in the noise that the word can bear",
    SUBSTITUTION: "how far the state moves when the concept’s words stand in the word’s place",
}
KEY = {
    "r": "A of the word less A of the concept, in nats; 0 for a concept that is the word alone.",
    "A": "The log probability of the word, or the mean one of the concept’s words, less that of random words.",
    "largest ÷ smallest": "The largest r of a layer divided by its smallest: how clearly the layer tells concepts "
    "apart.",
}
DASH = "–"
TRUST = "This is what the states hold of one word in one text, not why the model answered."


@renderers.add(
    "page_of_concepts",
    draws="concept analysis",
    page_of=("pellucid.layers.concept_analysis.ConceptAnalysis",),
    heading="What the layers hold of “{0.word}”",
)
def report(analysis: ConceptAnalysis, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the analysis of one word to one HTML file; about: facts that are shown last."""
    facts = [facts_section("What was done", "", about)] if about else []
    n_layers = len(analysis.layers)
    layers = f"{n_layers} layer{'' if n_layers == 1 else 's'}"
    known = (f"Model {analysis.explanation.model}", "1 text", layers, written_on())
    sections = [concept_section(analysis), *facts]
    opening = Opening(known, TRUST, coloured_text(analysis))
    return write_report(path, title=title, sections=sections, guide=fragment(), opening=opening)


def coloured_text(analysis: ConceptAnalysis) -> Markup:
    """The whole text, by what the deepest layer holds of each word."""
    shown = analysis.explanation
    title = f"The text, by what layer {analysis.layers[-1]} holds of each word: the stronger the colour, the more"
    parts = element("p", title, class_="pl-example-title"), text_block(shown.example, text_highlights(shown, {}))
    return element("div", element("article", *parts, class_="pl-example"), class_="pl-examples")


def concept_section(analysis: ConceptAnalysis) -> Section:
    """The section of one word."""
    return Section(f"“{analysis.word}”", INTRO, concept_card(analysis))


def concept_card(analysis: ConceptAnalysis) -> Markup:
    """The text, a plot and a table for each density, and what to keep in mind."""
    names = [concept.name for concept in analysis.concepts]
    plots = [layer_plot(density, analysis.layers, names, ABOUT[density.name]) for density in plainest_first(analysis)]
    return element(
        "article",
        text_heading(analysis.explanation.example),
        element("p", sentence(analysis), class_="pl-note"),
        element("p", nearest_concept(analysis)),
        *caution_lines(analysis.caveats),
        element("div", *plots, class_="pl-plots"),
        concept_legend(names),
        *(_table(analysis, density) for density in plainest_first(analysis)),
        definition_list(KEY.items(), "pl-key"),
        expert_facts([analysis.explanation]),
        class_="pl-card",
    )


def sentence(analysis: ConceptAnalysis) -> str:
    """What was asked, in one sentence."""
    words = ", ".join(f"{concept.name} ({len(concept.words)})" for concept in analysis.concepts)
    return (
        f"“{analysis.word}”, {analysis.explanation.target.output}; concepts with their numbers of words: {words}; "
        f"{analysis.n_random} random pieces of the vocabulary stand for all words."
    )


def plainest_first(analysis: ConceptAnalysis) -> list[ConceptDensity]:
    """Substitution before the noise's density: words that are put in the word's place are easier to picture than
    noise.
    """
    return sorted(analysis.densities, key=lambda density: density.name != SUBSTITUTION)


def nearest_concept(analysis: ConceptAnalysis) -> str:
    """The concept of the smallest r in the deepest layer, in one sentence."""
    remaining = analysis.density(SUBSTITUTION).remaining[-1]
    nearest = int(remaining.argmin())
    return (
        f"In layer {analysis.layers[-1]} the nearest concept by substitution is {analysis.concepts[nearest].name}: "
        f"with its words in the place of “{analysis.word}” the state moves least (r = "
        f"{readable_number(float(remaining[nearest]))}, the smallest r)."
    )


def titles(analysis: ConceptAnalysis) -> list[str]:
    """The columns of a density's table."""
    return ["layer", "A of the word", *(concept.name for concept in analysis.concepts), "largest ÷ smallest"]


def cells(density: ConceptDensity, row: int) -> list[str]:
    """A row of a density's table: one layer, after its number."""
    contrast = float(density.contrast[row])
    values = [float(density.word[row]), *map(float, density.remaining[row])]
    return [*map(readable_number, values), DASH if contrast != contrast else readable_number(contrast)]


def _table(analysis: ConceptAnalysis, density: ConceptDensity) -> Markup:
    head = header_row(titles(analysis))
    rows = (
        element(
            "tr", element("th", str(layer), scope="row"), *(element("td", name(cell)) for cell in cells(density, row))
        )
        for row, layer in enumerate(analysis.layers)
    )
    heading = element("h3", f"r by {density.name} density")
    return fragment(heading, scroll_box(table(head, rows, "pl-table"), f"r by {density.name} density"))


# A line a concept over the layers: inline SVG without script.

COLOURS, DASHES = 8, 4
LARGE = 10_000  # from here on an axis counts in thousands: its numbers have room for four digits


def concept_styles(concepts: Sequence[str]) -> dict[str, LineStyle]:
    """The same colour, dash and marker for a concept in all plots."""
    return {
        concept: LineStyle(
            f"pl-c{index % COLOURS + 1} pl-d{(index + index // COLOURS) % DASHES + 1}", MARKERS[index % len(MARKERS)]
        )
        for index, concept in enumerate(concepts)
    }


def layer_plot(density: ConceptDensity, layers: Sequence[int], concepts: Sequence[str], about: str) -> Markup:
    """r by layer under one density, a line a concept, from 0 up."""
    values = density.remaining
    frame = frame_of([float(layer) for layer in layers], [0.0, *values.ravel().tolist()])
    styles = concept_styles(concepts)
    spoken = ", ".join(
        f"{concept} {first:.3g} to {last:.3g}"
        for concept, first, last in zip(concepts, values[0], values[-1], strict=True)
    )
    unit, name_of_unit = (1000, "1,000 nats") if max(map(abs, frame.y_range)) >= LARGE else (1, "nats")
    ticks = [(float(layer), str(layer)) for layer in layers[:: -(-len(layers) // 12)]]
    every = dict.fromkeys(range(len(layers)))
    lines = (
        marked_line(frame, (layers, values[:, n].tolist()), styles[concept], concept, every)
        for n, concept in enumerate(concepts)
    )
    both = axes(frame, "layer", f"r, in {name_of_unit}", ticks, unit)
    drawing = drawn(both, lines, spoken=f"r by layer, {density.name} density: {spoken}")
    caption = element("figcaption", element("strong", name(density.name)), element("small", about))
    return element("figure", caption, drawing, class_="pl-figure")


def concept_legend(concepts: Sequence[str]) -> Markup:
    """What each line stands for."""
    styles = concept_styles(concepts)
    return element(
        "ul", *(element("li", sample_of(styles[concept]), name(concept)) for concept in concepts), class_="pl-lines"
    )


@renderers.add(draws="concept analysis")
def notebook_concept_analysis(analysis: ConceptAnalysis) -> str:
    """What layers hold of a word beyond its concepts, for `_repr_html_`."""
    return notebook_frame(concept_card(analysis))
