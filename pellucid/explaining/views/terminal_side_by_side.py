"""Methods side by side in a terminal: one block a method, in the order of the page."""

from itertools import count

from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.drawing.emphasis import full_colour, plain_caution, strongest
from pellucid.drawing.heat_map import drawable_view, is_of_written_words, unread_places
from pellucid.drawing.html import plain
from pellucid.drawing.method_facts import in_families, readable
from pellucid.drawing.terminal import (
    Line,
    block,
    caution_lines,
    indented,
    line,
    printed,
    wants_colour,
)
from pellucid.drawing.wording import (
    ALL_UNREAD,
    ALL_ZERO,
    bytes_in_words,
    diagnostics_in_brief,
    in_brief,
    parity_in_words,
    readable_number,
    reading_cautions,
    signed,
)
from pellucid.explaining.views.side_by_side import by_reason, unit_of
from pellucid.explaining.views.span_analysis import COLUMNS, cautions, cells, summary_sentences
from pellucid.explaining.views.terminal_explanation import (
    UNREAD,
    WRITTEN,
    WRITTEN_SPANS,
    answer_in_words,
    marked,
    shaded,
    target_in_words,
    written_words,
)
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import SideBySide
from pellucid.results.span_analysis import AnalysedSpan, SpanAnalysis
from pellucid.text.reading import is_about_reading
from pellucid.text.units import Spans

MOST = 5
SCALE = (
    "Each number is a score divided by the largest score of its method, from -1 to 1. The score that 1 stands for is "
    "given after the method's name. Agreement of methods is no evidence of truth."
)


@renderers.add(draws="side by side")
def terminal_side_by_side(methods: SideBySide, *, colour: bool | None = None, width: int | None = None) -> str:
    """Text by text, each method's strongest words, checks and caveats; then what was left out, and why.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = wants_colour(colour)
    lines: list[Line] = []
    for of_text in methods.by_text:
        lines += [*_text(of_text, colour), Text("")]
    return printed([*lines, *_how_to_read(methods), *_left_out(methods)], colour, width)


def _text(of_text: list[Explanation], colour: bool) -> list[Line]:
    """One text: the answer, then a block a method."""
    first, row_numbers, parity = of_text[0], count(1), parity_in_words(of_text)
    lines: list[Line] = [
        line(f"{answer_in_words(first)}, {target_in_words(first)}"),
        *([line(parity)] if parity else []),
        *caution_lines(reading_cautions(of_text)),
        *map(line, bytes_in_words(of_text)),
        *([] if colour else [marked(first)]),
        *([line(UNREAD)] if unread_places(first) else []),
    ]
    for family, members in in_families(of_text).items():
        lines += [Text(""), line(family.heading, style="bold")]
        for explanation in members:
            lines += _block(explanation, next(row_numbers), colour)
    return lines


def _block(explanation: Explanation, row_number: int, colour: bool) -> list[Line]:
    """One method: its name and checks, the text if it is shaded, its strongest words, its caveats."""
    if is_of_written_words(explanation):
        notes = ", ".join(diagnostics_in_brief(explanation))
        lines = [*written_words(explanation), *caution_lines(explanation.caveats)]
        return [_head(explanation, row_number, notes), *indented(lines)]
    view = drawable_view(explanation, unit_of(explanation))
    scale = full_colour(view)
    notes = ", ".join([f"1 = {readable_number(scale)}", *in_brief(explanation)])
    words = ", ".join(f"“{unit.text}” {signed(unit.score / scale)}" for unit in strongest(view, MOST))
    under = [
        *([shaded(view, scale)] if colour else []),
        line(words or (ALL_UNREAD if view.is_unread else ALL_ZERO)),
        *caution_lines(
            [*plain_caution(view), *(caveat for caveat in explanation.caveats if not is_about_reading(caveat))]
        ),
    ]
    return [_head(explanation, row_number, notes), *indented(under)]


def _head(explanation: Explanation, row_number: int, notes: str) -> Text:
    """The line of a method's number and name, with a few words about its scores."""
    head = line(f"{row_number:>2} {readable(explanation.method)}  ")
    if notes:
        head.append(plain(f"({notes})"), style="dim")
    return head


def _how_to_read(methods: SideBySide) -> list[Text]:
    """What the numbers are: shares of the largest, or scores beside each written word."""
    every = methods.explanations
    written = [explanation for explanation in every if is_of_written_words(explanation)]
    guides = [
        *([WRITTEN_SPANS] if any(isinstance(explanation.units, Spans) for explanation in written) else []),
        *([WRITTEN] if any(not isinstance(explanation.units, Spans) for explanation in written) else []),
        *([SCALE] if len(written) < len(every) else []),
    ]
    return [line(guide) for guide in guides]


def _left_out(methods: SideBySide) -> list[Text]:
    if not methods.left_out:
        return []
    reasons = by_reason(methods.left_out).items()
    return [
        Text(""),
        line("Left out (add one with all,NAME)", style="bold"),
        *(line(f"   {reason}: {', '.join(names)}") for reason, names in reasons),
    ]


# The analysis of a text's heaviest spans in a terminal: one block a span, with the columns of the page.


@renderers.add(draws="span analysis")
def terminal_span_analysis(analysis: SpanAnalysis, *, colour: bool | None = None, width: int | None = None) -> str:
    """The answer, the text, each span with its numbers, and what to keep in mind.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    explanation = analysis.explanation
    lines: list[Line] = [
        line(f"{answer_in_words(explanation)}, {target_in_words(explanation)}"),
        line(explanation.example.text),
        *(part for span in analysis.spans for part in _span_block(span)),
        Text(""),
        *map(line, summary_sentences(analysis)),
        *caution_lines(cautions(analysis)),
    ]
    return printed(lines, colour, width)


def _span_block(span: AnalysedSpan) -> list[Line]:
    facts = (f"{title}: {cell}" for title, cell in zip(COLUMNS, cells(span), strict=True))
    return block(f"“{span.text}”", facts)
