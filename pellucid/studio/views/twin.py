"""A text beside its edited twin: what changed in the answer, and in the scores of the words."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from pellucid.base.checks import shortened
from pellucid.base.errors import BadInput
from pellucid.base.kinds import views
from pellucid.drawing.card import order_caution
from pellucid.drawing.emphasis import full_colour, plain_caution
from pellucid.drawing.heat_map import caution_lines, colour_bar, drawable_view, numbers_switch
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.long_text import Highlight, shown_text
from pellucid.drawing.method_facts import facts_of, in_families
from pellucid.drawing.widgets import link
from pellucid.drawing.wording import (
    in_brief,
    readable_number,
    reading_cautions,
    signed,
    strongest_in_words,
    target_name,
)
from pellucid.explaining.views.side_by_side import (
    cautions_view,
    left_out_view,
    relative_highlights,
    rows_view,
    unit_of,
)
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.side_by_side import SideBySide
from pellucid.run.model import WRITING, answers_for_places
from pellucid.studio.beside import (
    LONGEST,
    Range,
    aligned,
    both_answers,
    changed_words,
    changes_in_words,
    explained_both,
    in_a_line,
)
from pellucid.studio.edits import edits_before
from pellucid.studio.explained import explained, refusals
from pellucid.studio.record import TextRequest
from pellucid.studio.visit import Page, Visit
from pellucid.versions.comparable import is_same_target
from pellucid.versions.comparable import unit_of as compared_unit

SIDES = ("before", "after")
MOST_ROWS, NAMED = 8, 3  # words whose scores changed most: in a table, and in its title
SEVERAL_ANSWERS = ("gold", "all", "all predicted")  # targets that a class can be called, too
SCALE = "Boxes mark the words that changed. Against the answer "
NO_SCALE = (
    "This model answers with words or places of the text, and each has scores of its own: both texts are drawn, and "
    "their scores are not compared."
)


@views.add(title="")
def twin(visit: Visit) -> Page:
    """A text and its edit, by the same model and methods."""
    keys, questions = _questions(visit)
    first, second = (question.segments for question in questions)
    changes = element("p", changes_in_words(first, second), class_="pl-lead")
    before, after = explained_both(visit, questions)
    body: list[Markup | None] = [changes, _links(visit, keys)]
    model = visit.studio.model(questions[0].model)
    if WRITING in model.capabilities or answers_for_places(model):
        body += [element("p", NO_SCALE), *_each(before, after)]
    else:
        after = _of_same_class(visit, questions[1], before, after)
        body += _compared(before, after)
    left_out = {**refusals(questions[0], before), **refusals(questions[0], after)}
    if left_out:
        body.append(element("section", element("h2", "Left out"), left_out_view(left_out)))
    both = [each for side in (before, after) for results in side.values() for each in results]
    body.append(_edits(visit, keys[1]))
    return Page("A text and its edit", body, questions[0].model, list(before), of_report=lambda: (both, None))


def _questions(visit: Visit) -> tuple[tuple[str, str], tuple[TextRequest, TextRequest]]:
    """Both keys and questions, the second to the model, methods and class of the first."""
    if len(visit.path) != 2:
        raise BadInput("The address names no two texts; begin at the first page.")
    first, second = (visit.studio.requests[key] for key in visit.path)
    if (first.model, first.is_chat, len(first.segments)) != (second.model, second.is_chat, len(second.segments)):
        raise BadInput("These texts are not of one model and kind, so they are no edit of each other.")
    return (visit.path[0], visit.path[1]), (first, replace(second, methods=first.methods, target=first.target))


def _of_same_class(visit: Visit, question: TextRequest, before: SideBySide, after: SideBySide) -> SideBySide:
    """The explanations of the edited text, of the class that the first one explains: only such scores compare."""
    label, now = (next(iter(each.values()))[0] for each in (before, after))
    target = label.target.label
    is_moved = question.target == "predicted" and target != now.target.label
    if not is_moved or target not in now.prediction.labels or target in SEVERAL_ANSWERS:
        return after
    return explained(visit, replace(question, target=target))


def _links(visit: Visit, keys: tuple[str, str]) -> Markup:
    """What can be done next."""
    links = (
        link("The text before", visit.address("text", keys[0])),
        link("The edited text", visit.address("text", keys[1])),
        link("Edit further", visit.address("edit", keys[1])),
        link("Another edit of the first text", visit.address("edit", keys[0])),
    )
    return in_a_line(links)


def _each(before: SideBySide, after: SideBySide) -> Iterator[Markup]:
    for title, side_by_side in (("Before", before), ("After", after)):
        yield element("section", element("h2", title), rows_view(side_by_side))


# Answers and scores that can be compared.


def _compared(before: SideBySide, after: SideBySide) -> Iterator[Markup]:
    """The answers in bars, then a row a method with both texts."""
    first, second = next(iter(before.values()))[0], next(iter(after.values()))[0]
    yield element("section", element("h2", "The answer"), both_answers(first.prediction, second.prediction))
    places = changed_words(first.example.segments, second.example.segments)
    boxes = [sorted(filter(None, (pair[side] for pair in places))) for side in (0, 1)]
    pairs = {title: (before[title][0], after[title][0]) for title in before if title in after}
    families = in_families([pair[0] for pair in pairs.values()])
    sections = (
        element(
            "section",
            element("h4", family.heading, " ", element("small", family.about)),
            *(_row(*pairs[member.method], boxes) for member in members),
            class_="pl-family",
        )
        for family, members in families.items()
    )
    legend = element(
        "div", SCALE, colour_bar(1.0, True), " for the answer. ", numbers_switch(), class_="pl-note pl-scale"
    )
    explained_class = element("p", f"Explained: {target_name(first)}, for both texts.", class_="pl-note")
    cautions = caution_lines(reading_cautions([first, second]))
    orders = (caution for each in (first, second) for caution in order_caution(each.example))
    heading = element("h3", "Both texts on one scale", class_="pl-id")
    card = element("article", heading, explained_class, *cautions, *orders, legend, *sections, class_="pl-card")
    yield element("section", element("h2", "The scores of the words"), card)


def _row(before: Explanation, after: Explanation, boxes: Sequence[Sequence[Range]]) -> Markup:
    """One method: both texts on one scale, and the words whose scores changed most."""
    views_of_both = [drawable_view(explanation, unit_of(explanation)) for explanation in (before, after)]
    scale = max(map(full_colour, views_of_both))
    title = facts_of(before.method, [before, after]).title
    texts = (
        _labelled(label, shown_text(view.example, list(_boxed(view, scale, ranges))))
        for label, view, ranges in zip(SIDES, views_of_both, boxes, strict=True)
    )
    notes = [in_brief(explanation) for explanation in (before, after)]
    if notes[0] != notes[1]:
        notes = [[f"{label}: {note}" for note in some] for label, some in zip(SIDES, notes, strict=True)]
    caveats = dict.fromkeys(
        caveat
        for explanation, view in zip((before, after), views_of_both, strict=True)
        for caveat in (*plain_caution(view), *explanation.caveats)
    )
    spoken = "; ".join(strongest_in_words(view) for view in views_of_both)
    return element(
        "figure",
        element("figcaption", element("span", name(title))),
        element("div", *texts, _most_changed(before, after), class_="pl-row-text"),
        element(
            "div",
            element("small", f"1 = {readable_number(scale)}" if scale else "all scores are 0"),
            *(element("small", note) for note in dict.fromkeys(chain(*notes))),
            cautions_view(list(caveats)),
            class_="pl-row-facts",
        ),
        class_="pl-row",
        role="group",
        aria_label=f"{title}. Strongest before and after: {spoken}.",
    )


def _labelled(label: str, block: Markup) -> Markup:
    return element("div", element("small", label, class_="pl-which"), block, class_="pl-segment")


def _boxed(view: Explanation, scale: float, ranges: Sequence[Range]) -> Iterator[Highlight]:
    """The words in colour; those that changed have a box."""
    ends = [(segment, end) for segment, _, end in ranges]
    for highlight in relative_highlights(view, scale):
        after = bisect_right(ends, (highlight.segment, highlight.start))  # the first that ends behind its beginning
        is_changed = after < len(ranges) and ranges[after][:2] < (highlight.segment, highlight.end)
        css_classes = f"{highlight.css_classes} st-changed" if is_changed else highlight.css_classes
        yield replace(highlight, css_classes=css_classes)


def _most_changed(before: Explanation, after: Explanation) -> Markup:
    """The words whose scores changed most, with both scores; a sentence where they cannot be compared."""
    if not is_same_target(before, after):
        sentence = f"Before, {target_name(before)} is explained, and after, {target_name(after)}: no change of scores."
        return element("p", name(sentence), class_="pl-note")
    rows = sorted(score_changes(before, after), key=lambda row: -abs(_change(row)))
    shown = [row for row in rows if _change(row)][:MOST_ROWS]
    if not shown:
        return element("p", "No score changed.", class_="pl-note")
    first = [part for row in shown[:NAMED] for part in (", ", _named(row), f" {signed(_change(row))}")][1:]
    rows_of_table = table(
        header_row(("word", "before", "after", "change")), map(_score_row, shown), "pl-table pl-small"
    )
    return element(
        "details",
        element("summary", "Changed most: ", *first),
        scroll_box(rows_of_table, "Words whose scores changed most"),
    )


ScorePair = tuple[Scored | None, Scored | None]


def score_changes(before: Explanation, after: Explanation) -> list[ScorePair]:
    """Each word of either text with both scores, in reading order; None where one text does not have it."""
    first, second = (_scored_words(explanation) for explanation in (before, after))
    words = ([(word.segment, word.text) for word in of_text] for of_text in (first, second))
    return [
        (None if left is None else first[left], None if right is None else second[right])
        for left, right in aligned(*words)
    ]


def _scored_words(explanation: Explanation) -> list[Scored]:
    row = explanation.shown_row()
    view = row if compared_unit(row) != "word" else row.view("word")
    return [view.scored(unit) for unit in view.units.content]


def _change(row: ScorePair) -> float:
    """By how much a score changed; a word that is not there has none, which counts as 0."""
    old, new = row
    return (new.score if new else 0.0) - (old.score if old else 0.0)


def _score_row(row: ScorePair) -> Markup:
    old, new = row
    heading = element("th", _named(row), scope="row")
    scores = (element("td", "–" if word is None else signed(word.score)) for word in (old, new))
    return element("tr", heading, *scores, element("td", signed(_change(row))))


def _named(row: ScorePair) -> Markup:
    """The word, or what it was and what it is."""
    texts = dict.fromkeys(word.text for word in row if word)
    return fragment(*[part for text in texts for part in (" → ", name(f"“{shortened(text, LONGEST)}”"))][1:])


# The edits that led here.


def _edits(visit: Visit, key: str) -> Markup | None:
    """Every edit since the text was typed, each beside the first text; nothing where there is one alone."""
    keys = edits_before(visit, key)
    if len(keys) < 3:
        return None
    texts = [visit.studio.requests[each].segments for each in keys]
    items = (
        element(
            "li",
            changes_in_words(texts[index - 1], texts[index]),
            " ",
            link("beside the first text", visit.address("twin", keys[0], keys[index])),
        )
        for index in range(1, len(keys))
    )
    return element("section", element("h2", "Edits so far"), element("ol", *items, class_="st-attacks"))
