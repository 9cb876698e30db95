"""Pairs of texts on a page: the matrix of their words, and what one text contributes beside each of several others."""

from collections.abc import Sequence

import numpy as np

from pellucid.base.checks import shortened
from pellucid.base.kinds import renderers
from pellucid.drawing.card import text_heading
from pellucid.drawing.colours import colour_range, shade
from pellucid.drawing.heat_map import caution_lines, map_tables, small_print
from pellucid.drawing.html import Markup, element, header_row, name, scroll_box, table
from pellucid.drawing.long_text import Highlight, text_block
from pellucid.drawing.page import Opening, Section, written_on
from pellucid.drawing.wording import readable_number, signed
from pellucid.results.explanation import Explanation
from pellucid.results.unit_scores import coarser
from pellucid.results.word_map import WordMap, WordPairs
from pellucid.text.units import Spans

STRONGEST = 10
GUIDE = (
    "Each {unit} of the first text meets each {unit} of the second: orange pairs make the texts alike, blue ones make "
    "them different. In the texts a {unit} has the sum of its pairs."
)
SUM = "All pairs together {total}, and what blank texts are to each other and to these {constant}: {value}."
FIRST_ORDER = "All pairs together {total} to the first order. The {value} is {rest} above what blank texts contribute."
FORMS = {
    "integrated": "Explained by integrated Jacobians",
    "first_order": "Explained by Jacobians at the texts, the first order",
}
BESIDE = (
    "Each row is one second text with its value, each column a word of the first one, and the last column all words of "
    "the second. What puts one row above another is where their numbers differ."
)


@renderers.add(draws="word pairs", sections_of=("pellucid.results.word_map.WordPairs",))
def page_sections_of_word_pairs(pairs: WordPairs) -> tuple[list[Section], Markup, Opening]:
    """Both texts and the strongest pairs, then the whole matrix; how to read them; facts."""
    unit, form = str(pairs.settings["unit"]), str(pairs.settings["form"])
    total = (SUM if form == "integrated" else FIRST_ORDER).format(
        total=signed(float(pairs.matrix.sum())),
        constant=signed(pairs.constant),
        rest=signed(pairs.value - pairs.constant),
        value=f"{pairs.function} similarity {pairs.value:.3f}",
    )
    drawn = WordMap(
        pairs.words[1],
        pairs.places[1],
        pairs.words[0],
        pairs.matrix,
        np.zeros(len(pairs.words[0])),
    )
    every = map_tables(drawn, unit, f"The pairs of {unit}s", colour_range([pairs.matrix]))
    sections = [
        Section("Both texts", total, _texts(pairs)),
        Section("The strongest pairs", "", _strongest(pairs)),
        Section("All pairs", f"A row for each {unit} of the first text, a column for each of the second.", every),
    ]
    facts = (f"Model {pairs.model}", FORMS[form], written_on())
    title = f"Which {unit}s make these texts alike: {pairs.value:.2f}"
    return sections, element("p", GUIDE.format(unit=unit), class_="pl-lead"), Opening(facts, title=title)


def _texts(pairs: WordPairs) -> Markup:
    """Both texts, each word with the sum of its pairs."""
    sums = [pairs.matrix.sum(1), pairs.matrix.sum(0)]
    scale = max(float(np.abs(each).max()) for each in sums)
    highlights = [
        Highlight(*place, " ".join(filter(None, ("pl-u", shade(score, scale)))), signed(score), abs(score))
        for places, of_text in zip(pairs.places, sums, strict=True)
        for place, score in zip(places, of_text.tolist(), strict=True)
    ]
    gap = f"The sum misses {pairs.diagnostics['completeness_gap']:.1%} of what it should be."
    return element(
        "article",
        text_heading(pairs.example),
        *caution_lines(pairs.caveats),
        text_block(pairs.example, highlights),
        small_print([gap]),
        class_="pl-card",
    )


def _strongest(pairs: WordPairs) -> Markup:
    """A table of the strongest pairs."""
    scale = float(np.abs(pairs.matrix).max())
    rows = (
        element(
            "tr",
            element("td", name(first)),
            element("td", name(second)),
            element("td", readable_number(score), class_=shade(score, scale) or None),
        )
        for first, second, score in pairs.top(STRONGEST)
    )
    return scroll_box(table(header_row(("first text", "second text", "pair")), rows, "pl-table"), "The strongest pairs")


# One text beside each of several others: a query and its documents.


def beside_sections(explanations: Sequence[Explanation]) -> list[Section]:
    """The words of the common first text in each pair, a row a pair; nothing where explanations have no such text."""
    if not _share_first_text(explanations):
        return []
    rows = [_word_scores(explanation) for explanation in explanations]
    words, places = rows[0][0], rows[0][1]
    if any(each[:2] != (words, places) for each in rows):
        return []
    labels = tuple(
        f"{place}. {readable_number(explanation.target.value)} {shortened(explanation.example.segments[1])}"
        for place, explanation in enumerate(explanations, 1)
    )
    scores = np.array([each[2] for each in rows])
    drawn = WordMap((*words, "second text"), (*places, (1, 0, 0)), labels, scores, np.zeros(len(rows)))
    tables = map_tables(drawn, "pair", "The words of the first text", colour_range([scores]))
    return [Section("The first text beside each second one", BESIDE, tables)]


def _share_first_text(explanations: Sequence[Explanation]) -> bool:
    """Whether these are pairs of one text with several others, explained alike."""
    segments = [explanation.example.segments for explanation in explanations]
    alike = {(e.method, e.target.label, e.target.against, e.target.output) for e in explanations}
    plain = all(not e.rows and not isinstance(e.units, Spans) for e in explanations)
    firsts, seconds = {each[0] for each in segments}, {each[1:] for each in segments}
    are_pairs = all(len(each) == 2 for each in segments)
    return are_pairs and plain and len(alike) == len(firsts) == 1 < len(seconds) == len(segments)


def _word_scores(explanation: Explanation) -> tuple[tuple[str, ...], tuple[tuple[int, int, int], ...], list[float]]:
    """The words of the first text, their places, and their scores followed by the sum of the second text's."""
    segments = explanation.example.segments
    units, scores = coarser(explanation.units, explanation.scores, "word", segments)
    first = [index for index in units.content if units.segment[index] == 0]
    places = tuple((0, units.start[index], units.end[index]) for index in first)
    rest = float(sum(scores[index] for index in units.content if units.segment[index] == 1))
    words = tuple(segments[0][start:end] for _, start, end in places)
    return words, places, [*(float(scores[index]) for index in first), rest]
