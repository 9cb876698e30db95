"""Methods side by side: one text, one row a method, all on one scale, grouped by how the methods question the model."""

import re
from collections.abc import Mapping, Sequence

from pellucid.base.kinds import attributions
from pellucid.drawing.card import answer_line, expert_facts, order_caution, text_heading
from pellucid.drawing.emphasis import full_colour, plain_caution
from pellucid.drawing.heat_map import (
    caution_lines,
    colour_bar,
    drawable_view,
    is_of_written_words,
    numbers_switch,
    row_table,
    small_print,
    unit_highlights,
)
from pellucid.drawing.html import Markup, definition_list, element, fragment, name
from pellucid.drawing.long_text import LONG, Highlight, shown_text
from pellucid.drawing.method_facts import Family, entry_of, explains_state, facts_of, in_families, in_words
from pellucid.drawing.page import Section, glossary_view
from pellucid.drawing.wording import (
    bytes_in_words,
    diagnostics_in_brief,
    in_brief,
    parity_in_words,
    readable_number,
    reading_cautions,
    signed,
    strongest_in_words,
    target_name,
)
from pellucid.explaining.views.summary import AGREEMENT, agreement_view
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import SideBySide
from pellucid.text.reading import is_about_reading
from pellucid.text.units import Kind

ROWS = (
    "Each row is one method. The scores of a row are divided by the largest score in it, so that all rows use the same "
    "colours, from −1 to 1. The strongest word of a row has the full colour; the number beside the row says which "
    "score that is. Compare where the rows have colour, not how much they have: the methods measure in different "
    "units. Methods without negative scores use orange alone."
)
WRITTEN_ROWS = (
    "Each table is one method. A line is a word that was written, and has a scale of its own. Compare where the lines "
    "of two methods have colour, not how much they have: the methods measure in different units."
)
LEFT_OUT = (
    'These methods have no row above. To add one that is not part of "all methods", use --methods all,NAME, or in '
    "Python "
    "explain_all(model, texts, ['all', 'NAME'])."
)


def side_by_side_sections(methods: SideBySide) -> list[Section]:
    """The sections of a page: the rows of each text, the agreement of every two methods, what was left out."""
    is_written = all(map(is_of_written_words, methods.explanations))
    sections = [Section("The methods side by side", WRITTEN_ROWS if is_written else ROWS, rows_view(methods))]
    if len(methods) > 1:
        sections.append(Section("Do the methods agree?", AGREEMENT, agreement_view(methods)))
    if methods.left_out:
        sections.append(Section("Left out", LEFT_OUT, left_out_view(methods.left_out)))
    return sections


def rows_view(methods: SideBySide) -> Markup:
    """A card a text, then what each method computes, folded away."""
    cards = (_card(of_text) for of_text in methods.by_text)
    return fragment(element("div", *cards, class_="pl-cards"), _computed(list(methods)))


def _card(of_text: Sequence[Explanation]) -> Markup:
    """One text with a row a method."""
    first = of_text[0]
    groups = in_families(of_text)
    row_number, families = 1, []
    for family, members in groups.items():
        families.append(_family(family, members, row_number))
        row_number += len(members)
    return element(
        "article",
        text_heading(first.example),
        answer_line(first, list(dict.fromkeys(target_name(explanation) for explanation in of_text))),
        *caution_lines(reading_cautions(of_text)),
        small_print(bytes_in_words(of_text)),
        element("div", *_scale_line(of_text), class_="pl-note pl-scale"),
        *families,
        *order_caution(first.example),
        expert_facts([member for members in groups.values() for member in members]),
        class_="pl-card",
    )


def _scale_line(of_text: Sequence[Explanation]) -> tuple[Markup | str, ...]:
    if all(map(is_of_written_words, of_text)):
        return (parity_in_words(of_text),)
    explained = name(explained_in_legend(of_text))
    legend = ("Every row: against ", explained, " ", colour_bar(1.0, True), " for ", explained, ". ")
    return (*legend, numbers_switch(), parity_in_words(of_text))


def explained_in_legend(of_text: Sequence[Explanation]) -> str:
    """What orange speaks for: the answer, or the class that is explained instead of it."""
    first = next((shown for shown in of_text if facts_of(shown.method).of_class), of_text[0])
    target = first.target
    is_answer = target.against is None and target.label == first.prediction.label
    return "the answer" if is_answer or explains_state(first) else target_name(first)


def _family(family: Family, members: Sequence[Explanation], first_number: int) -> Markup:
    return element(
        "section",
        element("h4", family.heading, " ", element("small", family.about)),
        *(_row(member, row_number) for row_number, member in enumerate(members, first_number)),
        class_="pl-family",
    )


def _row(explanation: Explanation, row_number: int) -> Markup:
    """One method: its name and cost, the text on a scale from -1 to 1, the score that 1 stands for, its checks."""
    if is_of_written_words(explanation):
        return _written_row(explanation, row_number)
    view = drawable_view(explanation, unit_of(explanation))
    facts, scale = facts_of(explanation.method, [explanation]), full_colour(view)
    title = element("span", name(facts.title), element("small", cost_of(explanation)))
    return element(
        "figure",
        element("figcaption", element("span", str(row_number), class_="pl-row-number"), title),
        element("div", shown_text(view.example, relative_highlights(view, scale)), class_="pl-row-text"),
        element(
            "div",
            element("small", f"1 = {readable_number(scale)}" if scale else "all scores are 0"),
            *(element("small", note) for note in in_brief(explanation)),
            cautions_view([*plain_caution(view), *explanation.caveats]),
            class_="pl-row-facts",
        ),
        class_="pl-row",
        role="group",
        aria_label=f"{row_number}. {facts.title}. Strongest: {strongest_in_words(view)}.",
    )


def _written_row(explanation: Explanation, row_number: int) -> Markup:
    """One method, of a model that writes: a table with a line for each word that was written."""
    facts = facts_of(explanation.method, [explanation])
    title = element("span", name(facts.title), element("small", cost_of(explanation)))
    notes = (element("small", note) for note in diagnostics_in_brief(explanation))
    return element(
        "figure",
        element("figcaption", element("span", str(row_number), class_="pl-row-number"), title),
        element("div", row_table(explanation, facts.title), class_="pl-row-text"),
        element("div", *notes, cautions_view(explanation.caveats), class_="pl-row-facts"),
        class_="pl-row",
        role="group",
        aria_label=f"{row_number}. {facts.title}.",
    )


def unit_of(explanation: Explanation) -> Kind:
    """The unit that rows are drawn in: words, or sentences where a text has many pages."""
    return "word" if sum(map(len, explanation.example.segments)) <= LONG else "sentence"


def cost_of(explanation: Explanation) -> str:
    """What a method computes for one text, as it registered it, with the numbers of its settings filled in."""
    entry = entry_of(attributions, explanation.method)
    if entry is None:
        return ""
    settings = explanation.settings
    cost = re.sub(r"\bn_\w+", lambda word: str(settings.get(word[0], word[0])), entry.facts["cost"])
    return f"costs {cost}"


def relative_highlights(view: Explanation, scale: float) -> list[Highlight]:
    """Every unit in its colour; its tooltip is the score in parts of the scale, and as it is."""
    divisor = scale or 1.0
    return unit_highlights(view, scale, lambda unit: f"{signed(unit.score / divisor)} (raw {signed(unit.score)})")


def cautions_view(caveats: Sequence[str]) -> Markup | None:
    """Caveats behind a mark that is a word; nothing where there are none. What the model cannot read stands above all
    rows.
    """
    caveats = [caveat for caveat in caveats if not is_about_reading(caveat)]
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
    return element(
        "details",
        element("summary", "What each method computes"),
        definition_list(map(_computed_line, titles), "pl-key"),
        glossary_view(facts_of(title).summary for title in titles),
        class_="pl-expert",
    )


def _computed_line(title: str) -> tuple[Markup, str]:
    facts = facts_of(title)
    return name(facts.title), " ".join(part for part in (facts.summary, facts.paper, in_words(facts)) if part)


def left_out_view(left_out: Mapping[str, str]) -> Markup:
    """Each reason, with the methods that are left out for it."""
    entries = ((name(reason), name(", ".join(methods))) for reason, methods in by_reason(left_out).items())
    return fragment(definition_list(entries, "pl-facts pl-left-out"), glossary_view(left_out.values()))


def by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """Reason -> the methods left out for it, by their registered names."""
    return {reason: [method for method in left_out if left_out[method] == reason] for reason in left_out.values()}
