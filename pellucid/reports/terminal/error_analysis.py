"""Error analysis in a terminal: one block a pattern, and the surest cue words."""

import sys

from rich.padding import Padding
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.error_analysis import ErrorAnalysis, PatternCount
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.error_analysis import cues_in_words, mark, points, points_between, said
from pellucid.reports.terminal.terminal import printed
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import percent

MOST, CUES = 3, 8


@renderers.add(draws="error analysis")
def terminal_error_analysis(
    found: ErrorAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """Shares of each pattern among wrong and right answers, some spans, and cue words.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = sys.stdout.isatty() if colour is None else colour
    lines: list[Text | Padding] = [Text(line) for line in (said(found), found.heaviest.in_words()) if line]
    lines += [Text(plain(f"Caution: {caveat}")) for caveat in found.caveats]
    for pattern in found.patterns:
        lines += _block(found, pattern)
    lines += [Text(""), Text("Cue words", style="bold")]
    lines += [Text(plain(f"{label}: {cues_in_words(cues, CUES)}")) for label, cues in found.cues.items()]
    return printed(lines, colour, width)


def _block(found: ErrorAnalysis, pattern: PatternCount) -> list[Text | Padding]:
    symbol, word, _ = mark(pattern.over)
    texts = found.texts[pattern.name]
    seen = [
        f"{one.example.label} read as {one.prediction.label}: “{span.text}”"
        for one in texts[:MOST]
        for span in one.spans(1)
    ]
    more = [f"and {len(texts) - MOST} more, see the page (--html)"] if len(texts) > MOST else []
    told = [
        pattern.meaning,
        f"{pattern.among_wrong} of {found.wrong} wrong answers ({percent(pattern.share_wrong.mean)}), "
        f"{pattern.among_right} of {found.right} right ones ({percent(pattern.share_right.mean)})",
        f"{symbol} {word} among wrong answers: {points(pattern.over.mean)} ({points_between(pattern.over)})",
        *seen,
        *more,
    ]
    return [
        Text(""),
        Text(plain(readable(pattern.name)), style="bold"),
        *(Padding(Text(plain(line)), (0, 0, 0, 3)) for line in told),
    ]
