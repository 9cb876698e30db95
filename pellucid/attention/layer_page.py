"""The page of a transformer's attention: readings, layers whose weights were set, and tests that do not apply."""

import math
from collections.abc import Iterable, Sequence

from pellucid.attention.attended_texts import CHANGED, LEAST, RANDOM, READINGS
from pellucid.attention.record import AttentionAnalysis, AttentionLine, ModelAttention
from pellucid.attention.unit_plots import counts_in_words, idle_in_words
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import Section
from pellucid.drawing.wording import bounds, three

GUIDE = (
    "In each layer, attention gives each piece of a text a weight. This page shows whether what is read off these "
    "weights may stand as the reason of the answer."
)
RESTS = (
    "Two things are asked. Does the answer hang on which words have the weight? Are the heaviest words those that the "
    "answer depends on? There are several ways to read the weights of many layers, so the second is asked of each. The "
    "limits were fixed before any study ran. All other tests are shown and do not "
    "decide."
)
LAYERS = (
    "Other weights are put in the place of the model’s own: in all layers at once, and in one at a time. What a mask "
    "hides stays hidden. Each number says how far the answer’s probabilities move, from 0 to 1, with its 95 % "
    "interval; below it, the share of texts that get another class."
)
BY_READING = (
    "What people show as “the attention” of a text, held against what happens without its words, and against two "
    "methods. The last line is chance: words in a random order. Each number is the mean over the texts; its 95 % "
    "interval stands below it, and then how many texts were judged. Of random draws ± is the standard deviation "
    "between them."
)
LIMITS = (
    "A piece’s state has read the whole text after the first layer, so a weight in a higher layer belongs to the state "
    "at a piece and not surely to the piece. The verdict therefore also asks what happens without the word.",
    "Weights that are set are weights that the model was not made for. How far the answer moves is partly its "
    "surprise; a model trained under equal weights might do as well, and that is not tested here.",
    "A text without a word is a text that the model was not made for, too.",
    "“May be read” is about these texts: the heaviest word is mostly one that matters. It is no promise for a single "
    "text, and none that the weights name every word that matters, nor that people would give the same reason.",
    "Agreement with gradient × input or with leave-one-out is agreement of explanations, which can be wrong together.",
)
NOT_HERE = {
    "an adversary that answers alike with other weights": "It trains new models by the recipe of the one in question, "
    "and moves one weight a word. Of a model from elsewhere the recipe is not known, and each head has a matrix of "
    "weights.",
    "training again with frozen, equal weights": "It needs the training, too. Equal weights are set without it: that "
    "asks whether the trained model needs its own.",
    "the farthest weights with the same answer": "They can be computed where the answer is a sum by one weight a word. "
    "A transformer’s is not; a search through all layers would give a bound alone.",
    "what one word’s state answers alone; the heaviest one erased from the sum": "No single state gives the answer. "
    "Words are hidden from the text instead.",
    "weights that a user gives": "One weight a word does not say what each query of each head shall weigh.",
}  # test of the papers -> why not

COLUMNS = {
    "heaviest_decides": ("",),
    "words_hidden": ("", RANDOM, LEAST),
    "tau_leave_one_out": ("",),
    "tau_gradient_x_input": ("",),
    "tau_gradient": ("",),
}  # test -> its lines of a reading, those of the verdict first
CHANCE = "random order"
KINDS = ("layers_permuted", "layers_uniform", "layers_of_another_text")


def layer_sections(analysis: AttentionAnalysis, settings: Markup) -> list[Section]:
    """The readings, the layers, and what does not apply; the verdict stands before them, the limits after. settings:
    how each test was done.
    """
    readings = fragment(*(_titled(model, analysis, readings_table(model)) for model in analysis.models))
    layers = fragment(*(_titled(model, analysis, layers_view(model)) for model in analysis.models))
    rows = (element("tr", element("th", test, scope="row"), element("td", why)) for test, why in NOT_HERE.items())
    nots = scroll_box(table(header_row(("test", "why not")), rows, "pl-table"), "Tests that do not apply")
    return [
        Section("The readings", BY_READING, fragment(readings, _meanings(analysis.models[0]), settings)),
        Section("Other weights, layer by layer", LAYERS, layers),
        Section("Tests of the papers that do not apply here", "", nots),
    ]


def _titled(model: ModelAttention, analysis: AttentionAnalysis, body: Markup) -> Markup:
    return body if len(analysis.models) == 1 else fragment(element("h3", name(model.name)), body)


def readings_table(model: ModelAttention) -> Markup:
    """A row a reading, and chance; a column a test."""
    lines = {(line.test, line.part): line for line in model.lines}
    shown = [(test, suffix) for test in _titles(model, COLUMNS) for suffix in COLUMNS[_name(test)]]
    head = header_row(("reading", *(f"{readable(test)}{f', {suffix}' if suffix else ''}" for test, suffix in shown)))
    rows = [
        element(
            "tr",
            element("th", reading, scope="row"),
            *(line_cell(lines.get((test, _part(test, reading, suffix)))) for test, suffix in shown),
        )
        for reading in (*READINGS, CHANCE)
    ]
    return scroll_box(table(head, rows, "pl-table pl-tests"), "The readings of the weights")


def _name(title: str) -> str:
    return title.partition("(")[0]


def _titles(model: ModelAttention, names: Iterable[str]) -> list[str]:
    """The tests of these names that ran, with their settings, in the order of the names."""
    titles = dict.fromkeys(line.test for line in model.lines)
    return [title for test in names for title in titles if _name(title) == test]


def _part(test: str, reading: str, suffix: str) -> str:
    if _name(test) == "words_hidden" and reading == CHANCE:
        return "" if suffix else "random words"
    return f"{reading}, {suffix}" if suffix else reading


def line_cell(line: AttentionLine | None) -> Markup:
    """A number with its interval and how many texts were judged; a dash where there is none."""
    return _value_cell(line, "" if line is None else f"n = {counts_in_words(line)}")


def _value_cell(line: AttentionLine | None, note: str) -> Markup:
    if line is None or math.isnan(line.value.mean):
        return element("td", "–")
    value = element("span", three(line.value.mean), class_="pl-value")
    return element("td", value, element("small", bounds(line.value)), element("small", note))


def _meanings(model: ModelAttention) -> Markup:
    """What each test's number says, and what it is of weights that have nothing to do with the answer."""
    tests: dict[str, AttentionLine] = {}
    for line in model.lines:
        tests.setdefault(line.test, line)
    rows = (
        element(
            "tr",
            element("th", name(readable(test)), scope="row"),
            element("td", f"{line.meaning} {idle_in_words(line)}"),
        )
        for test, line in tests.items()
    )
    box = scroll_box(table(header_row(("test", "what it says")), rows, "pl-table"), "What each number says")
    return element("details", element("summary", "What each number says"), box, class_="pl-expert")


def layers_view(model: ModelAttention) -> Markup:
    """All layers and each of them; single heads, where they were set, folded."""
    kinds = _titles(model, KINDS)
    parts = dict.fromkeys(line.part for line in model.lines if line.test in kinds and not line.part.endswith(CHANGED))
    heads = [part for part in parts if ", head " in part]
    layers = _layers_table([part for part in parts if part not in heads], kinds, model)
    if not heads:
        return layers
    of_heads = _layers_table(heads, kinds, model)
    return fragment(layers, element("details", element("summary", "Each head by itself"), of_heads, class_="pl-expert"))


def _layers_table(parts: Sequence[str], kinds: Sequence[str], model: ModelAttention) -> Markup:
    lines = {(line.test, line.part): line for line in model.lines}
    head = header_row(("where", *(readable(kind).removeprefix("layers ") for kind in kinds)))
    rows = [
        element(
            "tr",
            element("th", part, scope="row"),
            *(_moved(lines.get((kind, part)), lines.get((kind, f"{part}, {CHANGED}"))) for kind in kinds),
        )
        for part in parts
    ]
    return scroll_box(table(head, rows, "pl-table pl-tests"), "Other weights, layer by layer")


def _moved(distance: AttentionLine | None, changed: AttentionLine | None) -> Markup:
    if distance is None or changed is None:
        return _value_cell(None, "")
    return _value_cell(distance, f"{changed.value.mean:.0%} change, n = {distance.n:,}")


def layers_in_words(model: ModelAttention) -> list[str]:
    """A line a layer for a terminal: how far the answer moves under each kind of other weights."""
    points = [line for line in model.lines if line.along == "layer" and not line.part.endswith(CHANGED)]
    by_part: dict[str, list[str]] = {}
    for line in points:
        kind = readable(line.test).removeprefix("layers ")
        by_part.setdefault(line.part, []).append(f"{kind} {three(line.value.mean)} ({bounds(line.value)})")
    return [f"{part}: {', '.join(values)}" for part, values in by_part.items()]
