"""Error analysis on a page: how often each pattern is seen among wrong and right answers, and the wrong texts."""

from collections.abc import Mapping, Sequence

from pellucid.core.results.error_analysis import CueWord, ErrorAnalysis, PatternCount
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Interval
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.card import card
from pellucid.reports.page.heat_map import warnings
from pellucid.reports.page.section import Section
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import MINUS, percent, unbroken

SHOWN, CUES_SHOWN = 20, 15
INTRO = (
    "Each text was explained by its heaviest span of words. The table counts what these spans look like where the "
    "model is wrong, and where it is right. Only a pattern that is clearly commoner among wrong answers can have to do with "
    "the errors; that it causes them is not shown."
)
KEY = (
    "Below each share its 95 % interval. ▲ commoner among wrong answers, ▼ among right ones, ○ unclear. A text counts for "
    "every pattern that it shows, so shares may sum to more than 100 %."
)
LISTED = "Misclassified texts. Each stands under the first pattern that it shows, in the table's order."
CUE_INTRO = (
    "A cue word is commoner in the train texts of one class than in the others’, by a z of 1.96 or more. Surest "
    "first; z in brackets."
)


def error_analysis_sections(found: ErrorAnalysis, shown: int = SHOWN) -> list[Section]:
    """The table, the texts of each pattern that has any, and the cue words; shown: the most texts a pattern."""
    texts = [
        Section(_title(pattern.name), f"{pattern.meaning} {LISTED}", _cards(found.texts[pattern.name], shown))
        for pattern in found.patterns
        if found.texts[pattern.name]
    ]
    table = Section("What errors look like", f"{said(found)} {INTRO}", _counted(found))
    return [table, *texts, Section("Cue words", CUE_INTRO, cue_list(found.cues))]


def _counted(found: ErrorAnalysis) -> Markup:
    spans = element("p", found.heaviest.in_words(), class_="pl-note") if found.heaviest.texts else None
    return fragment(*warnings(found.caveats), spans, pattern_table(found.patterns))


def said(found: ErrorAnalysis) -> str:
    """How many answers are wrong."""
    return f"Of {found.wrong + found.right:,} texts the model gets {found.wrong:,} wrong."


def pattern_table(patterns: Sequence[PatternCount]) -> Markup:
    """What each pattern is; then a row each: its counts and shares on both sides, and the difference."""
    heads = ("pattern", "among wrong answers", "among right answers", "difference")
    head = element("tr", *(element("th", title, scope="col") for title in heads))
    table = element(
        "table", element("thead", head), element("tbody", *map(_row, patterns)), class_="pl-table"
    )
    key = element(
        "dl",
        *(
            part
            for pattern in patterns
            for part in (element("dt", name(_title(pattern.name))), element("dd", pattern.meaning))
        ),
        class_="pl-key",
    )
    box = element(
        "div", table, class_="pl-scroll", tabindex=0, role="region", aria_label="Patterns of errors"
    )
    return fragment(key, box, element("p", KEY, class_="pl-note"))


def mark(over: Interval) -> tuple[str, str, str]:
    """Symbol, word and look of a difference."""
    if over.low > 0:
        return "▲", "commoner", "pl-worse"
    return ("▼", "rarer", "pl-better") if over.high < 0 else ("○", "unclear", "pl-unclear")


def points(share: float) -> str:
    """A difference of two shares in percentage points."""
    return f"{share * 100:+.0f}".replace("-", MINUS) + " points" if share == share else "unknown"


def points_between(over: Interval) -> str:
    """The ends of a difference's interval."""
    return f"{points(over.low).removesuffix(' points')} to {points(over.high)}"


def cue_list(cues: Mapping[str, Sequence[CueWord]]) -> Markup:
    """A line a class: its surest cue words."""
    lines = (
        part
        for label, found in cues.items()
        for part in (element("dt", name(label)), element("dd", name(cues_in_words(found))))
    )
    return element("dl", *lines, class_="pl-facts")


def cues_in_words(cues: Sequence[CueWord], most: int = CUES_SHOWN) -> str:
    """“dull” (4.1), “slow” (3.9) and 12 more"""
    words = ", ".join(f"“{cue.word}” ({cue.z:.1f})" for cue in cues[:most])
    more = f" and {len(cues) - most} more" if len(cues) > most else ""
    return f"{words}{more}" or "none: no word is clearly commoner here than elsewhere"


def _title(pattern: str) -> str:
    words = readable(pattern)
    return words[0].upper() + words[1:]


def _row(pattern: PatternCount) -> Markup:
    symbol, word, look = mark(pattern.over)
    return element(
        "tr",
        element("th", name(_title(pattern.name)), scope="row"),
        _share(pattern.among_wrong, pattern.share_wrong),
        _share(pattern.among_right, pattern.share_right),
        element(
            "td",
            element("span", unbroken(points(pattern.over.mean)), class_="pl-value"),
            element("small", points_between(pattern.over)),
            element("small", f"{symbol} {word}", class_=look),
        ),
    )


def _share(count: int, share: Interval) -> Markup:
    told = unbroken(f"{count:,} ({percent(share.mean)})")
    between = f"{percent(share.low)} to {percent(share.high)}"
    return element("td", element("span", told, class_="pl-value"), element("small", between))


def _cards(explanations: Sequence[Explanation], shown: int) -> Markup:
    cards = element("div", *(card([one]) for one in explanations[:shown]), class_="pl-cards")
    left = len(explanations) - shown
    more = f"{left:,} more are in the analysis, but not on this page." if left > 0 else None
    return fragment(cards, element("p", more, class_="pl-note") if more else None)
