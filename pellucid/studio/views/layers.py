"""The view of layers: which words of a text each layer of its model still uses, by a method that has rows of layers."""

from collections.abc import Iterator
from dataclasses import replace

from pellucid.base.checks import known
from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.kinds import views
from pellucid.base.processes import Progress
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, name
from pellucid.drawing.method_facts import explains_state, readable
from pellucid.drawing.widgets import button, choice, form, labelled, link, text_area
from pellucid.explaining.inputs.readings import supported_methods
from pellucid.layers.door import layer_analysis
from pellucid.layers.page import guide_in_words, layer_sections, trust_in
from pellucid.layers.question import layer_settings, methods_of_all_layers
from pellucid.layers.record import LayerAnalysis
from pellucid.layers.word_tables import cautions
from pellucid.run.model import Model
from pellucid.studio.explained import estimate
from pellucid.studio.question_form import question_of
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.visit import Elsewhere, Page, Visit

NAME = "The text"  # above its map
USUAL = "grad_cam"  # of a class, in one pass
LEAD = "A line a layer, from the lowest to the highest; a column a word: which words does the model still use there?"


@views.add(title="Layers")
def layers(visit: Visit) -> Page | Elsewhere:
    """The layers of a text's model, and how much each uses of each word; with a form, of another text."""
    if visit.form is not None:
        key = visit.studio.requests.add(checked(question_of(visit)))
        return Elsewhere(visit.address("layers", key))
    if not visit.path:
        return Page("Layers", [_empty_form(visit)])
    key, question = visit.question
    methods = layered_methods(visit.studio.model(question.model))
    back = element("p", link("Back to the text", visit.address("text", key)))
    if not methods:
        return Page("Layers", [back, element("p", name(_none(question.model)))], question.model)
    method = visit.query.get("method", USUAL if USUAL in methods else methods[0])
    known("method with layers of this model", method, methods)
    body: list[Markup | None] = [back, _methods(visit, key, question, methods, method)]
    try:
        analysis = _analysed(visit, question, method)
    except PellucidError as error:
        sentence = f"{readable(method).capitalize()} cannot be drawn here: {error}"
        return Page("Layers", [*body, element("p", name(sentence), class_="pl-caution")], question.model, [method])
    body += _map(analysis, method)
    return Page("Layers", body, question.model, [method], of_report=lambda: (analysis, None))


def layered_methods(model: Model) -> list[str]:
    """The methods that explain all layers of this model at once; none where it shows no states of layers."""
    if "hidden_states" not in model.capabilities:
        return []
    works = set(supported_methods(model))
    return [method for method in methods_of_all_layers() if method in works]


def _none(model: str) -> str:
    return f"{model} shows no states of its layers, or has none, so there is nothing to draw here."


def _methods(visit: Visit, key: str, question: TextRequest, methods: list[str], current: str) -> Markup:
    """A list of the methods, each with about how long it takes."""
    words = sum(len(text.split()) for text in question.segments)
    options = [(method, _title(visit, question.model, method, words)) for method in methods]
    return form(
        visit.address("layers", key),
        labelled("By", choice("method", options, current)),
        button("Show"),
        method="get",
        css_class="st-form",
    )


def _title(visit: Visit, model: str, method: str, words: int) -> str:
    seconds = estimate(visit, model, method, words)
    return f"{readable(method)} ({seconds})" if seconds else readable(method)


def _analysed(visit: Visit, question: TextRequest, method: str) -> LayerAnalysis:
    """The analysis of the text's layers; raises `PellucidError` where the method cannot."""
    model = visit.studio.model(question.model)
    key = ("layers", question.segments, question.target, method)
    analysis: LayerAnalysis = visit.answer(
        question.model, key, lambda progress: _analysis(model, question, method, progress)
    )
    return analysis


def _map(analysis: LayerAnalysis, method: str) -> Iterator[Markup | None]:
    """The map, as on the page of a layer analysis."""
    answer = analysis.models[0].seeds[0][0]
    explained = "" if explains_state(answer) else f" Explained: {answer.target}."
    yield element("h2", f"By {readable(method)}")
    yield element("p", f"{LEAD} {guide_in_words(analysis)}", class_="pl-lead")
    yield element("p", f"The answer: {answer.prediction.label}.{explained} {trust_in(analysis)}", class_="pl-note")
    yield from caution_lines(cautions(analysis))
    yield layer_sections(analysis)[0].body


def _analysis(model: Model, question: TextRequest, method: str, progress: Progress) -> LayerAnalysis:
    reads_states, _ = layer_settings(method, "all")
    target = None if reads_states else question.target
    return layer_analysis(model, [replace(question.example, id=NAME)], method, target=target, progress=progress)


def _empty_form(visit: Visit) -> Markup:
    """The form of a text, for models that show their layers."""
    names = [each for each, model in visit.studio.models.items() if layered_methods(model)]
    if not names:
        raise BadInput("No model of this studio shows the states of its layers; open a transformer classifier.")
    area = text_area("text", "", required=True, autofocus=True)
    return form(
        visit.address("layers"),
        element("p", LEAD, class_="pl-lead"),
        labelled("Model", choice("model", [(each, each) for each in names], names[0])),
        labelled("Text", area, "pl-field st-area"),
        button("Show", class_="st-main"),
        css_class="st-form",
    )
