"""A card: one text, the model's answer, and one picture a method."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pellucid.base.checks import shortened
from pellucid.drawing.emphasis import Scales, clear, full_colour, scale_key
from pellucid.drawing.heat_map import caution_lines, drawable_view, heat_map, unit_highlights
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table, turns
from pellucid.drawing.long_text import Highlight, text_block
from pellucid.drawing.method_facts import explains_state, facts_of, readable
from pellucid.drawing.span_view import span_highlights, span_view
from pellucid.drawing.wording import (
    answer_name,
    answer_with_chances,
    listed,
    percent,
    place_in_words,
    readable_number,
    reading_cautions,
    shown_row,
    signed,
    target_name,
)
from pellucid.results.explanation import WRITTEN, Explanation
from pellucid.text.example import Example
from pellucid.text.passages import place_of
from pellucid.text.units import Kind, Spans

MOST_OTHERS = 3  # classes beside the answer that are named with their probabilities
REORDERED = "This text contains invisible characters that change the order in which it is displayed."


def card(
    explanations: Sequence[Explanation],
    *,
    scales: Scales | None = None,
    unit: Kind = "word",
    hide: frozenset[str] = frozenset(),
    checks: bool = True,
    anchor: str | None = None,
    beside: Markup | None = None,
) -> Markup:
    """All explanations of one example: the answer, the pictures, what its author marked, the expert's facts.

    scales: the scores that get the full colour (None: each text's largest). hide: caveats that stand elsewhere.
    checks: whether to say how each method's checks came out. anchor: the id by which links lead here. beside: links to
    the cards of the same text.
    """
    example = explanations[0].example
    return element(
        "article",
        text_heading(example),
        beside,
        *(_of_one_model(group, scales, unit, hide, checks) for group in by_model(explanations)),
        _author_marks(example),
        *order_caution(example),
        expert_facts(explanations),
        class_="pl-card",
        id=anchor,
    )


def text_heading(example: Example) -> Markup:
    """The name of a text; where the name is only a number, the word Text stands before it."""
    title = f"Text {example.id}" if example.id.replace("/", "").isdecimal() else example.id or "Text"
    return element("h3", name(title), class_="pl-id")


def cards_of_places(groups: Sequence[Sequence[Explanation]], anchors: Sequence[str]) -> list[Markup | None]:
    """For each card the parts of its text that answers are about, each a link to its card; None for one alone."""
    same_text: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        same_text.setdefault((group[0].example.segments, group[0].model_hash), []).append(index)
    lines: list[Markup | None] = [None] * len(groups)
    for members in same_text.values():
        if len(members) > 1:
            for index in members:
                lines[index] = _links([(groups[sibling], anchors[sibling]) for sibling in members], anchors[index])
    return lines


def _links(cards: Sequence[tuple[Sequence[Explanation], str]], here: str) -> Markup | None:
    """The parts of one text with their answers; the one of this card is no link."""
    parts: list[str | Markup] = []
    for group, anchor in cards:
        place = place_of(group[0].example)
        if place is None:
            return None
        named = name(f"{shortened(place.text)}: {answer_name(group[0])}")
        link = element("strong", named) if anchor == here else element("a", named, href=f"#{anchor}")
        parts += [" · ", link]
    return element("p", "In this text: ", *parts[1:], class_="pl-note pl-places")


def order_caution(example: Example) -> list[Markup]:
    """A caution where invisible characters change the order of a text."""
    return list(caution_lines([REORDERED] if any(map(turns, example.segments)) else []))


def picture(
    explanation: Explanation, scales: Scales | None, unit: Kind, hide: frozenset[str], checks: bool = True
) -> Markup:
    """The underlined spans for scores of spans, else a heat map."""
    if isinstance(explanation.units, Spans):
        return span_view(explanation, hide=hide, checks=checks)
    view = drawable_view(explanation, unit)
    scale = (scales or {}).get(scale_key(view), full_colour(view))
    return heat_map(explanation, unit=unit, scale=scale, hide=hide, checks=checks)


def text_highlights(explanation: Explanation, scales: Scales) -> list[Highlight]:
    """The coloured words of a text, or its underlined spans, without words that have no colour: for a light page."""
    if isinstance(explanation.units, Spans):
        return span_highlights(shown_row(explanation))
    view = drawable_view(explanation)
    scale = scales.get(scale_key(view), full_colour(view))
    every = unit_highlights(view, scale, lambda unit: signed(unit.score))
    coloured = (highlight for highlight in every if highlight.css_classes != "pl-u")
    return [replace(highlight, css_classes=highlight.css_classes.removeprefix("pl-u ")) for highlight in coloured]


def _of_one_model(
    group: Sequence[Explanation], scales: Scales | None, unit: Kind, hide: frozenset[str], checks: bool
) -> Markup:
    of_class = [shown for shown in group if facts_of(shown.method).of_class]
    targets = list(dict.fromkeys(target_name(shown) for shown in of_class))
    of_reading = reading_cautions(group)  # before the first colour
    hide = hide | frozenset(of_reading)
    pictures = (
        fragment(
            _target_line(shown) if len(targets) > 1 and shown in of_class else None,
            picture(shown, scales, unit, hide, checks),
        )
        for shown in group
    )
    return fragment(answer_line(group[0], targets), *caution_lines(of_reading), misleading_words(group), *pictures)


def answer_line(explanation: Explanation, targets: Sequence[str] = ()) -> Markup:
    """The model's answer, how sure it was, whether the label agrees, and which number is explained."""
    prediction = explanation.prediction
    probability = prediction.probability
    is_known = probability == probability
    sure = percent(probability) if is_known else _value(explanation)
    if prediction.gives_several:  # each class with its own probability
        is_known, sure = False, ""
    return element(
        "p",
        name(explanation.model),
        " writing " if explanation.target.output == WRITTEN else " says ",
        element("strong", name(_answer(explanation)), class_="pl-label"),
        place_in_words(explanation) or None,
        probability_bar(probability) if is_known else None,
        element("span", sure, class_="pl-sure") if sure else None,
        _next_classes(explanation),
        _verdict(explanation),
        _target(explanation, targets),
        class_="pl-answer",
    )


def _next_classes(explanation: Explanation) -> Markup | None:
    """The classes after the answer with their probabilities, the likeliest first: neutral 12 %, positive 1 %."""
    prediction = explanation.prediction
    if explanation.target.output == WRITTEN or prediction.gives_several or not prediction.probabilities:
        return None
    pairs = zip(prediction.labels, prediction.probabilities, strict=True)
    after = sorted((pair for pair in pairs if pair[0] != prediction.label), key=lambda pair: -pair[1])
    named = (fragment(" · ", name(label), f" {percent(chance)}") for label, chance in after[:MOST_OTHERS])
    return element("small", *named, class_="pl-note")


def _answer(explanation: Explanation) -> str:
    prediction = explanation.prediction
    if explanation.predicted_value is not None:
        return readable_number(explanation.predicted_value)
    return answer_with_chances(explanation) if prediction.gives_several else prediction.label


def _value(explanation: Explanation) -> str:
    """Of a model without probabilities: its value; of a written word its log-probability, or its lead over another
    word.
    """
    target = explanation.target
    if target.output != WRITTEN:
        return "" if explanation.predicted_value is not None else f"value {readable_number(target.value)}"
    return f"{'lead' if target.against else WRITTEN} {readable_number(target.value)}"


def probability_bar(share: float) -> Markup:
    """A bar as wide as the probability, without script or style attributes."""
    return element(
        "svg",
        element("rect", x=0, y=0, width=100, height=8, class_="pl-empty"),
        element("rect", x=0, y=0, width=round(share * 100, 2), height=8, class_="pl-full"),
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="pl-probability",
    )


def _verdict(explanation: Explanation) -> Markup | None:
    label = explanation.example.label
    if label is None:
        return None
    if explanation.is_correct is None:
        return element("span", "label: ", name(label))
    if is_wrong(explanation):
        return element("span", "✗ wrong, the label is ", name(label), class_="pl-wrong")
    return element("span", "✓ as labelled", class_="pl-right")


def is_wrong(explanation: Explanation) -> bool:
    """Whether the example's label is one of the model's classes and the model says another."""
    return explanation.is_correct is False


def misleading_words(group: Sequence[Explanation]) -> Markup | None:
    """For a wrong answer: the words that spoke most for it, by the first method that has signs."""
    for explanation in group:
        facts, target = facts_of(explanation.method, [explanation]), explanation.target
        explains_answer = (
            not explains_state(explanation) and target.label == explanation.prediction.label and not target.against
        )
        if is_wrong(explanation) and facts.signed and not facts.spans and explains_answer:
            words = [word for word in clear(drawable_view(explanation)) if word.score > 0]
            sentence = f"What spoke most for the wrong answer: {listed(words)} ({facts.title})."
            return element("p", name(sentence), class_="pl-misled") if words else None
    return None


def _target(explanation: Explanation, targets: Sequence[str]) -> Markup | None:
    """What is explained, where it is something else than the model's own answer."""
    target = explanation.target
    is_usual = target.label == explanation.prediction.label and not target.against
    if is_usual or len(targets) != 1:
        return None
    return element("span", "explained: ", name(targets[0]), class_="pl-target")


def _target_line(explanation: Explanation) -> Markup:
    value = "" if explains_state(explanation) else f" ({signed(explanation.target.value)})"
    return element("p", "Explained: ", name(target_name(explanation)), value, class_="pl-note")


def _author_marks(example: Example) -> Markup | None:
    if not example.rationales:
        return None
    title = "marked by the author as the reason for the label"
    marks = [Highlight(segment, start, end, "pl-marked", title) for segment, start, end in _merged(example)]
    caption = element("figcaption", "What the author marked", class_="pl-method")
    return element("figure", caption, text_block(example, marks), class_="pl-map")


def _merged(example: Example) -> list[tuple[int, int, int]]:
    """(segment, start, end) of the author's marks; marks that overlap become one."""
    merged: list[tuple[int, int, int]] = []
    for mark in sorted(example.rationales, key=lambda mark: (mark.segment, mark.start)):
        if merged and merged[-1][0] == mark.segment and mark.start <= merged[-1][2]:
            merged[-1] = (mark.segment, merged[-1][1], max(merged[-1][2], mark.end))
        else:
            merged.append((mark.segment, mark.start, mark.end))
    return merged


# The facts an expert needs to judge and repeat explanations, folded away.

COLUMNS = ("method", "explained", "value", "seed", "settings", "diagnostics")


def pairs(values: Mapping[str, object]) -> str:
    """A mapping in one line: n_steps = 32, baselines = pad"""
    return ", ".join(f"{key} = {_fact_value(value)}" for key, value in values.items()) or "–"


def expert_facts(explanations: Sequence[Explanation]) -> Markup:
    """Models with their digests and probabilities; each method's target, seed, settings and diagnostics."""
    models = {explanation.model_hash: explanation for explanation in explanations}
    return element(
        "details",
        element("summary", "Facts for the expert"),
        *(_model(model) for model in models.values()),
        scroll_box(table(header_row(COLUMNS), map(_row, explanations)), "Settings of each method"),
        class_="pl-expert",
    )


def _row(explanation: Explanation) -> Markup:
    target = explanation.target
    cells = (
        str(target),
        signed(target.value),
        str(explanation.seed),
        pairs(explanation.settings),
        pairs(explanation.diagnostics),
    )
    heading = element("th", name(readable(explanation.method)), scope="row")
    return element("tr", heading, *(element("td", name(text)) for text in cells))


def _model(explanation: Explanation) -> Markup:
    prediction, digest = explanation.prediction, explanation.model_hash
    probabilities = ", ".join(
        f"{label} {percent(probability)}"
        for label, probability in zip(prediction.labels, prediction.probabilities, strict=False)
    )
    code = element("span", digest, class_="pl-code")
    model = ("Model ", name(explanation.model), ", digest ", code, ". ", name(probabilities))
    return element("p", *model, class_="pl-note")


def _fact_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else readable_number(value)
    return str(value)


# Explanations in groups: those of one text, of one method, of one model.

Key = TypeVar("Key", bound=Hashable)


def by_example(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each example; examples in the order in which they first appear."""
    groups = _grouped(explanations, lambda shown: (shown.example.id, shown.example.segments, shown.example.label))
    return list(groups.values())


def by_method(explanations: Sequence[Explanation]) -> dict[str, list[Explanation]]:
    """Method's title -> its explanations; methods in the order in which they first appear."""
    return _grouped(explanations, lambda shown: shown.method)


def by_model(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each model; models in the order in which they first appear."""
    return list(_grouped(explanations, lambda shown: (shown.model, shown.model_hash)).values())


def _grouped(explanations: Sequence[Explanation], key: Callable[[Explanation], Key]) -> dict[Key, list[Explanation]]:
    groups: dict[Key, list[Explanation]] = {}
    for explanation in explanations:
        groups.setdefault(key(explanation), []).append(explanation)
    return groups
