"""What layers hold of a word beyond its concepts: two plots, two tables, and what they mean."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.core.results.concept_analysis import GAUSSIAN, SUBSTITUTION, ConceptAnalysis, ConceptDensity
from pellucid.reports.concepts.layer_plot import concept_legend, layer_plot
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import definition_list, header_row, scroll_box, table
from pellucid.reports.page.card import text_heading
from pellucid.reports.page.expert_facts import expert_facts
from pellucid.reports.page.heat_map import caution_lines
from pellucid.reports.page.page import facts_section, write_report
from pellucid.reports.page.section import Section
from pellucid.reports.wording.numbers import number

INTRO = (
    "How much more than its concept does each layer hold of a word? r is the confidence of the layer’s state in the word, "
    "less its mean confidence in the concept’s words. Where r is small, the word could be replaced by others of the concept "
    "and the state would hardly show it."
)
ABOUT = {
    GAUSSIAN: "the distance of the words’ embeddings, in the noise that the word can bear",
    SUBSTITUTION: "how far the state moves when the concept’s words stand in the word’s place",
}
KEY = {
    "r": "A of the word less A of the concept, in nats; 0 for a concept that is the word alone.",
    "A": "The log probability of the word, or the mean one of the concept’s words, less that of random words.",
    "largest ÷ smallest": "The largest r of a layer divided by its smallest: how clearly the layer tells concepts apart.",
}
DASH = "–"


def concept_report(
    analysis: ConceptAnalysis, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the analysis of one word to one HTML file; about: facts that are shown last."""
    facts = [facts_section("What was done", "", about)] if about else []
    return write_report(path, title=title, sections=[concept_section(analysis), *facts], guide=fragment())


def concept_section(analysis: ConceptAnalysis) -> Section:
    """The section of one word."""
    return Section(f"“{analysis.word}”", INTRO, concept_card(analysis))


def concept_card(analysis: ConceptAnalysis) -> Markup:
    """The text, a plot and a table for each density, and what to keep in mind."""
    names = [concept.name for concept in analysis.concepts]
    plots = [layer_plot(one, analysis.layers, names, ABOUT[one.name]) for one in plainest_first(analysis)]
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
    words = ", ".join(f"{one.name} ({len(one.words)})" for one in analysis.concepts)
    return (
        f"“{analysis.word}”, {analysis.explanation.target.output}; concepts with their numbers of words: {words}; "
        f"{analysis.n_random} random pieces of the vocabulary stand for all words."
    )


def plainest_first(analysis: ConceptAnalysis) -> list[ConceptDensity]:
    """Substitution before the noise's density: words that are put in the word's place are easier to picture than noise."""
    return sorted(analysis.densities, key=lambda one: one.name != SUBSTITUTION)


def nearest_concept(analysis: ConceptAnalysis) -> str:
    """The concept of the smallest r in the deepest layer, in one sentence."""
    remaining = analysis.density(SUBSTITUTION).remaining[-1]
    nearest = int(remaining.argmin())
    return (
        f"In layer {analysis.layers[-1]} the nearest concept by substitution is {analysis.concepts[nearest].name}: with its words in "
        f"the place of “{analysis.word}” the state moves least (r = {number(float(remaining[nearest]))}, the smallest r)."
    )


def titles(analysis: ConceptAnalysis) -> list[str]:
    """The columns of a density's table."""
    return ["layer", "A of the word", *(one.name for one in analysis.concepts), "largest ÷ smallest"]


def cells(density: ConceptDensity, row: int) -> list[str]:
    """A row of a density's table: one layer, after its number."""
    contrast = float(density.contrast[row])
    values = [float(density.word[row]), *map(float, density.remaining[row])]
    return [*map(number, values), DASH if contrast != contrast else number(contrast)]


def _table(analysis: ConceptAnalysis, density: ConceptDensity) -> Markup:
    head = header_row(titles(analysis))
    rows = (
        element(
            "tr",
            element("th", str(layer), scope="row"),
            *(element("td", name(cell)) for cell in cells(density, row)),
        )
        for row, layer in enumerate(analysis.layers)
    )
    heading = element("h3", f"r by {density.name} density")
    return fragment(heading, scroll_box(table(head, rows, "pl-table"), f"r by {density.name} density"))
