"""Span scores: the heaviest stretches that do not overlap, underlined and listed."""

from pellucid.core.explanation import Explanation, Scored
from pellucid.reports.heat_map import small_print, warnings
from pellucid.reports.html import Markup, element, name
from pellucid.reports.long_text import shown_text
from pellucid.reports.method_facts import facts_of
from pellucid.reports.numbers import signed, weight
from pellucid.reports.plain_words import diagnostics_in_words, first_row, row_in_words
from pellucid.reports.text_block import SEGMENTS, Stretch

LAYERS = 3


def span_view(explanation: Explanation, *, k: int = LAYERS, hide: frozenset[str] = frozenset()) -> Markup:
    """The k heaviest spans over the text, thickest line first, and as a list with their weights.

    hide: caveats told elsewhere.
    """
    shown = first_row(explanation)
    spans = [span for span in shown.spans(k) if span.score]
    facts = facts_of(explanation.method, [explanation])
    are_weights = bool((shown.scores >= 0).all() and abs(float(shown.scores.sum(dtype="float64")) - 1) < 0.01)
    notes = [*row_in_words(explanation), _rest(shown, spans, are_weights), *diagnostics_in_words(explanation)]
    return element(
        "figure",
        element("figcaption", name(facts.title), class_="pl-method"),
        shown_text(
            shown.example, [_stretch(span, place, are_weights) for place, span in enumerate(spans, 1)]
        ),
        element(
            "ol",
            *(_line(span, are_weights, len(shown.example.segments)) for span in spans),
            class_="pl-spans",
        ),
        small_print([note for note in notes if note]),
        *warnings(caveat for caveat in explanation.caveats if caveat not in hide),
        class_="pl-map",
        role="group",
        aria_label=f"{facts.title}: the {len(spans)} heaviest stretches of text, listed after it",
    )


def _value(span: Scored, are_weights: bool) -> str:
    if not are_weights:
        return signed(span.score)
    return f"α = {weight(span.score)}" if span.score >= 0.005 else "α < .01"


def _stretch(span: Scored, place: int, are_weights: bool) -> Stretch:
    title = f"{place}. “{span.text}” {_value(span, are_weights)} · characters {span.start + 1} to {span.end}"
    classes = f"pl-span pl-s{min(place, LAYERS)}"
    return Stretch(span.segment, span.start, span.end, classes, title, abs(span.score))


def _line(span: Scored, are_weights: bool, segments: int) -> Markup:
    where = f" ({SEGMENTS[span.segment]})" if segments > 1 else ""
    return element("li", name(f"“{span.text}”"), where, " ", element("small", _value(span, are_weights)))


def _rest(shown: Explanation, spans: list[Scored], are_weights: bool) -> str:
    others = len(shown.units) - len(spans)
    if not are_weights or not others:
        return ""
    left = max(0.0, 1 - sum(span.score for span in spans))
    return f"The other {others:,} stretches share {weight(left)}."
