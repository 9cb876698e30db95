"""Error analysis in a terminal: one block a pattern, and the surest cue words."""

from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.reports.page.error_analysis import (
    cues_in_words,
    difference_mark,
    errors_in_words,
    evidence_in_words,
    outcome_in_words,
    points,
    points_between,
)
from pellucid.reports.terminal.rich_text import Line, block, caution_lines, line, printed
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import percent
from pellucid.results.error_analysis import ErrorAnalysis, PatternCount
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import evidence_parts

MOST, CUES = 3, 8


@renderers.add(draws="error analysis")
def terminal_error_analysis(
    analysis: ErrorAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """Shares of each pattern among wrong and right answers, the evidence of some texts, and cue words.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    summary = (
        errors_in_words(analysis),
        outcome_in_words(analysis),
        evidence_in_words(analysis),
        analysis.heaviest.in_words(),
    )
    cues = [f"{label}: {cues_in_words(words, CUES)}" for label, words in analysis.cues.items()]
    lines: list[Line] = [
        *(line(sentence) for sentence in summary if sentence),
        *caution_lines(analysis.caveats),
        *(part for pattern in analysis.patterns for part in _block(analysis, pattern)),
        *([Text(""), line("Cue words", style="bold")] if cues else []),
        *map(line, cues),
    ]
    return printed(lines, colour, width)


def _block(analysis: ErrorAnalysis, pattern: PatternCount) -> list[Line]:
    """One pattern: what it means, its counts on both sides, and some spans that show it."""
    symbol, words, _ = difference_mark(pattern.over)
    counts = (
        f"{pattern.among_wrong} of {analysis.wrong} wrong answers ({percent(pattern.share_wrong.mean)}), "
        f"{pattern.among_right} of {analysis.right} right ones ({percent(pattern.share_right.mean)})"
    )
    difference = f"{points(pattern.over.mean)} ({points_between(pattern.over)})"
    facts = [pattern.meaning, counts, f"{symbol} {words} among wrong answers: {difference}"]
    return block(readable(pattern.name), [*facts, *_examples(analysis, pattern)])


def _examples(analysis: ErrorAnalysis, pattern: PatternCount) -> list[str]:
    texts = analysis.texts[pattern.name]
    evidence = [f"{one.example.label} read as {one.prediction.label}: {_quoted(one)}" for one in texts[:MOST]]
    more = [f"and {len(texts) - MOST} more, see the page (--html)"] if len(texts) > MOST else []
    return [*evidence, *more]


def _quoted(explanation: Explanation) -> str:
    return ", ".join(f"“{part.text}”" for part in evidence_parts(explanation)) or "nothing speaks for it"
