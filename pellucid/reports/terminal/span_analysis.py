"""The analysis of a text's heaviest spans in a terminal: one block a span, with the columns of the page."""

from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.reports.page.span_analysis import COLUMNS, cautions, cells, summary_sentences
from pellucid.reports.terminal.explanation import answer_in_words, target_in_words
from pellucid.reports.terminal.rich_text import Line, block, caution_lines, line, printed
from pellucid.results.span_analysis import AnalysedSpan, SpanAnalysis


@renderers.add(draws="span analysis")
def terminal_span_analysis(
    analysis: SpanAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The answer, the text, each span with its numbers, and what to keep in mind.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    explanation = analysis.explanation
    lines: list[Line] = [
        line(f"{answer_in_words(explanation)}, {target_in_words(explanation)}"),
        line(explanation.example.text),
        *(part for span in analysis.spans for part in _block(span)),
        Text(""),
        *map(line, summary_sentences(analysis)),
        *caution_lines(cautions(analysis)),
    ]
    return printed(lines, colour, width)


def _block(span: AnalysedSpan) -> list[Line]:
    facts = (f"{title}: {cell}" for title, cell in zip(COLUMNS, cells(span), strict=True))
    return block(f"“{span.text}”", facts)
