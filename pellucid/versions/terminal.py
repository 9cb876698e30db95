"""The difference between two versions in sentences, and in a terminal: what changed over all texts, then the worst of
them.
"""

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.checks import in_syntax
from pellucid.base.kinds import renderers
from pellucid.drawing.method_facts import readable
from pellucid.drawing.terminal import Line, caution_lines, line, printed
from pellucid.drawing.wording import MINUS, answer_name, first_names, percent
from pellucid.results.table import Interval
from pellucid.versions.record import Difference, DifferenceMeans, DifferenceSummary, TextDifference

NAMES = {"changed": "answers", "tau": "order of words", "overlap": "strongest words"}
MEASURES = (
    "Rank correlation is Kendall’s tau-b of the words’ scores: 1 is the same order, 0 no relation, "
    f"{MINUS}1 the reverse order. Overlap is the share of a text’s highest-scored words that both versions have."
)
DIFFERENT_CLASS = "the versions explain different classes"


def answers_in_words(totals: DifferenceSummary) -> str:
    """How many answers changed, and what that did to right and wrong ones."""
    texts = f"{totals.n_texts:,} text{'' if totals.n_texts == 1 else 's'}"
    if totals.means.changed.mean != totals.means.changed.mean:  # of values it is not known
        return f"{texts} in common; the versions give values, which nearly always differ a little."
    changed = f"{totals.n_changed:,} of {texts} in common got another answer."
    if not totals.n_labelled:
        return changed
    right, wrong = totals.became_right, totals.became_wrong
    return f"{changed} Of {totals.n_labelled:,} with a label, {wrong:,} became wrong and {right:,} became right."


def missing_in_words(difference: Difference) -> list[str]:
    """How many texts only one version has, and the ids of the first of them."""
    sides = (("first", difference.only_before), ("second", difference.only_after))
    return [
        f"{len(ids):,} text{'' if len(ids) == 1 else 's'} only in the {side} results: "
        f"{first_names([one or '(no id)' for one in ids])}."
        for side, ids in sides
        if ids
    ]


def floor_in_words(totals: DifferenceSummary) -> str:
    """Whether the second version differs more than every twin; empty without twins."""
    beyond = totals.is_beyond_twins
    if not beyond:
        return ""
    twins = "its twin" if len(totals.twins) == 1 else f"each of its {len(totals.twins)} twins"
    more = [NAMES[name] for name, exceeded in beyond.items() if exceeded]
    if not more:
        return f"The second version does not clearly differ more from the first than {twins} does."
    return f"The second version differs clearly more from the first than {twins} does, in: {', '.join(more)}."


def luck_in_words(totals: DifferenceSummary) -> str:
    """What overlap random rankings would have."""
    if totals.by_luck != totals.by_luck:
        return ""
    return f"Random rankings of these texts would share {two(totals.by_luck)} of the {totals.k} highest-scored words."


def two(value: float) -> str:
    """Two decimals with a true minus sign; – where there is no number."""
    return format(value, "z.2f").replace("-", MINUS) if value == value else "–"


def interval_in_words(interval: Interval, as_percent: bool = False) -> str:
    """The interval's ends: 0.71 to 0.79; empty where they are not known."""
    if interval.low != interval.low:
        return ""
    if as_percent:
        return f"{percent(interval.low).removesuffix('%').rstrip()} to {percent(interval.high)}"
    return f"{two(interval.low)} to {two(interval.high)}"


def change_in_words(row: TextDifference) -> str:
    """positive → negative, became wrong; or the answer that stayed."""
    before, after = answer_name(row.before), answer_name(row.after)
    return f"{before} → {after}" if before != after else after


def outcome_in_words(row: TextDifference) -> str:
    """became wrong, became right, or nothing."""
    return "became wrong" if row.became_wrong else "became right" if row.became_right else ""


def agreement_in_words(row: TextDifference, k: int) -> str:
    """Both numbers of a text, or why it has none."""
    if row.before.target.label != row.after.target.label:
        return f"Not compared word by word: {DIFFERENT_CLASS}."
    return f"Rank correlation {two(row.tau)}, overlap of the {k} highest-scored words {two(row.overlap)}."


def quoted_words(words: Sequence[str]) -> str:
    """The words in one line, or that nothing speaks for the class."""
    return ", ".join(words) or "–"


# The difference between two versions in a terminal: what changed over all texts, then the worst of them,
# a line each.


ROWS = 20
MARKS = {"wrong": "✗", "right": "✓", "changed": "≠", "": ""}


@renderers.add(draws="difference")
def terminal_difference(difference: Difference, *, colour: bool | None = None, width: int | None = None) -> str:
    """The summary, what is to be kept in mind, and a table of the twenty worst texts.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    before, after = difference.models
    lines: list[Line | Grid] = [
        line(f"{readable(difference.method)} · first: {before} · second: {after}", style="bold"),
        *_summary_lines(difference.totals),
        *map(line, missing_in_words(difference)),
        *caution_lines(difference.caveats),
        Text(""),
        _texts(difference.rows[:ROWS]),
    ]
    rest = len(difference) - ROWS
    more = f"{rest:,} more texts; " if rest > 0 else ""
    hint = in_syntax("pellucid.report(difference, path=…) shows them side by side", "--html shows them side by side")
    return printed([*lines, line(f"✗ became wrong, ✓ became right, ≠ changed otherwise. {more}{hint}")], colour, width)


@renderers.add(draws="difference summary")
def terminal_difference_summary(
    totals: DifferenceSummary, *, colour: bool | None = None, width: int | None = None
) -> str:
    """What changed over all texts, and the noise floor.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    return printed(_summary_lines(totals), colour, width)


def _summary_lines(totals: DifferenceSummary) -> list[Line | Grid]:
    sentences = (luck_in_words(totals), floor_in_words(totals))
    return [line(answers_in_words(totals)), _means(totals), *(line(one) for one in sentences if one)]


def _means(totals: DifferenceSummary) -> Grid:
    """A line for the second version and each twin: the three means with their intervals."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column("first and", max_width=14, no_wrap=True)
    for title in ("answers changed", "rank correlation", f"overlap of {totals.k} words"):
        grid.add_column(title, no_wrap=True)
    grid.add_row(*_mean_cells("the second", totals.means))
    for twin in totals.twins:
        grid.add_row(*_mean_cells(f"twin {twin.name}", twin.means))
    return grid


def _mean_cells(name: str, means: DifferenceMeans) -> list[Text]:
    return [
        line(name),
        line(_with_interval(means.changed, as_percent=True)),
        line(_with_interval(means.tau)),
        line(_with_interval(means.overlap)),
    ]


def _with_interval(interval: Interval, as_percent: bool = False) -> str:
    mean = percent(interval.mean) if as_percent else two(interval.mean)
    ends = interval_in_words(interval, as_percent)
    return f"{mean} ({ends})" if ends else mean


def _texts(rows: Sequence[TextDifference]) -> Grid:
    """One line a text; both versions' words stand side by side."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    grid.add_column("id", max_width=14, no_wrap=True)
    grid.add_column("", no_wrap=True)
    grid.add_column("answer", max_width=22, no_wrap=True)
    grid.add_column("rank", justify="right", no_wrap=True)
    grid.add_column("overlap", justify="right", no_wrap=True)
    for title in ("words before", "words after"):
        grid.add_column(title, ratio=1, no_wrap=True)
    for row in rows:
        words = (quoted_words(row.words_before), quoted_words(row.words_after))
        cells = [
            row.after.example.id,
            _mark(row),
            change_in_words(row),
            two(row.tau),
            two(row.overlap),
            *words,
        ]
        grid.add_row(*(line(" ".join(cell.split())) for cell in cells))
    return grid


def _mark(row: TextDifference) -> str:
    if row.became_wrong:
        return MARKS["wrong"]
    return MARKS["right"] if row.became_right else MARKS["changed" if row.is_changed else ""]
