"""Span scores: the heaviest spans that do not overlap, underlined and listed."""

from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.units import Spans
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.page.heat_map import small_print, warnings
from pellucid.reports.page.long_text import shown_text
from pellucid.reports.page.text_block import SEGMENTS, Stretch
from pellucid.reports.wording.method_facts import facts_of
from pellucid.reports.wording.numbers import signed, weight
from pellucid.reports.wording.plain_words import diagnostics_in_words, first_row, row_in_words

MOST = 3
CLEAR = 0.05  # of the heaviest span's weight: lighter ones are not drawn
NOTABLE = 0.1  # weight of other spans that is worth a word
THICK, MIDDLE = 0.6, 0.25  # likewise: how thick the line is


def span_view(explanation: Explanation, *, k: int = MOST, hide: frozenset[str] = frozenset()) -> Markup:
    """At most k spans that do not overlap over the text, heaviest first, and as a list with their weights.

    Spans with less than a twentieth of the heaviest one's weight are left to the sentence about the others. hide: caveats told elsewhere.
    """
    shown = first_row(explanation)
    spans = clear_spans(shown, k)
    facts = facts_of(explanation.method, [explanation])
    are_weights = bool((shown.scores >= 0).all() and abs(float(shown.scores.sum(dtype="float64")) - 1) < 0.01)
    notes = [*row_in_words(explanation), _rest(shown, spans, are_weights), *diagnostics_in_words(explanation)]
    return element(
        "figure",
        element("figcaption", name(facts.title), class_="pl-method"),
        shown_text(
            shown.example,
            [_stretch(span, place, spans[0], are_weights) for place, span in enumerate(spans, 1)],
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
        aria_label=f"{facts.title}: the {len(spans)} heaviest spans, listed after it",
    )


def clear_spans(shown: Explanation, k: int) -> list[Scored]:
    """The heaviest spans that do not overlap, without those that weigh next to nothing beside the first."""
    spans = shown.spans(k)
    return [span for span in spans if span.score and abs(span.score) >= CLEAR * abs(spans[0].score)]


def _value(span: Scored, are_weights: bool) -> str:
    if not are_weights:
        return signed(span.score)
    return f"α = {weight(span.score)}" if span.score >= 0.005 else "α < .01"


def _stretch(span: Scored, place: int, heaviest: Scored, are_weights: bool) -> Stretch:
    share = abs(span.score) / abs(heaviest.score)
    title = f"{place}. “{span.text}” {_value(span, are_weights)} · characters {span.start + 1} to {span.end}"
    classes = f"pl-span pl-s{1 if share > THICK else 2 if share > MIDDLE else 3}"
    return Stretch(span.segment, span.start, span.end, classes, title, abs(span.score))


def _line(span: Scored, are_weights: bool, segments: int) -> Markup:
    where = f" ({SEGMENTS[span.segment]})" if segments > 1 else ""
    return element("li", name(f"“{span.text}”"), where, " ", element("small", _value(span, are_weights)))


def _rest(shown: Explanation, spans: list[Scored], are_weights: bool) -> str:
    others = len(shown.units) - len(spans)
    if not are_weights or not others:
        return ""
    left = max(0.0, 1 - sum(span.score for span in spans))
    shared = f"The other {others:,} span shares" if others == 1 else f"The other {others:,} spans share"
    inside = _overlapping(shown) if left >= NOTABLE else 0.0
    share = "nearly all of it" if inside >= 0.9 * left else weight(inside)
    told = f"; {share} lies on some that overlap the heaviest" if inside >= NOTABLE else ""
    return f"{shared} {weight(left)}{told}."


def _overlapping(shown: Explanation) -> float:
    """The weight of all other spans that share a part with the heaviest."""
    spans, [best] = shown.units, shown.heaviest_spans(1)
    assert isinstance(spans, Spans)  # what this file draws
    meets = (spans.first <= spans.last[best]) & (spans.last >= spans.first[best])
    meets[best] = False
    return float(shown.scores[meets].sum(dtype="float64"))
