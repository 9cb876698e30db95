"""A heat map: the original text, each unit shaded by its score."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pellucid.drawing.colours import ColourRange, colour_range, shade
from pellucid.drawing.emphasis import clear, full_colour, plain_caution
from pellucid.drawing.html import Markup, element, fragment, name, scroll_box, table
from pellucid.drawing.long_text import Highlight, shown_text
from pellucid.drawing.method_facts import facts_of, in_words, measure_of
from pellucid.drawing.wording import (
    diagnostics_in_words,
    hidden_in_words,
    readable_number,
    removal_in_words,
    row_in_words,
    shown_row,
    signed,
    strongest_in_words,
    target_name,
)
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.word_map import WordMap, unit_map, word_map
from pellucid.text.passages import place_of
from pellucid.text.units import BY_SIZE, CHARACTER, IN_WORDS, Kind, Spans, united_reading

MOST_COLUMNS = 200  # words of a text whose layers are drawn below it
WRITTEN_WORDS = (
    "A line a word that was written, a column a word of the text or one that was written before it. Colours: each line "
    "by its own largest score; compare words within a line."
)
NOT_READ = "the model cannot read it"
STEPS = (-16, -10, -5, -2, 0, 2, 5, 10, 16)


def drawable_view(explanation: Explanation, unit: Kind = "word") -> Explanation:
    """What a heat map shows of an explanation: its shown row, in this unit or in a coarser one of its own; characters,
    which somebody asked for, as they are. Rounding is 0, and so are all scores of a text of which the model can read no
    word.
    """
    row = shown_row(explanation)
    kind = row.units.kind
    coarser = kind in BY_SIZE and (BY_SIZE.index(kind) >= BY_SIZE.index(unit) or (kind, unit) == (CHARACTER, "word"))
    view = (row if coarser else row.view(unit)).above_rounding()
    return replace(view, scores=np.zeros_like(view.scores)) if view.is_unread else view


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
    scale = full_colour(view) if scale is None else scale
    facts = facts_of(explanation.method, [explanation])
    diagnostics = diagnostics_in_words(explanation, checks)
    random = [in_words(facts)] if facts.floor else []
    notes = [*random, *row_in_words(explanation), *removal_in_words(explanation), *diagnostics]
    notes += hidden_in_words(view, facts)
    spoken = f"{facts.title}, explaining {target_name(view)}. Strongest: {strongest_in_words(view)}."
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
        *caution_lines(plain_caution(view)),
        *caution_lines(caveat for caveat in explanation.caveats if caveat not in hide),
        class_="pl-map",
        role="group",
        aria_label=spoken,
    )


def row_table(explanation: Explanation, title: str) -> Markup | None:
    """Every layer of an explanation that has a row for each, or every word that a model writes: a line each, a column a
    word.

    None for other rows. Layers of a method without a common unit have each a scale of their own, and written words too.
    """
    if is_of_written_words(explanation) and isinstance(explanation.units, Spans):
        shared = explanation.words()  # a span's weight shared by its words
        explanation = replace(shared, scores=shared.scores.round(3))
    is_of_words = not isinstance(explanation.units, Spans) and explanation.units.kind in (*IN_WORDS, "word")
    kinds = [kind for kind, _ in explanation.rows]
    is_written = is_of_written_words(explanation) and bool(explanation.units.content)
    is_of_layers = kinds == ["layer"] and is_of_words and bool(explanation.units.content)
    if explanation.is_unread or not (is_written or is_of_layers):
        return None
    text_map = word_map(explanation) if is_of_words else unit_map(explanation)
    if len(text_map.words) > MOST_COLUMNS:
        return small_print([f"A text of more than {MOST_COLUMNS} words: `pellucid layers --html` shows each layer."])
    if is_written:
        return element(
            "details",
            element("summary", f"Each of the {len(text_map.rows)} words that were written"),
            small_print([WRITTEN_WORDS]),
            map_tables(text_map, "word", f"{title}, written words", None),
            open="open",
        )
    measure = measure_of(explanation.method)
    colours = (
        f"one scale for all layers, in {measure}"
        if measure
        else "each layer from 0 to its own largest score; compare words within a layer"
    )
    range_of_all = colour_range([text_map.scores]) if measure else None
    return element(
        "details",
        element("summary", f"Each of the {len(text_map.rows)} layers"),
        small_print([f"A line a layer, a column a word. Colours: {colours}."]),
        element("p", range_bar(range_of_all), class_="pl-note") if range_of_all else None,
        map_tables(text_map, "layer", f"{title}, layers", range_of_all),
        open="open",
    )


def is_of_written_words(explanation: Explanation) -> bool:
    """Whether an explanation has a row for each word that a model writes, and no other rows."""
    return [kind for kind, _ in explanation.rows] == ["word"]


def numbers_switch() -> Markup:
    """What writes the scores of a picture into its text, by pointer, touch or keyboard; the style sheet does the
    rest.
    """
    return element("details", element("summary", "numbers"), class_="pl-numbers")


def unit_highlights(view: Explanation, scale: float, tooltip: Callable[[Scored], str]) -> list[Highlight]:
    """Every unit of the text in its colour, the clearest ones emphasised; hatched instead are those that the model
    cannot read, whose score is that of any unknown word. tooltip: a unit's number.
    """
    unread = unread_places(view)
    emphasised = {(unit.segment, unit.start) for unit in clear(view)} - unread
    highlights, place = [], place_of(view.example)
    for unit in units_in_order(view):
        sign = "pl-for" if unit.score > 0 else "pl-against"
        emphasis = sign if (unit.segment, unit.start) in emphasised else ""
        hatch = "pl-unread" if (unit.segment, unit.start) in unread else ""
        is_place = place is not None and unit.segment == place.segment and _overlap(unit, place.start, place.end)
        box = "pl-asked" if is_place else ""
        css_classes = " ".join(part for part in ("pl-u", shade(unit.score, scale), emphasis, hatch, box) if part)
        title, weight = f"{tooltip(unit)}, {NOT_READ}" if hatch else tooltip(unit), abs(unit.score)
        highlights.append(Highlight(unit.segment, unit.start, unit.end, css_classes, title, weight))
    if place is not None and not any("pl-asked" in highlight.css_classes for highlight in highlights):  # a mask
        highlights.append(Highlight(place.segment, place.start, place.end, "pl-asked"))
        highlights.sort(key=lambda highlight: (highlight.segment, highlight.start))
    return highlights


def _overlap(unit: Scored, start: int, end: int) -> bool:
    return unit.start < end and unit.end > start


def unread_places(view: Explanation) -> set[tuple[int, int]]:
    """Where the units begin that the model cannot read: (segment, first character)."""
    units = view.units.parts if isinstance(view.units, Spans) else view.units
    return {
        (units.segment[unit], units.start[unit]) for unit in units.content if united_reading(units, [unit]) == "none"
    }


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
    left, right = (signed(-scale), signed(scale)) if is_signed else ("0", readable_number(scale))
    return element("span", left, colour_steps(steps, "pl-steps"), right, class_="pl-bar")


def range_bar(colours: ColourRange) -> Markup:
    """A small legend of scores that may begin above 0."""
    left = readable_number(colours.low) if colours.low else "0"
    steps = [step for step in STEPS if step >= 0]
    return element("span", left, colour_steps(steps, "pl-steps"), readable_number(colours.high), class_="pl-bar")


def colour_steps(steps: Iterable[int], css_class: str) -> Markup:
    """A row of small boxes, one a step of the colours."""
    boxes = (element("span", class_=f"pl-p{step}" if step > 0 else f"pl-n{-step}" if step else None) for step in steps)
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


# A map as tables: a line a layer, a column a word, each cell shaded by its score and with its number.
#
# A text of many words becomes several tables below each other, as wide as a line of print. On a phone each scrolls,
# and the names of the rows stay.

LINE, HALF_LINE = (
    84,
    56,
)  # characters of a line of columns, about: alone, and of several models beside each other
NARROWEST = 5  # characters of the narrowest column
LONGEST = 24  # characters of a word that are shown


def map_tables(text_map: WordMap, row_kind: str, label: str, colours: ColourRange | None, line: int = LINE) -> Markup:
    """The map of one text. label: its name for screen readers. colours: of all rows; None: each row from 0 to its own
    largest.
    """
    largest_of_rows = (ColourRange(0.0, largest) for largest in np.abs(text_map.scores).max(-1).tolist())
    of_rows = list(largest_of_rows) if colours is None else [colours] * len(text_map.rows)
    lines = list(_lines(text_map.words, line))
    return fragment(
        *(
            scroll_box(_table(text_map, columns, row_kind, of_rows, columns is lines[-1]), f"{label}, part {part}")
            for part, columns in enumerate(lines, 1)
        )
    )


def _lines(words: Sequence[str], line: int) -> Iterator[range]:
    """The columns of each table: as few tables as fit the line, of about one width."""
    sizes = [min(max(len(word) + 2, NARROWEST), LONGEST) for word in words]
    most = sum(sizes) / math.ceil(sum(sizes) / line) + NARROWEST
    first, width = 0, 0
    for column, size in enumerate(sizes):
        if width + size > most and column > first:
            yield range(first, column)
            first, width = column, 0
        width += size
    yield range(first, len(words))


def _table(text_map: WordMap, columns: range, row_kind: str, of_rows: Sequence[ColourRange], with_sum: bool) -> Markup:
    titles = (
        element("th", name(_short(text_map.words[column])), scope="col", class_=_classes(text_map, column))
        for column in columns
    )
    total = element("th", "sum", scope="col", class_="pl-sum") if with_sum else None
    head = element("tr", element("th", row_kind, scope="col"), *titles, total)
    rows = (_row(text_map, row, columns, of_rows[row], with_sum) for row in range(len(text_map.rows)))
    return table(head, rows, "pl-matrix pl-layers")


def _classes(text_map: WordMap, column: int, *others: str) -> str | None:
    """A line before the first word of a second text; hatched, a word that the model cannot read."""
    place = text_map.places[column]
    is_next = column > 0 and text_map.places[column - 1][0] != place[0]
    hatch = () if others or place not in text_map.unread else ("pl-unread",)
    return " ".join(filter(None, (*others, *hatch, "pl-next" if is_next else ""))) or None


def _row(text_map: WordMap, row: int, columns: range, colours: ColourRange, with_sum: bool) -> Markup:
    scores, coloured = text_map.scores[row].tolist(), (text_map.above_rounding[row] - colours.low).tolist()
    cells = (
        element(
            "td",
            readable_number(scores[column]),
            class_=_classes(text_map, column, shade(coloured[column], colours.width)),
        )
        for column in columns
    )
    total = element("td", readable_number(float(text_map.sums[row])), class_="pl-sum") if with_sum else None
    return element("tr", element("th", name(_short(text_map.rows[row])), scope="row"), *cells, total)


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"
