"""A heat map: the original text, each unit shaded by its score."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pellucid.reports.markup.colours import ColourRange, colour_range, largest, shade
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.markup.map_table import map_tables
from pellucid.reports.page.long_text import Highlight, shown_text
from pellucid.reports.wording.method_facts import facts_of, measure_of
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import (
    clear,
    diagnostics_in_words,
    hidden_in_words,
    row_in_words,
    shown_row,
    strongest_in_words,
)
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.layers.word_map import unit_map, word_map
from pellucid.text.units import BY_SIZE, Kind, Spans

MOST_COLUMNS = 200  # words of a text whose layers are drawn below it
WRITTEN_WORDS = (
    "A line a word that was written, a column a word of the text or one that was written before it. Colours: each line by its "
    "own largest score; compare words within a line."
)
STEPS = (-16, -10, -5, -2, 0, 2, 5, 10, 16)


def drawable_view(explanation: Explanation, unit: Kind = "word") -> Explanation:
    """What a heat map shows of an explanation: its shown row, in this unit or in a coarser one of its own; rounding as 0."""
    row = shown_row(explanation)
    kind = row.units.kind
    coarser = kind in BY_SIZE and BY_SIZE.index(kind) >= BY_SIZE.index(unit)
    return (row if coarser else row.view(unit)).above_rounding()


def heat_map(
    explanation: Explanation,
    *,
    unit: Kind = "word",
    scale: float | None = None,
    hide: frozenset[str] = frozenset(),
    checks: bool = True,
) -> Markup:
    """One explanation over its text.

    scale: the score that gets the full colour (None: this text's largest). hide: caveats that stand elsewhere. checks:
    whether to say how the method's checks came out.
    """
    view = drawable_view(explanation, unit)
    scale = largest(view) if scale is None else scale
    facts = facts_of(explanation.method, [explanation])
    diagnostics = diagnostics_in_words(explanation, checks)
    notes = [*row_in_words(explanation), *diagnostics, *hidden_in_words(view, facts)]
    spoken = f"{facts.title}, explaining {view.target}. Strongest: {strongest_in_words(view)}."
    return element(
        "figure",
        element(
            "figcaption",
            name(facts.title),
            colour_bar(scale, facts.signed),
            numbers_switch(),
            class_="pl-method",
        ),
        shown_text(view.example, unit_highlights(view, scale, lambda unit: signed(unit.score))),
        small_print(notes),
        row_table(explanation, facts.title),
        *caution_lines(caveat for caveat in explanation.caveats if caveat not in hide),
        class_="pl-map",
        role="group",
        aria_label=spoken,
    )


def row_table(explanation: Explanation, title: str) -> Markup | None:
    """Every layer of an explanation that has a row for each, or every word that a model writes: a line each, a column a word.

    None for other rows. Layers of a method without a common unit have each a scale of their own, and written words too.
    """
    if is_of_written_words(explanation) and isinstance(explanation.units, Spans):
        shared = explanation.words()  # a span's weight shared by its words
        explanation = replace(shared, scores=shared.scores.round(3))
    is_of_words = not isinstance(explanation.units, Spans) and explanation.units.kind in ("piece", "word")
    kinds = [kind for kind, _ in explanation.rows]
    is_written = is_of_written_words(explanation) and bool(explanation.units.content)
    if not is_written and (kinds != ["layer"] or not is_of_words or not explanation.units.content):
        return None
    one = word_map(explanation) if is_of_words else unit_map(explanation)
    if len(one.words) > MOST_COLUMNS:
        return small_print(
            [f"A text of more than {MOST_COLUMNS} words: `pellucid layers --html` shows each layer."]
        )
    if is_written:
        return element(
            "details",
            element("summary", f"Each of the {len(one.rows)} words that were written"),
            small_print([WRITTEN_WORDS]),
            map_tables(one, "word", f"{title}, written words", None),
            open="open",
        )
    measure = measure_of(explanation.method)
    colours = (
        f"one scale for all layers, in {measure}"
        if measure
        else "each layer from 0 to its own largest score; compare words within a layer"
    )
    range_of_all = colour_range([one.scores]) if measure else None
    return element(
        "details",
        element("summary", f"Each of the {len(one.rows)} layers"),
        small_print([f"A line a layer, a column a word. Colours: {colours}."]),
        element("p", range_bar(range_of_all), class_="pl-note") if range_of_all else None,
        map_tables(one, "layer", f"{title}, layers", range_of_all),
        open="open",
    )


def is_of_written_words(explanation: Explanation) -> bool:
    """Whether an explanation has a row for each word that a model writes, and no other rows."""
    return [kind for kind, _ in explanation.rows] == ["word"]


def numbers_switch() -> Markup:
    """What writes the scores of a picture into its text, by pointer, touch or keyboard; the style sheet does the rest."""
    return element("details", element("summary", "numbers"), class_="pl-numbers")


def unit_highlights(view: Explanation, scale: float, tooltip: Callable[[Scored], str]) -> list[Highlight]:
    """Every unit of the text in its colour, the clearest ones emphasised; tooltip: a unit's number."""
    emphasised = {(unit.segment, unit.start) for unit in clear(view)}
    highlights = []
    for unit in units_in_order(view):
        sign = "pl-for" if unit.score > 0 else "pl-against"
        emphasis = sign if (unit.segment, unit.start) in emphasised else ""
        css_classes = " ".join(part for part in ("pl-u", shade(unit.score, scale), emphasis) if part)
        weight = abs(unit.score)
        highlights.append(Highlight(unit.segment, unit.start, unit.end, css_classes, tooltip(unit), weight))
    return highlights


def small_print(notes: list[str]) -> Markup | None:
    """Sentences under a picture, or nothing."""
    return element("p", " ".join(notes), class_="pl-note", dir="auto") if notes else None


def caution_lines(caveats: Iterable[str]) -> Iterator[Markup]:
    """A line for each caveat; each begins with the word Caution."""
    for caveat in caveats:
        yield element("p", element("strong", "Caution: "), name(caveat), class_="pl-caution")


def colour_bar(scale: float, is_signed: bool) -> Markup:
    """A small legend: the scores at the ends of the colours."""
    steps = [step for step in STEPS if is_signed or step >= 0]
    left, right = (signed(-scale), signed(scale)) if is_signed else ("0", number(scale))
    return element("span", left, colour_steps(steps, "pl-steps"), right, class_="pl-bar")


def range_bar(colours: ColourRange) -> Markup:
    """A small legend of scores that may begin above 0."""
    left = number(colours.low) if colours.low else "0"
    steps = [step for step in STEPS if step >= 0]
    return element("span", left, colour_steps(steps, "pl-steps"), number(colours.high), class_="pl-bar")


def colour_steps(steps: Iterable[int], css_class: str) -> Markup:
    """A row of small boxes, one a step of the colours."""
    boxes = (
        element("span", class_=f"pl-p{step}" if step > 0 else f"pl-n{-step}" if step else None)
        for step in steps
    )
    return element("span", *boxes, class_=css_class, aria_hidden="true")


def units_in_order(view: Explanation) -> list[Scored]:
    """The text's units in reading order; units that share characters (bytes of one emoji) become one."""
    ordered: list[Scored] = []
    units = [view.scored(index) for index in range(len(view.units)) if not view.special[index]]
    for unit in sorted(units, key=lambda unit: (unit.segment, unit.start, unit.end)):
        last = ordered[-1] if ordered else None
        if last and last.segment == unit.segment and unit.start < last.end:
            end = max(last.end, unit.end)
            text = view.example.segments[unit.segment][last.start : end]
            ordered[-1] = Scored(text, last.score + unit.score, last.segment, last.start, end)
        elif unit.end > unit.start:
            ordered.append(unit)
    return ordered
