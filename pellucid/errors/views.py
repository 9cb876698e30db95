"""Error analysis on a page and in a terminal: how often each pattern is seen among wrong and right answers, and the
wrong texts.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from rich.text import Text

from pellucid.base.checks import listed
from pellucid.base.kinds import renderers
from pellucid.drawing.card import card
from pellucid.drawing.heat_map import caution_lines, small_print
from pellucid.drawing.html import (
    Markup,
    definition_list,
    element,
    fragment,
    header_row,
    name,
    scroll_box,
    table,
)
from pellucid.drawing.method_facts import facts_of, readable
from pellucid.drawing.page import Opening, Section, notebook_frame, written_on
from pellucid.drawing.reading_guide import errors_guide, span_guide
from pellucid.drawing.terminal import Line, block, line, printed
from pellucid.drawing.terminal import caution_lines as cautions
from pellucid.drawing.wording import MINUS, percent, unbroken
from pellucid.errors.record import CueWord, ErrorAnalysis, PatternCount
from pellucid.explaining.views.opening import examples_view, texts_in_words
from pellucid.explaining.views.shortcuts import shortcut_lines, shortcut_sections
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import evidence_parts
from pellucid.results.results import Stored
from pellucid.results.table import Interval
from pellucid.text.example import data_of

TEXTS_SHOWN, TEXTS_OPEN, CUES_SHOWN = 20, 3, 15
MISTAKES = ("Surest mistake", "Second surest", "Third surest")  # in colour at the top
INTRO = (
    "The table counts what this evidence looks like, first in texts that the model gets wrong, then in texts that it "
    "gets right. Only a pattern that is clearly more common among wrong answers can have to do with the errors. The "
    "table does not show that it causes them."
)
BY_SPAN = "The evidence of an answer is the text's heaviest span of words."
BY_WORDS = "The evidence of an answer is the words, at most three, that speak most for it according to {method}."
KEY = (
    "The 95 % interval stands below each share. ▲ more common among wrong answers, ▼ less common, ○ unclear. A text "
    "counts for every pattern that it shows, so the shares can add up to more than 100 %."
)
LISTED = (
    "These are misclassified texts, the surest mistakes first. Each text stands under the first pattern of the table "
    "that it shows."
)
CUE_INTRO = (
    "A cue word is more common in the training texts of one class than in those of the other classes, with a z-score "
    "of 1.96 or more. The surest words come first; the z-scores are in brackets."
)
TITLE = "What errors look like"
COLUMNS = ("pattern", "among wrong answers", "among right answers", "difference")


@renderers.add(draws="error analysis", sections_of=("pellucid.errors.record.ErrorAnalysis",))
def page_sections_of_errors(analysis: ErrorAnalysis) -> tuple[list[Section], Markup, Opening]:
    """The sections of its page, how to read them, and what stands first: facts, and the three surest mistakes."""
    return error_analysis_sections(analysis), _errors_guide(analysis), _opening(analysis)


def _opening(analysis: ErrorAnalysis) -> Opening:
    wrong = _shown(analysis)
    first = tuple(map(str, analysis.shortcuts.decisive))
    if not wrong:
        unnamed = (texts_in_words(analysis.wrong + analysis.right, ""), written_on())
        return Opening(unnamed, errors_in_words(analysis), first=first, title=TITLE)
    leading = [
        (explanation, f"text-{begun + index}")
        for begun, texts in _begun(analysis)
        for index, explanation in enumerate(texts[: len(MISTAKES)], 1)
    ]
    surest = sorted(leading, key=lambda pair: -pair[0].prediction.probability)[: len(MISTAKES)]
    picks = [(title, shown, anchor) for title, (shown, anchor) in zip(MISTAKES, surest, strict=False)]
    known = texts_in_words(analysis.wrong + analysis.right, data_of([shown.example.id for shown in wrong]))
    facts = (f"Model {surest[0][0].model}", known, f"Explained by {readable(analysis.method)}", written_on())
    outcome = f"{errors_in_words(analysis)} {outcome_in_words(analysis)}"
    return Opening(facts, outcome, examples_view(picks, {}), first, title=TITLE)


def _errors_guide(analysis: ErrorAnalysis) -> Markup:
    """How to read misclassified texts: underlined spans, or the colours of the method's words."""
    wrong = _shown(analysis)
    marked = any(explanation.example.rationales for explanation in wrong)
    return span_guide(marked) if analysis.by_span else errors_guide(facts_of(analysis.method, wrong), marked)


def error_analysis_sections(analysis: ErrorAnalysis, texts_shown: int = TEXTS_SHOWN) -> list[Section]:
    """The table, the texts of each pattern that has any, the cue words, what decides by itself; without mistakes one
    sentence before that.

    texts_shown: at most, of each pattern.
    """
    decides = shortcut_sections(analysis.shortcuts)  # the opening says what does
    if not analysis.wrong:
        return [Section("No mistakes", errors_in_words(analysis), fragment(*caution_lines(analysis.caveats))), *decides]
    intro = f"{errors_in_words(analysis)} {outcome_in_words(analysis)} {evidence_in_words(analysis)} {INTRO}"
    counts = Section("What errors look like", intro, _counts(analysis))
    begun = {name: first for name, (first, _) in zip(analysis.texts, _begun(analysis), strict=True)}
    texts = [
        Section(
            _title(pattern.name),
            f"{pattern.meaning} {LISTED}",
            _cards(analysis.texts[pattern.name], texts_shown, begun[pattern.name]),
        )
        for pattern in analysis.patterns
        if len(analysis.texts[pattern.name])
    ]
    cues = [Section("Cue words", CUE_INTRO, cue_list(analysis.cues))] if analysis.cues else []
    return [counts, *texts, *cues, *decides]


def _counts(analysis: ErrorAnalysis) -> Markup:
    heaviest = analysis.heaviest
    spans = element("p", heaviest.in_words(), class_="pl-note") if heaviest.texts else None
    return fragment(*caution_lines(analysis.caveats), spans, pattern_table(analysis.patterns))


def errors_in_words(analysis: ErrorAnalysis) -> str:
    """How many answers are wrong."""
    total = f"{analysis.wrong + analysis.right:,}"
    if not analysis.wrong:
        return f"The model gets all {total} texts right: there are no mistakes to look at; give more or harder ones."
    return f"Of {total} texts the model gets {analysis.wrong:,} wrong."


def outcome_in_words(analysis: ErrorAnalysis) -> str:
    """Which patterns are clearly more common among wrong answers, or that none is."""
    clear = [readable(pattern.name) for pattern in analysis.patterns if pattern.over.low > 0]
    if clear:
        return f"Clearly more common among the wrong answers: {listed(clear)}."
    return (
        "No pattern is clearly more common among the wrong answers, so these patterns do not explain the mistakes; "
        "read the wrong texts themselves, the surest mistakes first."
    )


def evidence_in_words(analysis: ErrorAnalysis) -> str:
    """What the evidence is: a span, or words, and by which method."""
    return BY_SPAN if analysis.by_span else BY_WORDS.format(method=readable(analysis.method))


def pattern_table(patterns: Sequence[PatternCount]) -> Markup:
    """A row a pattern: its counts and shares on both sides, and the difference; then, folded, what each pattern is."""
    meanings = ((name(_title(pattern.name)), pattern.meaning) for pattern in patterns)
    rows = table(header_row(COLUMNS), map(_row, patterns), "pl-table")
    return fragment(
        scroll_box(rows, "Patterns of errors"),
        element("p", KEY, class_="pl-note"),
        element("details", element("summary", "What the patterns are"), definition_list(meanings, "pl-key")),
    )


def difference_mark(difference: Interval) -> tuple[str, str, str]:
    """The symbol, words and CSS class of a difference."""
    if difference.low > 0:
        return "▲", "more common", "pl-worse"
    return ("▼", "less common", "pl-better") if difference.high < 0 else ("○", "unclear", "pl-unclear")


def points(share: float) -> str:
    """A difference of two shares in percentage points."""
    return f"{share * 100:+.0f}".replace("-", MINUS) + " points" if share == share else "unknown"


def points_between(difference: Interval) -> str:
    """The ends of a difference's interval."""
    return f"{points(difference.low).removesuffix(' points')} to {points(difference.high)}"


def cue_list(cues: Mapping[str, Sequence[CueWord]]) -> Markup:
    """A line a class: its surest cue words."""
    lines = ((name(label), name(cues_in_words(words))) for label, words in cues.items())
    return definition_list(lines, "pl-facts")


def cues_in_words(cues: Sequence[CueWord], most: int = CUES_SHOWN) -> str:
    """“dull” (4.1), “slow” (3.9) and 12 more"""
    words = ", ".join(f"“{cue.word}” ({cue.z:.1f})" for cue in cues[:most])
    more = f" and {len(cues) - most} more" if len(cues) > most else ""
    return f"{words}{more}" or "none: no word is clearly more common in this class than in the others"


def _title(pattern: str) -> str:
    words = readable(pattern)
    return words[0].upper() + words[1:]


def _row(pattern: PatternCount) -> Markup:
    symbol, words, css_class = difference_mark(pattern.over)
    return element(
        "tr",
        element("th", name(_title(pattern.name)), scope="row"),
        _share(pattern.among_wrong, pattern.share_wrong),
        _share(pattern.among_right, pattern.share_right),
        element(
            "td",
            element("span", unbroken(points(pattern.over.mean)), class_="pl-value"),
            element("small", points_between(pattern.over)),
            element("small", f"{symbol} {words}", class_=css_class),
        ),
    )


def _share(count: int, share: Interval) -> Markup:
    value = unbroken(f"{count:,} ({percent(share.mean)})")
    between = f"{percent(share.low)} to {percent(share.high)}"
    return element("td", element("span", value, class_="pl-value"), element("small", between))


def _cards(explanations: Sequence[Explanation], texts_shown: int, begun: int) -> Markup:
    """The first cards open, the others folded; of very many how many are left out. begun: texts before these."""
    shown = explanations[:texts_shown]
    cards = [card([explanation], anchor=f"text-{begun + index}") for index, explanation in enumerate(shown, 1)]
    folded, left = cards[TEXTS_OPEN:], len(explanations) - texts_shown
    summary = element("summary", f"{len(folded):,} more")
    more = f"{left:,} more are in the analysis, but not on this page."
    return fragment(
        element("div", *cards[:TEXTS_OPEN], class_="pl-cards"),
        element("details", summary, element("div", *folded, class_="pl-cards"), class_="pl-full") if folded else None,
        element("p", more, class_="pl-note") if left > 0 else None,
    )


def _begun(analysis: ErrorAnalysis) -> list[tuple[int, Sequence[Explanation]]]:
    """The texts of each pattern, with how many those before it have: texts are numbered through."""
    ends = accumulate(map(len, analysis.texts.values()))
    return [(end - len(texts), texts) for end, texts in zip(ends, analysis.texts.values(), strict=True)]


def _shown(analysis: ErrorAnalysis) -> list[Explanation]:
    """The misclassified texts; of a run over a corpus those that the page shows."""
    every = (texts[:TEXTS_SHOWN] if isinstance(texts, Stored) else texts for texts in analysis.texts.values())
    return [explanation for texts in every for explanation in texts]


@renderers.add(draws="error analysis")
def notebook_error_analysis(analysis: ErrorAnalysis) -> str:
    """How often each pattern of errors is seen, without the texts, for `_repr_html_`."""
    errors = small_print([*map(str, analysis.shortcuts.sentences), errors_in_words(analysis)])
    if not analysis.wrong:
        return notebook_frame(errors)
    return notebook_frame(errors, pattern_table(analysis.patterns), cue_list(analysis.cues))


# Error analysis in a terminal: one block a pattern, and the surest cue words.

MOST, CUES = 3, 8


@renderers.add(draws="error analysis")
def terminal_error_analysis(analysis: ErrorAnalysis, *, colour: bool | None = None, width: int | None = None) -> str:
    """Shares of each pattern among wrong and right answers, the evidence of some texts, and cue words.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    first = [*shortcut_lines(analysis.shortcuts), Text("")] if analysis.shortcuts.n_texts else []
    if not analysis.wrong:
        return printed([*first, line(errors_in_words(analysis)), *cautions(analysis.caveats)], colour, width)
    summary = (
        errors_in_words(analysis),
        outcome_in_words(analysis),
        evidence_in_words(analysis),
        analysis.heaviest.in_words(),
    )
    cues = [f"{label}: {cues_in_words(words, CUES)}" for label, words in analysis.cues.items()]
    lines: list[Line] = [
        *first,
        *(line(sentence) for sentence in summary if sentence),
        *cautions(analysis.caveats),
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
    evidence = [
        f"{explanation.example.label} read as {explanation.prediction.label}: {_quoted(explanation)}"
        for explanation in texts[:MOST]
    ]
    more = [f"and {len(texts) - MOST} more, see the page (--html)"] if len(texts) > MOST else []
    return [*evidence, *more]


def _quoted(explanation: Explanation) -> str:
    return ", ".join(f"“{part.text}”" for part in evidence_parts(explanation)) or "nothing speaks for it"
