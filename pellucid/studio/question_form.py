"""The form in which a reader asks about a text: the model, one text or two, the methods, what is explained."""

from collections.abc import Iterator
from dataclasses import replace

from pellucid.base.checks import known
from pellucid.base.errors import BadInput
from pellucid.base.kinds import attributions
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import in_families_of, readable
from pellucid.drawing.widgets import as_sent, button, checkbox, choice, form, labelled, link, text_area
from pellucid.explaining.inputs.readings import supported_methods
from pellucid.run.model import WRITING, Model
from pellucid.studio.explained import estimate, usual_methods
from pellucid.studio.record import TextRequest
from pellucid.studio.visit import Visit

MOST_CLASSES = 50  # that a form lists


def question_of(visit: Visit) -> TextRequest:
    """The question of a form that was sent; raises `UnknownName` for a model or method that is not there."""
    name = visit.field("model") or next(iter(visit.studio.models), "")
    model = visit.studio.model(name)
    segments = [visit.field("text"), visit.field("second")]
    texts = tuple(segments if segments[1].strip() else segments[:1])
    methods = visit.fields("method")
    for method in methods:
        known("attribution method", method, list(map(str, supported_methods(model))))
    target = visit.field("target") or "predicted"
    if target not in ("predicted", *model.labels):
        raise BadInput("This model has no such class; choose one of the list.")
    question = TextRequest(name, texts, tuple(methods), target, bool(visit.field("chat")))
    return _with_origin(visit, question)


def _with_origin(visit: Visit, question: TextRequest) -> TextRequest:
    """The question with the way back to the list that the text before it came from; of the same text with its label."""
    try:
        before = visit.question[1]
    except BadInput:  # of no text, or of one that is forgotten
        return question
    question = replace(question, run=before.run, choice=before.choice)
    is_same = question.segments == before.segments
    return replace(question, label=before.label, id=before.id) if is_same else question


def way_back(visit: Visit, question: TextRequest) -> Markup | None:
    """A link to the list of a run that the text came from, as it was chosen; nothing where it came from none."""
    if question.run not in visit.studio.runs:
        return None
    address = visit.address("run", question.run, **dict(question.choice))
    return element("p", link(fragment("← Back to the texts of ", name(question.run)), address))


def question_form(visit: Visit, question: TextRequest | None) -> Markup:
    """The form, with what was asked last; folded where a text is shown."""
    studio = visit.studio
    name = question.model if question else visit.query.get("model", next(iter(studio.models)))
    model = studio.model(name)
    texts = [*(question.segments if question else ()), "", ""]
    fields = form(
        visit.address("text", *visit.path[:1]),
        _model_field(visit, name),
        _text_field("text", _label(model), texts[0], True),
        _second_field(model, texts[1]),
        _chat_field(model, question),
        _target_field(model, question),
        _methods_field(visit, model, name, question),
        button("Explain", class_="st-main"),
        css_class="st-form",
    )
    if question is None:
        return fields
    return element("details", element("summary", "Another text, other methods"), fields, class_="st-ask")


def _model_field(visit: Visit, name: str) -> Markup | None:
    names = list(visit.studio.models)
    if len(names) == 1:
        return element("p", "Model ", element("strong", element("bdi", name)), class_="st-model")
    return labelled("Model", choice("model", [(each, each) for each in names], name))


def _text_field(field: str, title: str, content: str, is_first: bool) -> Markup:
    """A field with the text that was sent last, where a form can bring it back as it is."""
    shown = content if as_sent(content) == content else ""
    rows = 4 if is_first else 1
    area = text_area(field, shown, rows, required=is_first, autofocus=is_first and not content)
    return labelled(title, area, "pl-field st-area")


def _label(model: Model) -> str:
    return "Text, or message to the model" if WRITING in model.capabilities else "Text"


def _second_field(model: Model, content: str) -> Markup:
    """The text that a model has written, or the second text of a pair; folded where it is not needed."""
    if WRITING in model.capabilities:
        return _text_field("second", "What it writes (empty: it writes first)", content, False)
    field = _text_field("second", "Second text", content, False)
    is_needed = bool(content) or bool(getattr(model, "compares_texts", False))
    return element("details", element("summary", "A pair of texts"), field, class_="st-choice", open=is_needed)


def _chat_field(model: Model, question: TextRequest | None) -> Markup | None:
    """Of a model with a template, whether the text is a message."""
    tokenizer = getattr(model, "tokenizer", None)
    if WRITING not in model.capabilities or not getattr(tokenizer, "chat_template", None):
        return None
    return checkbox("chat", "yes", "as a message, by the model's own template", question is None or question.is_chat)


def _target_field(model: Model, question: TextRequest | None) -> Markup | None:
    """Which class is explained; nothing where there is no choice."""
    if WRITING in model.capabilities or not 2 <= len(model.labels) <= MOST_CLASSES:
        return None
    options = [("predicted", "the model's answer"), *((label, label) for label in model.labels)]
    return labelled("Why", choice("target", options, question.target if question else "predicted"))


def _methods_field(visit: Visit, model: Model, name: str, question: TextRequest | None) -> Markup:
    """A box a method, by families, with about how long it takes where that is known."""
    ticked = (question.methods if question else ()) or usual_methods(model)
    words = sum(len(text.split()) for text in question.segments) if question else 0
    families = in_families_of([str(method) for method in supported_methods(model) if _is_usual(str(method), ticked)])
    groups = (
        element("div", element("h4", family.heading), *_boxes(visit, name, methods, ticked, words), class_="st-methods")
        for family, methods in families.items()
    )
    return element("details", element("summary", "Methods"), fragment(*groups), class_="st-choice")


def _is_usual(method: str, ticked: object) -> bool:
    return attributions.get(method).facts["usual"] or method in ticked  # type: ignore[operator]


def _boxes(visit: Visit, model: str, methods: list[str], ticked: object, words: int) -> Iterator[Markup]:
    for method in methods:
        cost = estimate(visit, model, method, words) if words else ""
        note = element("small", f" {cost}") if cost else None
        yield checkbox("method", method, fragment(readable(method), note), method in ticked)  # type: ignore[operator]
