"""The page of the difference between two versions: what changed, and every text under both versions side by side.

Every text is a line that opens; the worst fifty have all their facts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pellucid.base.checks import shortened
from pellucid.base.kinds import renderers
from pellucid.drawing.card import answer_line, expert_facts, order_caution, picture, text_heading
from pellucid.drawing.emphasis import Scales
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import (
    IN_NOTEBOOK,
    Opening,
    Section,
    facts_section,
    methods_key,
    notebook_sections,
    shared_cautions,
    shared_caveats,
    write_report,
    written_on,
)
from pellucid.drawing.reading_guide import versions_guide
from pellucid.drawing.wording import percent, short_ids, target_name
from pellucid.explaining.views.corpus import (
    IN_FULL,
    LONGEST_ID,
    START,
    folded_line,
    folded_lines,
    light_picture,
    usual_scales,
)
from pellucid.explaining.views.opening import examples_view, texts_in_words
from pellucid.results.explanation import Explanation
from pellucid.results.results import Stored
from pellucid.results.table import Interval
from pellucid.text.example import data_of
from pellucid.versions.command import (
    MEASURES,
    agreement_in_words,
    answers_in_words,
    change_in_words,
    floor_in_words,
    interval_in_words,
    luck_in_words,
    missing_in_words,
    outcome_in_words,
    two,
)
from pellucid.versions.record import Difference, DifferenceMeans, TextDifference, TwinDifference

ORDER = (
    "Answers that became wrong come first, then other changed answers, the surest ones at the top; then texts whose "
    "answer stayed, those with the lowest overlap of words first."
)
EXAMPLES = 3  # texts in colour at the top
LINES = 2000  # texts on the page of runs over corpora
COLOURS = (
    "The first version stands left, or above on a narrow screen. A colour means the same in every text of one version. "
    "Each version has a scale of its own, since two models need not give scores of one size: compare where the colours "
    "are, and not how strong they are."
)


@renderers.add(
    "page_of_difference",
    draws="difference",
    page_of=("pellucid.versions.record.Difference",),
    heading="What changed between two versions",
)
def report(difference: Difference, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the difference to one HTML file; of runs over corpora the worst texts. about: facts that are shown last."""
    shown = replace(difference, rows=difference.rows[:LINES]) if isinstance(difference.rows, Stored) else difference
    sections = difference_sections(shown)
    if (left := len(difference) - len(shown)) > 0:
        more = f"{left:,} more texts are in the difference, and not on this page."
        sections[-1] = replace(sections[-1], intro=f"{sections[-1].intro} {more}")
    if about:
        sections.append(facts_section("What was done", "", about))
    return write_report(path, title=title, sections=sections, guide=versions_guide(), opening=_opening(shown))


def _opening(difference: Difference) -> Opening:
    """Both versions, the texts, and how the first three read under the second version."""
    rows = difference.rows
    first, second = difference.models
    n_texts = texts_in_words(difference.totals.n_texts, data_of([row.after.example.id for row in rows]))
    facts = (f"First {first}", f"second {second}", n_texts, f"Explained by {readable(difference.method)}", written_on())
    scales = usual_scales([row.after for row in rows])
    picks = [(_title(row), row.after, _anchor(index)) for index, row in enumerate(rows[:EXAMPLES])]
    return Opening(facts, answers_in_words(difference.totals), examples_view(picks, scales))


def _title(row: TextDifference) -> str:
    """What the text is an example of."""
    outcome = outcome_in_words(row) or "changed"
    return f"Answer {outcome}: {change_in_words(row)}" if row.is_changed else "Same answer"


def difference_sections(difference: Difference, in_full: int = IN_FULL) -> list[Section]:
    """What changed, then the texts; in_full: how many texts open into a card of their own."""
    intro = " ".join([answers_in_words(difference.totals), *missing_in_words(difference), MEASURES])
    return [
        Section("What changed", intro, fragment(means_view(difference), *caution_lines(difference.caveats))),
        Section("The texts, worst first", f"{ORDER} {COLOURS}", _texts(difference, in_full)),
    ]


def _texts(difference: Difference, in_full: int) -> Markup:
    """A line a text that opens, and the key to the method."""
    both = [_named(row) for row in difference.rows]
    every = [explanation for pair in both for explanation in pair]
    scales, shared = usual_scales(every), shared_caveats(every)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    lines, ids = [], short_ids([row.after.example.id for row in difference.rows], LONGEST_ID)
    for index, (row, pair) in enumerate(zip(difference.rows, both, strict=True)):
        is_whole = index < in_full
        shown = _card(index, row, pair, scales, hide, difference.totals.k) if is_whole else _light(index, pair, scales)
        lines.append(folded_line(_line(row, ids), shown, in_print=is_whole))
    return fragment(
        shared_cautions(shared),
        folded_lines(lines),
        methods_key(every, scales, checks=True),
    )


def _named(row: TextDifference) -> tuple[Explanation, Explanation]:
    """Both explanations, with names that tell the versions apart."""
    before, after = row.before, row.after
    return replace(before, model=f"First, {before.model},"), replace(after, model=f"Second, {after.model},")


def _card(
    index: int,
    row: TextDifference,
    pair: Sequence[Explanation],
    scales: Scales,
    hide: frozenset[str],
    k: int,
) -> Markup:
    """One text: what changed, then both versions side by side."""
    versions = (
        element(
            "div",
            answer_line(explanation, [target_name(explanation)]),
            picture(explanation, scales, "word", hide, checks=False),
        )
        for explanation in pair
    )
    return element(
        "article",
        text_heading(row.after.example),
        element("p", _changes(row), agreement_in_words(row, k), class_="pl-note"),
        element("div", *versions, class_="pl-versions"),
        *order_caution(row.after.example),
        expert_facts(pair),
        class_="pl-card",
        id=_anchor(index),
    )


def _changes(row: TextDifference) -> Markup | None:
    """The changed answer, with what it did to right and wrong."""
    if not row.is_changed:
        return None
    outcome = outcome_in_words(row)
    return fragment(element("strong", name(change_in_words(row))), f", {outcome}. " if outcome else ". ")


def _anchor(index: int) -> str:
    return f"text-{index + 1}"


def _line(row: TextDifference, ids: Mapping[str, str]) -> list[Markup | str | None]:
    """The id, whether the answer became right or wrong, the answers, the overlap, and the start of the text."""
    example = row.after.example
    return [
        element("span", name(ids[example.id] or "·"), class_="pl-nr"),
        _mark(row),
        element("span", name(change_in_words(row)), class_="pl-answered"),
        element("span", two(row.overlap), class_="pl-sure", title="overlap"),
        element("span", shortened(" / ".join(example.segments), START), class_="pl-start", dir="auto", lang=""),
    ]


def _mark(row: TextDifference) -> Markup:
    if row.became_wrong:
        return element("span", "✗", class_="pl-wrong")
    if row.became_right:
        return element("span", "✓", class_="pl-right")
    return element("span", "≠" if row.is_changed else "·")


def _light(index: int, pair: Sequence[Explanation], scales: Scales) -> Markup:
    """Both pictures, without the expert's facts."""
    pictures = (element("div", answer_line(shown), light_picture(shown, scales)) for shown in pair)
    return element("div", *pictures, id=_anchor(index), class_="pl-versions")


# The means over all texts as a table: the second version and each twin, beside the first version.

KEY = "Each number is the mean over the texts that have one; the 95 % interval (bootstrap over texts) stands below it."
TWINS = (
    "A twin is another training of the first version, so its row is the noise floor. ▲ the second version clearly "
    "differs more than this twin, on the same texts; ○ it does not."
)


def means_view(difference: Difference) -> Markup:
    """The table in a box that scrolls, and what it says about the noise floor."""
    totals = difference.totals
    columns = (
        "first version and",
        "answers changed",
        "rank correlation",
        f"overlap of {totals.k} words",
        "texts",
    )
    rows = [_row(f"the second, {difference.models[1]}", totals.means, None)]
    rows += [_row(f"its twin {twin.name}", twin.means, twin) for twin in totals.twins]
    notes = (KEY, TWINS if totals.twins else "", luck_in_words(totals))
    verdict = floor_in_words(totals)
    return fragment(
        element("p", element("strong", verdict)) if verdict else None,
        scroll_box(table(header_row(columns), rows, "pl-table"), "What changed"),
        element("p", " ".join(filter(None, notes)), class_="pl-note"),
    )


def _row(title: str, means: DifferenceMeans, twin: TwinDifference | None) -> Markup:
    exceeded = twin.is_exceeded if twin else {}
    return element(
        "tr",
        element("th", name(title), scope="row"),
        _cell(means.changed, True, exceeded.get("changed")),
        _cell(means.tau, False, exceeded.get("tau")),
        _cell(means.overlap, False, exceeded.get("overlap")),
        element("td", f"{means.n:,}", element("small", f"{means.n_tau:,} ranked")),
        class_="pl-floor" if twin else None,
    )


def _cell(interval: Interval, as_percent: bool, is_exceeded: bool | None) -> Markup:
    mean = percent(interval.mean) if as_percent else two(interval.mean)
    return element(
        "td",
        element("span", mean, class_="pl-value"),
        element("small", interval_in_words(interval, as_percent)),
        None if is_exceeded is None or interval.mean != interval.mean else _mean_mark(is_exceeded),
    )


def _mean_mark(is_exceeded: bool) -> Markup:
    if is_exceeded:
        return element("small", "▲ exceeded", class_="pl-worse")
    return element("small", "○ not exceeded", class_="pl-unclear")


@renderers.add(draws="difference")
def notebook_difference(difference: Difference) -> str:
    """What changed between two versions, and the worst texts under both, for `_repr_html_`."""
    worst = replace(difference, rows=difference.rows[:IN_NOTEBOOK])
    sections = difference_sections(worst)
    return notebook_sections(sections)
