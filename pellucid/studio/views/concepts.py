"""The view of concepts that a model has made itself: their cards, and which of them a text has and what they did."""

from pellucid.base.errors import PellucidError
from pellucid.base.kinds import views
from pellucid.discovery.page import concept_sections, text_in_words, text_sections, trust_in_words
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.text_record import TextConcepts, text_concepts
from pellucid.drawing.html import Markup, element, name
from pellucid.drawing.page import Section
from pellucid.drawing.widgets import button, choice, form, labelled, link, text_area
from pellucid.studio.question_form import question_of
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.visit import Elsewhere, Page, Visit


@views.add(title="Concepts")
def concepts(visit: Visit) -> Page | Elsewhere:
    """The concepts of the open models; with a text, which of them it has, where, and what each did to the answer."""
    if visit.form is not None:
        key = visit.studio.requests.add(checked(question_of(visit)))
        return Elsewhere(visit.address("concepts", key))
    if not visit.path:
        return _cards(visit)
    key, question = visit.question
    learnt = visit.studio.learnt.get(visit.studio.model(question.model).hash)
    links: list[Markup | str] = [
        link("Back to the text", visit.address("text", key)),
        " ",
        link("All concepts", visit.address("concepts")),
    ]
    if learnt is None:
        sentence = f"No learnt concepts of {question.model} are open; open the studio with --learnt FOLDER."
        return Page("Concepts", [element("p", *links), element("p", name(sentence))], question.model)
    try:
        result = _of_text(visit, question, learnt)
    except PellucidError as error:
        caution = element("p", name(f"Its concepts cannot be shown: {error}"), class_="pl-caution")
        return Page("Concepts", [element("p", *links), caution], question.model)
    lead = element("p", name(text_in_words(result)), class_="pl-lead")
    body = [element("p", *links), lead, *_drawn(text_sections(result))]
    return Page("Concepts", body, question.model, of_report=lambda: (result, None))


def _of_text(visit: Visit, question: TextRequest, learnt: LearntConcepts) -> TextConcepts:
    model = visit.studio.model(question.model)
    key = ("concepts", question.segments)
    result: TextConcepts = visit.answer(
        question.model, key, lambda progress: text_concepts(model, question.example, learnt)
    )
    return result


def _cards(visit: Visit) -> Page:
    """The form of a text, and the cards of each open model with concepts."""
    studio = visit.studio
    digests = {title: model.hash for title, model in studio.models.items()}
    shown = {title: studio.learnt[digest] for title, digest in digests.items() if digest in studio.learnt}
    if not shown:
        sentence = "No learnt concepts are open; open the studio with --learnt FOLDER, made by pellucid concepts find."
        return Page("Concepts", [element("p", name(sentence))])
    wanted = visit.query.get("model", "")
    title = wanted if wanted in shown else next(iter(shown))
    others = [link(each, visit.address("concepts", model=each)) for each in shown if each != title]
    body: list[Markup | None] = [_form(visit, list(shown), title)]
    body += [element("p", "Of another model: ", *others)] if others else []
    body.append(element("p", name(trust_in_words(shown[title])), class_="pl-lead"))
    body += _drawn(concept_sections(shown[title]))
    return Page("Concepts", body, title, of_report=lambda: (shown[title], None))


def _drawn(sections: list[Section]) -> list[Markup]:
    """Sections of the page of the same results, below each other."""
    return [
        element("section", element("h2", each.heading), element("p", each.intro, class_="pl-lead"), each.body)
        for each in sections
    ]


def _form(visit: Visit, models: list[str], current: str) -> Markup:
    return form(
        visit.address("concepts"),
        labelled("Model", choice("model", [(each, each) for each in models], current)),
        labelled("Text", text_area("text", "", required=True), "pl-field st-area"),
        button("Show its concepts", class_="st-main"),
        css_class="st-form",
    )
