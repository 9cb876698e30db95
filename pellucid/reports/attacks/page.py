"""The page of attacks: what each did over all texts, then every fooled text before and after, with the edits marked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pellucid.core.corpus.attempts import Attempts
from pellucid.core.results.attempt import Attempt
from pellucid.core.text.example import Example
from pellucid.reports.attacks.wording import COLUMNS, key_of, meaning_of, named, outcome, row_of
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.page.card import text_heading
from pellucid.reports.page.page import facts_section, write_report
from pellucid.reports.page.reading_guide import attacks_guide
from pellucid.reports.page.section import Section
from pellucid.reports.page.text_block import Highlight, text_block

IN_FULL = 200


def report(
    attempts: Attempts, *, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the attempts to one HTML file; about: facts that are shown last."""
    sections = attack_sections(attempts)
    if about:
        sections.append(facts_section("What was done", "", about))
    return write_report(path, title=title, sections=sections, guide=attacks_guide())


def attack_sections(attempts: Attempts, in_full: int = IN_FULL) -> list[Section]:
    """The table, and the fooled texts; of each other ending, how many texts there are."""
    fooled = attempts.successes()
    rest = len(fooled) - in_full
    more = f" The first {in_full:,} are shown, {rest:,} are left out." if rest > 0 else ""
    return [
        Section(
            "How often the model was fooled",
            "",
            fragment(_summaries(attempts), element("p", key_of(attempts), class_="pl-note")),
        ),
        Section("The fooled texts", meaning_of(attempts) + more, _texts(fooled[:in_full])),
    ]


def _summaries(attempts: Attempts) -> Markup:
    rows = (
        element("tr", element("th", name, scope="row"), *(element("td", cell) for cell in cells))
        for name, *cells in map(row_of, attempts.table())
    )
    return scroll_box(table(header_row(COLUMNS), rows, "pl-table"), "Attacks")


def _texts(attempts: Sequence[Attempt]) -> Markup:
    if not attempts:
        return element("p", "No text was fooled.")
    return element("div", *map(attempt_card, attempts), class_="pl-cards")


def attempt_card(attempt: Attempt) -> Markup:
    """One text before and after; what was edited is underlined in both."""
    after = replace(attempt.example, segments=attempt.segments, rationales=())
    return element(
        "article",
        text_heading(attempt.example),
        element("p", f"{named(attempt.attack, attempt.goal)}: {outcome(attempt)}", class_="pl-note"),
        element(
            "div",
            _side("before", attempt.example, _before(attempt)),
            _side("after", after, _after(attempt)),
            class_="pl-versions",
        ),
        class_="pl-card",
    )


def _side(label: str, example: Example, highlights: Sequence[Highlight]) -> Markup:
    return element("div", element("small", label, class_="pl-which"), text_block(example, highlights))


def _before(attempt: Attempt) -> list[Highlight]:
    return [
        Highlight(one.segment, one.start, one.end, "pl-edit-before", f"became: {one.after}")
        for one in attempt.edits
    ]


def _after(attempt: Attempt) -> list[Highlight]:
    """Where the edits stand in the edited text."""
    shifts: dict[int, int] = {}
    highlights = []
    for one in sorted(attempt.edits):
        start = one.start + shifts.get(one.segment, 0)
        highlights.append(
            Highlight(one.segment, start, start + len(one.after), "pl-edit-after", f"was: {one.before}")
        )
        shifts[one.segment] = shifts.get(one.segment, 0) + len(one.after) - (one.end - one.start)
    return [one for one in highlights if one.end > one.start]
