"""The difference between two versions in sentences and in a terminal; and `pellucid diff A B`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid
from rich.text import Text

import pellucid
from pellucid.base.checks import between, in_syntax, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.kinds import renderers
from pellucid.drawing.terminal import Line, caution_lines, line, printed
from pellucid.drawing.wording import MINUS, answer_name, first_names, percent
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
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
        f"{first_names([text_id or '(no id)' for text_id in ids])}."
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


# The difference between two versions in a terminal: what changed over all texts, then the worst of them, a line each.

ROWS = 20
MARKS = {"wrong": "✗", "right": "✓", "changed": "≠", "": ""}


@renderers.add(draws="difference")
def terminal_difference(difference: Difference, *, colour: bool | None = None, width: int | None = None) -> str:
    """The summary, what is to be kept in mind, and a table of the twenty worst texts.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    from pellucid.drawing.method_facts import readable

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
    return [line(answers_in_words(totals)), _means(totals), *(line(sentence) for sentence in sentences if sentence)]


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


# `pellucid diff A B`: what changed between the explanations of two versions of a model?

EXCEEDED = 1  # the exit status where a limit is exceeded


def diff(
    a: Annotated[
        str,
        typer.Argument(
            help="Results of the first version that `pellucid explain --save` wrote (.parquet or .json), the folder or "
            "address of a run, or a comparison's folder."
        ),
    ],
    b: Annotated[str, typer.Argument(help="Results of the second version, of the same texts.")],
    *,
    twin: Annotated[
        list[str] | None,
        typer.Option(
            help="Results of a twin, another training of the first version: how far two trainings differ by "
            "themselves. Repeat it for more."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="The method, where the results are of several methods.")] = None,
    top: Annotated[int, typer.Option(help="How many of a text's highest-scored words are compared.")] = 3,
    most_changed: Annotated[
        float | None,
        typer.Option(
            "--most-changed",
            "--most",
            help="End with status 1 where more than this share of the answers changed, 0 to 1.",
        ),
    ] = None,
    least_overlap: Annotated[
        float | None,
        typer.Option(help="End with status 1 where the mean overlap of words is below this, 0 to 1."),
    ] = None,
    beyond_twins: Annotated[
        bool,
        typer.Option("--beyond-twins", help="End with status 1 where B clearly differs more from A than every twin."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=10, help="How many bootstrap draws each interval is made from.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the intervals.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a page of the texts side by side, worst first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all texts and means as JSON.")] = False,
) -> None:
    """Compare the explanations of the same texts under two versions of a model: answers and words that changed, worst
    first.
    """
    from pellucid.versions.door import MOST_WORDS

    whole("--top", top, 1, MOST_WORDS)
    for name, limit in (("--most-changed", most_changed), ("--least-overlap", least_overlap)):
        if limit is not None:
            between(name, limit, 0, 1)
    if beyond_twins and not twin:
        raise BadSetting("--beyond-twins compares with twins, and none came; add --twin with a twin's saved results.")
    check_outputs([html], [a, b, *(twin or [])])  # reported before the work, not after it
    changes = pellucid.diff(a, b, twins=twin or (), method=method, k=top, resamples=resamples, seed=seed)
    exceeded = _exceeded(changes, most_changed, least_overlap, beyond_twins)
    if html is not None:
        pellucid.report(changes, path=html)
    print(json.dumps(changes.record() | {"exceeded": exceeded}) if as_json else str(changes).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)
    for sentence in exceeded:
        say(sentence, aside=True)
    if exceeded:
        raise typer.Exit(EXCEEDED)


def _exceeded(
    changes: Difference, most_changed: float | None, least_overlap: float | None, beyond_twins: bool
) -> list[str]:
    """A sentence for each limit that is exceeded; raises `BadInput` where there is no number to be limited."""
    totals = changes.summary()
    changed, overlap = totals.means.changed.mean, totals.means.overlap.mean
    if most_changed is not None and changed != changed:
        raise BadInput(
            "--most-changed counts classes that changed, and this model gives values; give --least-overlap, or leave "
            "the option out."
        )
    if least_overlap is not None and overlap != overlap:
        raise BadInput(
            f"--least-overlap needs texts that both versions explain for one class and that have more than {totals.k} "
            f"words, and there is none; give longer texts, a smaller --top, or leave the option out."
        )
    sentences = []
    if most_changed is not None and changed > most_changed:
        sentences.append(f"Too many answers changed: {changed:.4g} of all, and --most-changed is {most_changed:g}.")
    if least_overlap is not None and overlap < least_overlap:
        sentences.append(f"Too few words in common: overlap {overlap:.4g}, and --least-overlap is {least_overlap:g}.")
    if beyond_twins and any(totals.is_beyond_twins.values()):
        sentences.append(floor_in_words(totals))
    return sentences
