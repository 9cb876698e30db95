"""Two models on one text: both answers, and whether they rest on the same words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pellucid.base.errors import PellucidError
from pellucid.base.kinds import views
from pellucid.drawing.card import order_caution, picture, text_heading
from pellucid.drawing.heat_map import caution_lines, colour_bar
from pellucid.drawing.html import Markup, definition_list, element, name
from pellucid.drawing.method_facts import facts_of, in_families
from pellucid.drawing.widgets import as_sent, button, choice, form, labelled, link, text_area
from pellucid.drawing.wording import reading_cautions, target_name
from pellucid.explaining.inputs.readings import supported_methods
from pellucid.explaining.views.side_by_side import explained_in_legend, left_out_view, rows_view, unit_of
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import SideBySide
from pellucid.run.model import WRITING, answers_for_places
from pellucid.studio.beside import at_once, both_answers, explained_both, moved_in_words
from pellucid.studio.clickable_words import (
    MOST_LINKS,
    answers_without,
    clickable_text,
    clickable_words,
    hidden_numbers,
    same_words,
    words_by_name,
)
from pellucid.studio.explained import refusals, usual_methods
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.versions.command import two
from pellucid.versions.comparable import common_words, is_same_target
from pellucid.versions.door import text_difference

TOP = 3  # words with the highest scores that are compared
SCALES = (
    "Each model has a scale of its own, since two models need not give scores of one size: compare where the colours "
    "are, and not how strong they are."
)
CLICK = "A click hides a word from both models, or shows it again: which of them relies on it?"
NOT_COMPARED = "A model that answers with words or places of the text has scores for each: they are not compared."


@views.add(title="Two models")
def models(visit: Visit) -> Page | Elsewhere:
    """Two models on one text, side by side; with a form, other models or another text."""
    if len(visit.studio.models) < 2:
        return Page("Two models", [element("p", "One model is open; start the studio with two to compare them.")])
    if visit.form is not None:
        return _sent(visit)
    if not visit.path:
        return Page("Two models", [_form(visit, None, "")])
    _, question = visit.question
    beside = _second(visit, question)
    body: list[Markup | None] = [_form(visit, question, beside)]
    explanations: list[Explanation] = []
    try:
        pair = _pair(visit, question, beside)
        sides = tuple(explained_both(visit, pair))
        explanations = [each for side in sides for results in side.values() for each in results]
        body += _both(visit, question, pair, sides)
    except PellucidError as error:  # of a model that cannot read what the other one reads
        body.append(element("p", name(str(error)), class_="pl-caution"))
    of_report = (lambda: (explanations, None)) if explanations else None
    return Page("Two models", body, question.model, beside=[beside], of_report=of_report)


def _second(visit: Visit, question: TextRequest) -> str:
    """The name of the model beside the question's: the one that the address names, or the first other one."""
    others = [each for each in visit.studio.models if each != question.model]
    name_of_second = visit.query.get("other", others[0])
    visit.studio.model(name_of_second)
    return name_of_second


def _sent(visit: Visit) -> Elsewhere:
    """The page of the models and the text that a form named."""
    model, beside = visit.field("model"), visit.field("other")
    visit.studio.model(model), visit.studio.model(beside)
    first, second = visit.field("text"), visit.field("second")
    segments: tuple[str, ...] = (first, second) if second.strip() else (first,)
    question = TextRequest(model, segments)
    if visit.path:  # what a form cannot bring back as it is, and what is in no field, stays
        before = visit.question[1]
        segments = before.segments if segments == tuple(map(as_sent, before.segments)) else segments
        label, row_id = (before.label, before.id) if segments == before.segments else (None, "")
        question = replace(before, model=model, segments=segments, before="", label=label, id=row_id)
    return Elsewhere(visit.address("models", visit.studio.requests.add(checked(question)), other=beside))


def _form(visit: Visit, question: TextRequest | None, beside: str) -> Markup:
    """Which models, and which text; folded where a text is shown."""
    names = list(visit.studio.models)
    options = [(each, each) for each in names]
    segments = [*(question.segments if question else ()), "", ""]
    fields = form(
        visit.address("models", *visit.path),
        labelled("First model", choice("model", options, question.model if question else names[0])),
        labelled("Second model", choice("other", options, beside or names[1])),
        labelled("Text", text_area("text", segments[0], rows=3), "pl-field st-area"),
        labelled(
            "Second text, of a pair (may be empty)",
            text_area("second", segments[1], rows=1),
            "pl-field st-area",
        ),
        button("Compare", class_="st-main"),
        css_class="st-form",
    )
    if question is None:
        return fields
    return element("details", element("summary", "Another text, other models"), fields, class_="st-ask")


# The page of one text.


def _pair(visit: Visit, question: TextRequest, beside: str) -> tuple[TextRequest, TextRequest]:
    """The question to each model, by the methods that it supports."""
    target = visit.query.get("target", question.target)
    methods = question.methods or tuple(usual_methods(visit.studio.model(question.model)))
    return (
        replace(question, methods=methods, target=target),
        replace(question, model=beside, methods=_possible(visit, beside, methods), target=target),
    )


def _both(
    visit: Visit, question: TextRequest, pair: tuple[TextRequest, TextRequest], sides: Sequence[SideBySide]
) -> Iterator[Markup | None]:
    """Both answers, then the rows of each method beside each other."""
    (first, second), beside = sides, pair[1].model
    answers = [next(iter(each.values()))[0] for each in (first, second)]
    titles = (question.model, beside)
    if _has_places(visit, pair):
        yield element("p", NOT_COMPARED)
        for title, side in zip(titles, (first, second), strict=True):
            yield element("section", element("h2", name(title)), rows_view(side))
        return
    yield _answers(visit, pair, (first, second))
    yield _same_class(visit, question, beside, answers)
    yield _rows(first, second, titles)
    yield from _left_out(pair, (first, second))


def _answers(visit: Visit, pair: Sequence[TextRequest], sides: Sequence[SideBySide]) -> Markup:
    """Both answers beside each other, and the text: a click hides a word from both models."""
    of_text = [[results[0] for results in side.values()] for side in sides]
    firsts, places = [shown[0] for shown in of_text], [clickable_words(shown) for shown in of_text]
    hidden = hidden_numbers(visit, places[0])
    words = (hidden, same_words(hidden, *places))
    calls = [partial(answers_without, visit, *each) for each in zip(pair, firsts, words, strict=True)]
    values = at_once(calls) if hidden else []
    labels = [shown.prediction.labels for shown in firsts]
    edited = [dict(zip(names, without, strict=False)) for names, (_, without) in zip(labels, values, strict=False)]
    titles = (pair[0].model, pair[1].model)
    return element(
        "section",
        element("h2", "The answers"),
        *clickable_text(firsts[0], places[0], hidden, lambda numbers: _address(visit, hidden=numbers)),
        element("p", CLICK, class_="pl-note") if 0 < len(places[0]) <= MOST_LINKS else None,
        _without(visit, titles, firsts, values, words_by_name(firsts[0], places[0], hidden)) if hidden else None,
        both_answers(firsts[0].prediction, firsts[1].prediction, titles, edited or ({}, {})),
        *(_links(visit, question) for question in pair),
        id="answers",
    )


def _without(
    visit: Visit,
    titles: Sequence[str],
    explanations: Sequence[Explanation],
    values: Sequence[np.ndarray],
    words: Markup,
) -> Markup:
    """What became of both answers without the hidden words."""
    moved = (
        (name(title), moved_in_words(shown.prediction, *of_side))
        for title, shown, of_side in zip(titles, explanations, values, strict=True)
    )
    undo = link("Show all words again", _address(visit, hidden=None))
    return element(
        "div", element("p", "Without ", words, ". ", undo), definition_list(moved, "pl-facts"), class_="st-hand"
    )


def _links(visit: Visit, question: TextRequest) -> Markup:
    """Where one of the models is asked about the text alone."""
    key = visit.studio.requests.add(question)
    alone = link("explain the text", visit.address("text", key)), link("edit the text", visit.address("edit", key))
    return element("p", name(question.model), " alone: ", alone[0], " · ", alone[1], class_="pl-note")


def _address(visit: Visit, **query: object) -> str:
    """This address, with a part of its query changed."""
    shown = {name: visit.query.get(name) for name in ("other", "target", "hidden")}
    return f"{visit.address('models', *visit.path[:1], **shown | query)}#answers"


def _possible(visit: Visit, beside: str, methods: Sequence[str]) -> tuple[str, ...]:
    """The methods that the second model supports; its usual ones where that is none."""
    model = visit.studio.model(beside)
    works = supported_methods(model)
    return tuple(method for method in methods if method in works) or tuple(usual_methods(model))


def _has_places(visit: Visit, questions: Sequence[TextRequest]) -> bool:
    models_of_both = [visit.studio.model(question.model) for question in questions]
    return any(WRITING in model.capabilities or answers_for_places(model) for model in models_of_both)


def _same_class(visit: Visit, question: TextRequest, beside: str, answers: Sequence[Explanation]) -> Markup | None:
    """Where the models explain different classes, links that explain both for one of them."""
    if is_same_target(*answers):
        return element("p", f"Explained: {target_name(answers[0])}, of both.", class_="pl-note")
    common = [label for label in answers[0].prediction.labels if label in answers[1].prediction.labels]
    wanted = [each.target.label for each in answers if each.target.label in common]
    links = [
        link(name(f"explain both for {label}"), _address(visit, other=beside, target=label))
        for label in dict.fromkeys(wanted)
    ]
    sentence = "The models explain different classes, so their scores are not compared. "
    return element("p", sentence, *(part for each in links for part in (each, " ")), class_="pl-caution")


def _rows(first: SideBySide, second: SideBySide, titles: tuple[str, str]) -> Markup:
    """A method after the other, both models beside each other; methods of one model alone come last in a family."""
    every = [*(first[title][0] for title in first), *(second[title][0] for title in second if title not in first)]
    sections = (
        element(
            "section",
            element("h4", family.heading, " ", element("small", family.about)),
            *(_method(member.method, first, second, titles) for member in members),
            class_="pl-family",
        )
        for family, members in in_families(every).items()
    )
    example = every[0].example
    cautions = [
        f"{title}: {caution}"
        for title, side in zip(titles, (first, second), strict=True)
        for caution in reading_cautions([side[method][0] for method in side])
    ]
    head = (text_heading(example), *order_caution(example), *caution_lines(cautions))
    answers = {explained_in_legend([next(iter(side.values()))[0]]) for side in (first, second)}
    explained_class = name(answers.pop() if len(answers) == 1 else "what its model explains")
    legend = ("Every text: against ", explained_class, " ", colour_bar(1.0, True), " for ", explained_class, ".")
    scales = element("p", SCALES, class_="pl-note"), element("div", *legend, class_="pl-note pl-scale")
    card = element("article", *head, *scales, *sections, class_="pl-card")
    return element("section", element("h2", "Do they answer by the same words?"), card)


def _method(method: str, first: SideBySide, second: SideBySide, titles: tuple[str, str]) -> Markup:
    """One method: whether the words are the same, then both pictures."""
    sides = [side[method][0] if method in side else None for side in (first, second)]
    both = [side for side in sides if side is not None]
    sentence = element("p", *agreement_in_words(*both), class_="st-verdict") if len(both) == 2 else None
    pictures = (_side(side, title) for side, title in zip(sides, titles, strict=True))
    heading = None if sentence else element("p", element("strong", name(facts_of(method, both).title)))
    return element("div", heading, sentence, element("div", *pictures, class_="pl-versions"), class_="st-method-pair")


def _side(explanation: Explanation | None, title: str) -> Markup:
    if explanation is None:
        return element("div", element("p", name(title), " has no explanation by this method.", class_="pl-note"))
    hide = frozenset(reading_cautions([explanation]))  # they stand above all methods
    shown = picture(explanation, None, unit_of(explanation), hide, checks=False)
    return element("div", element("p", name(title), class_="pl-note"), shown)


def _left_out(pair: Sequence[TextRequest], sides: Sequence[SideBySide]) -> Iterator[Markup]:
    """What each model cannot do of what the reader chose, and why."""
    for question, side in zip(pair, sides, strict=True):
        if reasons := refusals(question, side):
            yield element("section", element("h2", "Left out of ", name(question.model)), left_out_view(reasons))


def agreement_in_words(first: Explanation, second: Explanation) -> list[Markup | str]:
    """Whether both rest on the same words, with what unrelated orders would give."""
    compared, words = text_difference(first, second, TOP), len(common_words(first, second).words)
    title = name(facts_of(first.method).title)
    if not is_same_target(first, second):
        return [title, ": different classes are explained, so the words are not compared."]
    if math.isnan(compared.tau):
        return [title, ": one of the models gives all words the same score, so no order is compared."]
    luck = tau_by_luck(words)
    verdict = "no more alike than by luck" if abs(compared.tau) < luck else "alike" if compared.tau > 0 else "reversed"
    sentence = (
        f". The orders of the {words:,} words agree by {two(compared.tau)} (Kendall’s tau, 1 is the same order); two "
        f"unrelated orders reach ±{two(luck)} or more in one case of twenty."
    )
    if math.isnan(compared.overlap):
        return [title, ": ", element("strong", verdict), sentence]
    shared = f" Of the {TOP} highest words they share {TOP * compared.overlap:.2g}; by luck, {TOP * TOP / words:.2g}."
    return [title, ": ", element("strong", verdict), sentence, shared]


def tau_by_luck(words: int) -> float:
    """What Kendall's tau of two unrelated orders passes in one case of twenty, of either sign.

    Kendall (1938), "A New Measure of Rank Correlation": its variance is 2 (2 n + 5) / (9 n (n - 1)).
    """
    return min(1.0, 1.96 * math.sqrt(2 * (2 * words + 5) / (9 * words * (words - 1))))
