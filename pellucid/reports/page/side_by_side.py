"""Methods side by side: one text, one row a method, all on one scale, grouped by how the methods ask the model."""

import re
from collections.abc import Mapping, Sequence

from pellucid.core.foundation.kinds import attributions
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.side_by_side import SideBySide
from pellucid.core.text.units import Kind
from pellucid.reports.markup.colours import largest, shade
from pellucid.reports.markup.escape import turns
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.agreement import AGREEMENT, agreement_view
from pellucid.reports.page.card import TURNED, answer, heading
from pellucid.reports.page.expert_facts import expert_facts
from pellucid.reports.page.heat_map import colour_bar, drawn, units_in_order, warnings
from pellucid.reports.page.long_text import LONG, shown_text
from pellucid.reports.page.section import Section
from pellucid.reports.page.text_block import Stretch
from pellucid.reports.wording.families import Family, in_families
from pellucid.reports.wording.method_facts import entry_of, facts_of, in_words
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import clear, in_brief, listed, parity_in_words, strongest

ROWS = (
    "One row is one method. Its scores are divided by the largest of its row, so that one scale serves all: the "
    "strongest word of a row has the full colour, and the number beside the row says what that 1 stands for. Look at "
    "where rows put their colour, not at how much of it; methods measure in different units."
)
LEFT_OUT = (
    "These methods are not in the rows above. One that runs only when it is named is added with --method all,NAME, or "
    "in Python with explain_all(model, texts, ['all', 'NAME'])."
)


def side_by_side_sections(found: SideBySide) -> list[Section]:
    """The sections of a page: the rows of each text, the agreement of every two methods, what was left out."""
    rows = Section("The methods side by side", ROWS, rows_view(found))
    agree = Section("Do the methods agree?", AGREEMENT, agreement_view(found)) if len(found) > 1 else None
    absent = Section("Left out", LEFT_OUT, left_out_view(found.left_out)) if found.left_out else None
    return [section for section in (rows, agree, absent) if section is not None]


def rows_view(found: SideBySide) -> Markup:
    """A card a text, then what each method computes, folded away."""
    cards = (_card(of_text) for of_text in found.by_text)
    return fragment(element("div", *cards, class_="pl-cards"), _computed(list(found)))


def _card(of_text: Sequence[Explanation]) -> Markup:
    first = of_text[0]
    groups = in_families(of_text)
    start, families = 1, []
    for family, members in groups.items():
        families.append(_family(family, members, start))
        start += len(members)
    turned = any(turns(text) for text in first.example.segments)
    return element(
        "article",
        heading(first.example),
        answer(first, list(dict.fromkeys(str(one.target) for one in of_text))),
        element("p", *_scale_line(of_text), class_="pl-note pl-scale"),
        *families,
        *warnings([TURNED] if turned else []),
        expert_facts([one for members in groups.values() for one in members]),
        class_="pl-card",
    )


def _scale_line(of_text: Sequence[Explanation]) -> tuple[Markup | str, ...]:
    legend = ("Every row: ", colour_bar(1.0, True), " against the answer, for it. ")
    return (*legend, "Methods without a sign use orange alone. ", parity_in_words(of_text))


def _family(family: Family, members: Sequence[Explanation], start: int) -> Markup:
    return element(
        "section",
        element("h4", family.heading, " ", element("small", family.about)),
        *(_row(one, place) for place, one in enumerate(members, start)),
        class_="pl-family",
    )


def _row(explanation: Explanation, place: int) -> Markup:
    """One method: its name and cost, the text on a scale from -1 to 1, what 1 stands for, its checks."""
    view = drawn(explanation, unit_of(explanation))
    facts, scale = facts_of(explanation.method, [explanation]), largest(view)
    words = listed(strongest(view)) or "nothing, all scores are 0"
    return element(
        "figure",
        element(
            "figcaption",
            element("span", str(place), class_="pl-place"),
            element("span", name(facts.title), element("small", cost_of(explanation)), title=facts.summary),
        ),
        element("div", shown_text(view.example, _stretches(view, scale)), class_="pl-row-text"),
        element(
            "div",
            element("small", f"1 = {number(scale)}" if scale else "all scores are 0"),
            *(element("small", note) for note in in_brief(explanation)),
            _cautions(explanation.caveats),
            class_="pl-row-facts",
        ),
        class_="pl-row",
        role="group",
        aria_label=f"{place}. {facts.title}. Strongest: {words}.",
    )


def unit_of(explanation: Explanation) -> Kind:
    """What rows are drawn by: words, or sentences where a text has many pages."""
    return "word" if sum(map(len, explanation.example.segments)) <= LONG else "sentence"


def cost_of(explanation: Explanation) -> str:
    """What a method evaluates a text, as it registered it, with its n_steps, n_samples and so on as numbers."""
    entry = entry_of(attributions, explanation.method)
    if entry is None:
        return ""
    given = explanation.settings
    return "costs " + re.sub(r"\bn_\w+", lambda word: str(given.get(word[0], word[0])), entry.facts["cost"])


def _stretches(view: Explanation, scale: float) -> list[Stretch]:
    top = {(unit.segment, unit.start) for unit in clear(view)}
    found = []
    for unit in units_in_order(view):
        is_top = (unit.segment, unit.start) in top
        emphasis = ("pl-for" if unit.score > 0 else "pl-against") if is_top else ""
        classes = " ".join(part for part in ("pl-u", shade(unit.score, scale), emphasis) if part)
        share = unit.score / scale if scale else 0.0
        title = f"“{unit.text}” {signed(share)} of 1; raw score {signed(unit.score)}"
        found.append(Stretch(unit.segment, unit.start, unit.end, classes, title, abs(unit.score)))
    return found


def _cautions(caveats: Sequence[str]) -> Markup | None:
    """Caveats behind a mark that is a word; nothing where there are none."""
    if not caveats:
        return None
    mark = "⚠ caution" if len(caveats) == 1 else f"⚠ {len(caveats)} cautions"
    return element(
        "details",
        element("summary", mark),
        *(element("p", name(caveat)) for caveat in caveats),
        class_="pl-cautions",
    )


def _computed(titles: Sequence[str]) -> Markup:
    lines = (part for title in titles for part in _computed_line(title))
    return element(
        "details",
        element("summary", "What each method computes"),
        element("dl", *lines, class_="pl-key"),
        class_="pl-expert",
    )


def _computed_line(title: str) -> tuple[Markup, Markup]:
    facts = facts_of(title)
    described = " ".join(part for part in (facts.summary, facts.paper, in_words(facts)) if part)
    return element("dt", name(facts.title)), element("dd", described)


def left_out_view(left_out: Mapping[str, str]) -> Markup:
    """Each reason with the methods that it keeps out."""
    lines = (
        part
        for why, methods in by_reason(left_out).items()
        for part in (element("dt", name(why)), element("dd", name(", ".join(methods))))
    )
    return element("dl", *lines, class_="pl-facts pl-left-out")


def by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """Reason -> the methods left out for it, by their registered names."""
    return {why: [method for method in left_out if left_out[method] == why] for why in left_out.values()}
