"""What the page of explanations opens with: facts, whether the method can be believed, and three texts in colour."""

from collections.abc import Collection, Iterator, Sequence

from pellucid.base.checks import listed, shortened
from pellucid.drawing.card import is_wrong, text_highlights
from pellucid.drawing.emphasis import Scales, clear
from pellucid.drawing.heat_map import drawable_view
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.long_text import Highlight, around, excerpt_block
from pellucid.drawing.method_facts import explains_state, explains_written, facts_of, readable
from pellucid.drawing.page import Opening, written_on
from pellucid.drawing.wording import answer_name, percent, sureness
from pellucid.results.explanation import Explanation, Prediction
from pellucid.results.table import CHANCE, Table
from pellucid.text.example import Example, data_of
from pellucid.text.passages import place_of
from pellucid.text.units import Spans

EXCERPT = 280  # characters of each text, about seven lines beside two others
MOST_SOURCES = 3
Pick = tuple[str, Explanation, str]  # what the text is an example of, its explanation, where the page shows it


def opening(explanations: Sequence[Explanation], table: Table | None = None, texts: Markup | None = None) -> Opening:
    """The facts of a page of explanations; table: the comparison that says whether the methods can be believed."""
    are_examples = table is not None and len(_different(explanations)) < most_texts(table)
    is_of_model = table is not None and _is_of_model(table, explanations)
    facts = tuple(_facts_of_table(table) if table and are_examples and is_of_model else _facts(explanations))
    is_measured = table is not None or all(facts_of(shown.method).floor for shown in explanations)
    command = "" if is_measured else f"pellucid compare {explanations[0].model} DATA"
    return Opening(facts, trust_in_words(explanations, table), texts, command=command)


def _is_of_model(table: Table, explanations: Sequence[Explanation]) -> bool:
    """Whether a comparison is of the explained model; a table that names no weights counts as such."""
    compared = table.about.get("model_hash")
    return compared is None or compared in {explanation.model_hash for explanation in explanations}


def _facts(explanations: Sequence[Explanation]) -> Iterator[str]:
    """The model, the texts with where they come from, the method, the day."""
    yield f"Model {listed(list(dict.fromkeys(explanation.model for explanation in explanations)))}"
    different = _different(explanations)
    ids = [explanation.example.id for explanation in different]
    texts = {explanation.example.segments for explanation in different}
    of_places = any(place_of(shown.example) for shown in different)
    about = f"{len(ids):,} answer{'' if len(ids) == 1 else 's'} about " if of_places else ""
    yield about + texts_in_words(len(texts) if about else len(ids), data_of(ids))
    yield f"Explained by {methods_in_words(explanations)}"
    yield written_on()


def _different(explanations: Sequence[Explanation]) -> list[Explanation]:
    """One explanation a text."""
    texts = {(shown.example.id, shown.example.segments): shown for shown in reversed(explanations)}
    return list(texts.values())[::-1]


def texts_in_words(n_texts: int, data: str) -> str:
    """How many texts, and of which data: "200 texts of reviews"."""
    return f"{n_texts:,} text{'' if n_texts == 1 else 's'}{f' of {data}' if data else ''}"


def methods_in_words(explanations: Sequence[Explanation]) -> str:
    """The methods by name, of many only how many."""
    methods = list(dict.fromkeys(readable(explanation.method) for explanation in explanations))
    return listed(methods) if len(methods) <= MOST_SOURCES else f"{len(methods)} methods"


def trust_in_words(explanations: Sequence[Explanation], table: Table | None) -> str:
    """What a comparison says of these methods for this model; without one, that a command makes it."""
    methods = list(dict.fromkeys(explanation.method for explanation in explanations))
    if all(facts_of(method).floor for method in methods):
        return "These scores are random: they show what a method that knows nothing looks like."
    if table is not None and not _is_of_model(table, explanations):
        return f"The comparison below is of another model, {table.about.get('model')}: it says nothing of this one."
    if table is not None:
        return advice_in_words(table, methods)
    which, was = methods_in_words(explanations), "was" if len(methods) == 1 else "were"
    return (
        f"Not measured yet: whether the colours can be believed. For this model {which} {was} not compared with random "
        f"scores; this does it:"
    )


def table_opening(table: Table) -> Opening:
    """The facts of a page that shows a comparison and no text."""
    return Opening(tuple(_facts_of_table(table)), advice_in_words(table))


def _facts_of_table(table: Table) -> Iterator[str]:
    """The model, the texts, how many methods were compared, the day."""
    if "model" in table.about:
        yield f"Model {table.about['model']}"
    yield texts_in_words(most_texts(table), str(table.about.get("data", "")))
    n_methods = sum(method.partition("(")[0] != CHANCE for method in table.methods)
    yield f"{n_methods} method{'' if n_methods == 1 else 's'} compared with random scores"
    yield written_on()


def most_texts(table: Table) -> int:
    """How many texts were compared; a metric may judge fewer."""
    examples = table.about.get("examples")
    return examples if isinstance(examples, int) else max((cell.n for cell in table.cells), default=0)


def advice_in_words(table: Table, methods: Sequence[str] = ()) -> str:
    """The first advice of a comparison; of one method, how it did beside random scores under its first metric."""
    if len(methods) == 1 and (sentence := _beside_chance(table, methods[0])):
        return sentence
    advice = table.card.points("use") if table.card is not None else ()
    if not advice:
        return f"A comparison of {most_texts(table):,} texts is below; it gives no advice."
    sentence = advice[0].sentence
    return f"Measured for this model on {most_texts(table):,} texts. Use {sentence}" if advice[0].methods else sentence


def _beside_chance(table: Table, method: str) -> str:
    """Whether a method beat random scores, metric by metric; empty where the table does not judge it."""
    if not any(cell.method == method and cell.over_chance is not None for cell in table.cells):
        return ""
    kinds = {point.kind for point in table.card.advice if method in point.methods} if table.card else set()
    better = ""
    if table.card is not None and "second" in kinds:
        better = f" {readable(table.card.recommended[0]).capitalize()} does better."
    return f"{_verdict(readable(method), kinds)}: {leads_in_words(table, method)}.{better}"


def leads_in_words(table: Table, method: str) -> str:
    """On how many measures a method beat random scores, with the numbers of one of them."""
    cells = [cell for cell in table.cells if cell.method == method and cell.over_chance is not None]
    ahead = [cell for cell in cells if cell.verdict == "better than chance"]
    first = (ahead or cells)[0]
    chance = next(cell for cell in table.cells if cell.metric == first.metric and cell.over_chance is None)
    numbers = f"{first.value.mean:.2f} against {chance.value.mean:.2f} for random words, {first.n:,} texts"
    measures = f"better than random scores on {len(ahead)} of {len(cells)} measures"
    return f"{measures} ({readable(first.metric)}: {numbers})"


def _verdict(name_: str, kinds: Collection[str]) -> str:
    """What a trust card says of a method; kinds: those of its advice about it."""
    if {"use", "second"} & set(kinds):
        return f"{name_.capitalize()} can be believed here"
    if "avoid" in kinds:
        return f"{name_.capitalize()} should not be believed here"
    return f"It is not clear whether {name_} can be believed here"


# Three texts in colour: the clearest right answer, the surest mistake, the least certain answer.


def examples_view(picks: Sequence[Pick], scales: Scales) -> Markup | None:
    """The texts beside each other, each with its answer, its colours, and a link to where the page shows it whole."""
    if not picks:
        return None
    return element("div", *(_example(*pick, scales) for pick in picks), class_="pl-examples")


def picks_of(texts: Sequence[tuple[Explanation, str]]) -> list[Pick]:
    """Up to three texts; texts: explanation and anchor, one a text. None of states and of written words."""
    known = [pair for pair in texts if not (explains_state(pair[0]) or explains_written(pair[0]))]
    if any(explanation.predicted_value is not None for explanation, _ in known):
        return _by_value(known)
    sure = sorted(known, key=lambda pair: -sureness(pair[0]))
    right = [pair for pair in sure if pair[0].is_correct]
    wrong = [pair for pair in sure if is_wrong(pair[0])]
    first = right or [pair for pair in sure if pair not in wrong]
    named = [
        ("Clearest right answer" if right else "Clearest answer", _clearest(first)),
        ("Surest mistake", wrong[:1]),
        ("Least certain answer", sure[-1:]),
    ]
    return _once(named)


def telling_texts(predictions: Sequence[Prediction], examples: Sequence[Example]) -> list[Example]:
    """The same three kinds of texts, chosen by answers alone, before anything is explained."""
    pairs = sorted(zip(predictions, examples, strict=True), key=lambda pair: -pair[0].probability)
    wrong = [text for answer, text in pairs if text.label in answer.labels and text.label != answer.label]
    right = [text for _, text in pairs if text not in wrong]
    picked = [*right[:1], *wrong[:1], *(text for _, text in pairs[-1:])]
    return [text for index, text in enumerate(picked) if text not in picked[:index]]


def _by_value(texts: Sequence[tuple[Explanation, str]]) -> list[Pick]:
    """Of a model that gives values: the highest, the lowest, and the one in the middle."""
    ordered = sorted(texts, key=lambda pair: pair[0].predicted_value or 0.0)
    middle = len(ordered) // 2
    named = [("Highest value", ordered[-1:]), ("Lowest value", ordered[:1]), ("Middle", ordered[middle : middle + 1])]
    return _once(named)


def _once(named: Sequence[tuple[str, Sequence[tuple[Explanation, str]]]]) -> list[Pick]:
    """No text twice."""
    picks: dict[str, Pick] = {}
    for title, pairs in named:
        for explanation, anchor in pairs:
            picks.setdefault(anchor, (title, explanation, anchor))
    return list(picks.values())


def _clearest(sure: Sequence[tuple[Explanation, str]]) -> Sequence[tuple[Explanation, str]]:
    """The surest answer in which a word stands out; the surest one where none does in any."""
    for pair in sure:
        if isinstance(pair[0].units, Spans) or clear(drawable_view(pair[0]), 1):
            return [pair]
    return sure[:1]


def _example(title: str, explanation: Explanation, anchor: str, scales: Scales) -> Markup:
    probability = explanation.prediction.probability
    is_known = probability == probability and not explanation.prediction.gives_several
    sure = f", {percent(probability)}" if is_known else ""
    label = f"; labelled {explanation.example.label}" if is_wrong(explanation) else ""
    return element(
        "article",
        element("p", title, class_="pl-example-title"),
        element("p", "answer: ", element("strong", name(answer_name(explanation))), f"{sure}{label}", class_="pl-note"),
        _coloured(explanation, scales),
        element("p", element("a", name(shortened(explanation.example.id, 40) or "all of it"), href=f"#{anchor}")),
        class_="pl-example",
    )


def _coloured(explanation: Explanation, scales: Scales) -> Markup:
    """The text in colour; of a long one what stands around its strongest word."""
    example = explanation.example
    highlights = sorted(text_highlights(explanation, scales), key=lambda highlight: highlight.start)
    parts = [
        _shortened(text, [highlight for highlight in highlights if highlight.segment == index])
        for index, text in enumerate(example.segments)
    ]
    return fragment(*parts)


def _shortened(text: str, highlights: Sequence[Highlight]) -> Markup:
    strongest = max(highlights, key=lambda highlight: highlight.weight, default=Highlight(0, 0, 0, ""))
    whole = (0, len(text))
    return excerpt_block(text, around(text, whole, strongest, EXCERPT), highlights, whole)
