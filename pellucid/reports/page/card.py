"""A card: one text, what the model said of it, and one picture a method."""

from collections.abc import Sequence

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.example import Example
from pellucid.core.text.units import Kind, Spans
from pellucid.reports.markup.colours import Scales, largest, scale_key
from pellucid.reports.markup.escape import turns
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.expert_facts import expert_facts
from pellucid.reports.page.heat_map import drawn, heat_map, warnings
from pellucid.reports.page.span_view import span_view
from pellucid.reports.page.text_block import Stretch, text_block
from pellucid.reports.wording.method_facts import facts_of
from pellucid.reports.wording.numbers import number, percent, signed
from pellucid.reports.wording.plain_words import first_row, listed

TURNED = "This text holds invisible characters that change the order in which it is displayed."


def card(
    explanations: Sequence[Explanation],
    *,
    scales: Scales | None = None,
    unit: Kind = "word",
    hide: frozenset[str] = frozenset(),
) -> Markup:
    """All explanations of one example: the answer, the pictures, what its author marked, the expert's facts.

    scales: the scores that get the full colour (None: each text's own). hide: caveats told elsewhere.
    """
    first = explanations[0]
    turned = any(turns(text) for text in first.example.segments)
    return element(
        "article",
        heading(first.example),
        *(_of_one_model(group, scales, unit, hide) for group in by_model(explanations)),
        _marked(first),
        *warnings([TURNED] if turned else []),
        expert_facts(explanations),
        class_="pl-card",
    )


def heading(example: Example) -> Markup:
    """The name of a text; a bare number, as texts without a name have, says what it counts."""
    title = f"Text {example.id}" if example.id.isdecimal() else example.id or "Text"
    return element("h3", name(title), class_="pl-id")


def by_model(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each model, models in order of appearance."""
    groups: dict[tuple, list[Explanation]] = {}
    for found in explanations:
        groups.setdefault((found.model, found.model_hash), []).append(found)
    return list(groups.values())


def picture(explanation: Explanation, scales: Scales | None, unit: Kind, hide: frozenset[str]) -> Markup:
    """A span view for span scores, else a heat map."""
    if isinstance(explanation.units, Spans):
        return span_view(explanation, hide=hide)
    view = drawn(explanation, unit)
    scale = (scales or {}).get(scale_key(view), largest(view))
    return heat_map(explanation, unit=unit, scale=scale, hide=hide)


def _of_one_model(
    group: Sequence[Explanation], scales: Scales | None, unit: Kind, hide: frozenset[str]
) -> Markup:
    of_class = [found for found in group if facts_of(found.method).of_class]
    targets = list(dict.fromkeys(str(found.target) for found in of_class))
    return fragment(
        answer(group[0], targets),
        misled(group),
        *(
            fragment(
                _target_line(found) if len(targets) > 1 and found in of_class else None,
                picture(found, scales, unit, hide),
            )
            for found in group
        ),
    )


def answer(explanation: Explanation, targets: Sequence[str] = ()) -> Markup:
    """What the model said, how sure it was, whether the label agrees, and which number is explained."""
    prediction = explanation.prediction
    sure = prediction.probability
    known = sure == sure
    return element(
        "p",
        name(explanation.model),
        " says ",
        element("strong", name(prediction.label), class_="pl-label"),
        probability_bar(sure) if known else None,
        element(
            "span", percent(sure) if known else f"value {number(explanation.target.value)}", class_="pl-sure"
        ),
        _agreement(explanation),
        _target(targets[0]) if len(targets) == 1 else None,
        class_="pl-answer",
    )


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


def _agreement(explanation: Explanation) -> Markup | None:
    label = explanation.example.label
    if label not in explanation.prediction.labels:
        return element("span", "label: ", name(label)) if label is not None else None
    if is_wrong(explanation):
        return element("span", "✗ wrong, the label is ", name(label), class_="pl-wrong")
    return element("span", "✓ as labelled", class_="pl-right")


def is_wrong(explanation: Explanation) -> bool:
    """Whether the example's label is one of the model's classes and the model says another."""
    label, prediction = explanation.example.label, explanation.prediction
    return label in prediction.labels and label != prediction.label


def misled(group: Sequence[Explanation]) -> Markup | None:
    """For a wrong answer: the words that spoke most for it, by the first method that has signs."""
    for found in group:
        facts = facts_of(found.method, [found])
        wanted = found.target.label == found.prediction.label and not found.target.against
        if is_wrong(found) and facts.signed and not facts.spans and wanted:
            words = [word for word in first_row(drawn(found)).top(3) if word.score > 0]
            said = f"What spoke most for the wrong answer: {listed(words)} ({facts.title})."
            return element("p", name(said), class_="pl-misled") if words else None
    return None


def _target(target: str) -> Markup:
    title = "The number that the scores explain"
    return element("span", "explained: ", name(target), class_="pl-target", title=title)


def _target_line(explanation: Explanation) -> Markup:
    value = signed(explanation.target.value)
    return element("p", "Explained: ", name(str(explanation.target)), f" ({value})", class_="pl-note")


def _marked(explanation: Explanation) -> Markup | None:
    example = explanation.example
    if not example.rationales:
        return None
    title = "marked by the author as the reason for the label"
    stretches = [Stretch(segment, start, end, "pl-marked", title) for segment, start, end in _united(example)]
    caption = element("figcaption", "What the author marked", class_="pl-method")
    return element("figure", caption, text_block(example, stretches), class_="pl-map")


def _united(example: Example) -> list[tuple[int, int, int]]:
    """The marked stretches, overlapping ones united."""
    found: list[tuple[int, int, int]] = []
    for mark in sorted(example.rationales, key=lambda mark: (mark.segment, mark.start)):
        if found and found[-1][0] == mark.segment and mark.start <= found[-1][2]:
            found[-1] = (mark.segment, found[-1][1], max(found[-1][2], mark.end))
        else:
            found.append((mark.segment, mark.start, mark.end))
    return found
