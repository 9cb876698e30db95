"""Span scores: the heaviest spans that do not overlap, underlined and listed."""

from dataclasses import replace

from pellucid.drawing.heat_map import (
    NOT_READ,
    caution_lines,
    is_of_written_words,
    row_table,
    small_print,
    unread_places,
)
from pellucid.drawing.html import Markup, element, name, table
from pellucid.drawing.long_text import SEGMENTS, Highlight, shown_text
from pellucid.drawing.method_facts import facts_of
from pellucid.drawing.wording import diagnostics_in_words, percent, row_in_words, shown_row, signed, weight
from pellucid.results.explanation import Explanation, Scored
from pellucid.text.units import Spans

MOST = 3
CLEAR = 0.05  # of the heaviest span's weight: lighter spans are not drawn
NOTABLE = 0.1  # other spans of less weight than this are not mentioned
THROUGH = (
    "Through: how much of the word's lead over the next likeliest went through the spans; the rest the decoder knew by "
    "itself, from the source by its other layers or from the words before. Above 100 % the decoder by itself preferred "
    "the other word, below 0 the spans did. – where the word was not the likeliest."
)
THICK, MIDDLE = 0.6, 0.25  # of the heaviest span's weight: how thick the line is


def span_view(
    explanation: Explanation, *, k: int = MOST, hide: frozenset[str] = frozenset(), checks: bool = True
) -> Markup:
    """At most k spans that do not overlap, heaviest first: in the text, and as a list with their weights.

    Spans with less than a twentieth of the heaviest one's weight are counted among the others. hide: caveats that
    stand elsewhere. checks: whether to say how the method's checks came out.
    """
    view = shown_row(explanation)
    spans = clear_spans(view, k)
    facts = facts_of(explanation.method, [explanation])
    are_weights = _are_weights(view)
    notes = [
        *row_in_words(explanation),
        _others(view, spans, are_weights),
        *diagnostics_in_words(explanation, checks),
    ]
    highlights = _with_hatch(_highlights(spans, are_weights), view)
    lines = (_line(span, are_weights, len(view.example.segments)) for span in spans)
    return element(
        "figure",
        element("figcaption", name(facts.title), class_="pl-method"),
        shown_text(view.example, highlights),
        element("ol", *lines, class_="pl-spans"),
        small_print([note for note in notes if note]),
        written_spans(explanation),
        row_table(explanation, facts.title),
        *caution_lines(caveat for caveat in explanation.caveats if caveat not in hide),
        class_="pl-map",
        role="group",
        aria_label=f"{facts.title}: the {len(spans)} heaviest spans, listed after it",
    )


def written_spans(explanation: Explanation) -> Markup | None:
    """A line for each word that a translator writes: its heaviest spans, and what went through the spans; None for
    other rows.
    """
    if not is_of_written_words(explanation):
        return None
    ((_, labels),) = explanation.rows
    head = element("tr", *(element("th", title, scope="col") for title in ("word", "spans", "through")))
    return element(
        "details",
        element("summary", "The spans before each written word"),
        small_print([THROUGH]),
        table(head, (_written_line(explanation.row(label), label) for label in labels)),
        open="open",
    )


def _written_line(row: Explanation, label: str) -> Markup:
    spans = ", ".join(f"“{span.text}” {weight(span.score)}" for span in clear_spans(row, 2))
    share = row.diagnostics.get("carried")
    through = "–" if share is None else percent(share)
    return element("tr", element("th", name(label), scope="row"), element("td", name(spans)), element("td", through))


def clear_spans(view: Explanation, k: int) -> list[Scored]:
    """The k heaviest spans that do not overlap, without those that weigh next to nothing beside the first; none of a
    text of which the model can read no word.
    """
    if view.is_unread:
        return []
    spans = view.above_rounding().spans(k)
    return [span for span in spans if span.score and abs(span.score) >= CLEAR * abs(spans[0].score)]


def span_highlights(view: Explanation, k: int = MOST) -> list[Highlight]:
    """Lines under the k heaviest spans, and words hatched that the model cannot read."""
    return _with_hatch(_highlights(clear_spans(view, k), _are_weights(view)), view)


def _with_hatch(spans: list[Highlight], view: Explanation) -> list[Highlight]:
    """The spans, cut where a word begins or ends that the model cannot read, and those words."""
    if isinstance(view.units, Spans) and not view.units.parts.readings:
        return spans  # nothing is known of what the model can read
    words = view.words()
    places = unread_places(words)
    highlights = list(spans)
    for word in (word for word in map(words.scored, words.units.content) if (word.segment, word.start) in places):
        around = next((s for s in highlights if s.segment == word.segment and s.start < word.end <= s.end), None)
        if around is None:
            highlights.append(Highlight(word.segment, word.start, word.end, "pl-u pl-unread", NOT_READ))
        else:
            highlights.remove(around)
            highlights += _cut(around, max(word.start, around.start), word.end)
    return highlights


def _cut(span: Highlight, start: int, end: int) -> list[Highlight]:
    """A span as what stands before, in and after a word that the model cannot read; the last part has the number."""
    parts = [
        replace(span, end=start),
        replace(span, start=start, end=end, css_classes=f"{span.css_classes} pl-unread"),
        replace(span, start=end),
    ]
    seen = [part for part in parts if part.end > part.start]
    return [*(replace(part, tooltip="") for part in seen[:-1]), seen[-1]]


def _are_weights(view: Explanation) -> bool:
    total = float(view.scores.sum(dtype="float64"))
    return bool((view.scores >= 0).all() and abs(total - 1) < 0.01)


def _highlights(spans: list[Scored], are_weights: bool) -> list[Highlight]:
    return [_highlight(span, rank, spans[0], are_weights) for rank, span in enumerate(spans, 1)]


def _value(span: Scored, are_weights: bool) -> str:
    if not are_weights:
        return signed(span.score)
    return f"weight {weight(span.score)}" if span.score >= 0.005 else "weight below .01"


def _highlight(span: Scored, rank: int, heaviest: Scored, are_weights: bool) -> Highlight:
    share = abs(span.score) / abs(heaviest.score)
    title = f"{rank}. {_value(span, are_weights)}"
    css_classes = f"pl-span pl-s{1 if share > THICK else 2 if share > MIDDLE else 3}"
    return Highlight(span.segment, span.start, span.end, css_classes, title, abs(span.score))


def _line(span: Scored, are_weights: bool, segments: int) -> Markup:
    segment = f" ({SEGMENTS[span.segment]})" if segments > 1 else ""
    return element("li", name(f"“{span.text}”"), segment, " ", element("small", _value(span, are_weights)))


def _others(view: Explanation, spans: list[Scored], are_weights: bool) -> str:
    """The weight of the spans that are not drawn, and how much of it overlaps the heaviest span."""
    count = len(view.units) - len(spans)
    if not are_weights or not count:
        return ""
    rest = max(0.0, 1 - sum(span.score for span in spans))
    if rest < NOTABLE:
        return ""
    subject = f"The other {count:,} span has" if count == 1 else f"The other {count:,} spans share"
    overlap = _overlapping(view)
    share = "nearly all of it" if overlap >= 0.9 * rest else f"{weight(overlap)} of it"
    overlapping = f"; {share} belongs to spans that overlap the heaviest one" if overlap >= NOTABLE else ""
    return f"{subject} {weight(rest)} of the weight{overlapping}."


def _overlapping(view: Explanation) -> float:
    """The weight of all other spans that share a part with the heaviest."""
    spans, [best] = view.units, view.heaviest_spans(1)
    assert isinstance(spans, Spans)  # what this file draws
    meets = (spans.first <= spans.last[best]) & (spans.last >= spans.first[best])
    meets[best] = False
    return float(view.scores[meets].sum(dtype="float64"))
