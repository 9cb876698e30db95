"""The analysis of a text's heaviest spans in a terminal: one block a span, what the page's columns hold."""

import sys

from rich.padding import Padding
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.span_analysis import AnalysedSpan, SpanAnalysis
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.span_analysis import COLUMNS, cautions, cells, told
from pellucid.reports.terminal.terminal import explained, printed, said


@renderers.add(draws="span analysis")
def terminal_span_analysis(
    analysis: SpanAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The answer, the text, each span with its numbers, and what to keep in mind.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = sys.stdout.isatty() if colour is None else colour
    explanation = analysis.explanation
    lines: list[Text | Padding] = [
        Text(plain(f"{said(explanation)}, {explained(explanation)}")),
        Text(plain(explanation.example.text)),
        *(line for span in analysis.spans for line in _block(span)),
        Text(""),
        *(Text(plain(note)) for note in told(analysis)),
        *(Text(plain(f"Caution: {caution}")) for caution in cautions(analysis)),
    ]
    return printed(lines, colour, width)


def _block(span: AnalysedSpan) -> list[Text | Padding]:
    facts = zip(COLUMNS, cells(span), strict=True)
    return [
        Text(""),
        Text(plain(f"“{span.text}”"), style="bold"),
        *(Padding(Text(plain(f"{title}: {cell}")), (0, 0, 0, 3)) for title, cell in facts),
    ]
