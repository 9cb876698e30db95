"""A text of many pages: where its scores are, its strongest sentences, and the whole text behind a click."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pellucid.drawing.html import Markup, element, fragment
from pellucid.text.example import Example
from pellucid.text.units import text_units

# The original text, every character of it, with some parts highlighted.

SEGMENTS = ("first text", "second text")


@dataclass(frozen=True)
class Highlight:
    """Characters [start, end) of a segment, their CSS classes, and the tooltip that a pointer shows.

    weight: the size of the score, 0 where there is none.
    """

    segment: int
    start: int
    end: int
    css_classes: str
    tooltip: str = ""
    weight: float = 0.0


def is_seen(highlight: Highlight) -> bool:
    """Whether a highlight is more than its place: it has a score, or is hatched."""
    return bool(highlight.weight) or "pl-unread" in highlight.css_classes


def text_block(example: Example, highlights: Iterable[Highlight]) -> Markup:
    """The example's texts. Highlights must not overlap; the text between them is shown as it is."""
    ordered = sorted(highlights, key=lambda highlight: (highlight.segment, highlight.start))
    blocks = [
        segment_block(text, [highlight for highlight in ordered if highlight.segment == index])
        for index, text in enumerate(example.segments)
    ]
    if len(blocks) == 1:
        return blocks[0]
    labelled = [
        element("div", element("small", label, class_="pl-which"), block, class_="pl-segment")
        for label, block in zip(SEGMENTS, blocks, strict=True)
    ]
    return element("div", *labelled, class_="pl-pair")


def segment_block(text: str, highlights: Sequence[Highlight]) -> Markup:
    """One text with its highlights, which must be in order; its language is not known, and its direction its own."""
    parts: list[Markup | str] = []
    cursor = 0
    for highlight in highlights:
        assert highlight.start >= cursor, "highlights overlap"
        parts += [text[cursor : highlight.start], _highlighted(text, highlight)]
        cursor = highlight.end
    return element("div", *parts, text[cursor:], class_="pl-text", dir="auto", lang="")


def _highlighted(text: str, highlight: Highlight) -> Markup:
    return element(
        "i",  # the shortest tag: a long page has tens of thousands
        text[highlight.start : highlight.end],
        class_=highlight.css_classes or None,
        title=highlight.tooltip or None,
    )


LONG = 3000  # characters, about a page and a half
SENTENCES, LONGEST = 5, 600  # sentences that are shown of a long text, and the characters of one
BARS, HEIGHT = 120, 30

Offsets = tuple[int, int]  # the first character and the one after the last


def shown_text(example: Example, highlights: Sequence[Highlight]) -> Markup:
    """The text with its highlights. A long text is shown as an overview and its strongest sentences.

    The whole of a long text is folded away below them.
    """
    if sum(map(len, example.segments)) <= LONG:
        return text_block(example, highlights)
    words = sum(len(text.split()) for text in example.segments)
    return fragment(
        *(_excerpts(example, index, highlights) for index in range(len(example.segments))),
        element(
            "details",
            element("summary", f"The whole text, {words:,} words"),
            text_block(example, highlights),
            class_="pl-whole",
        ),
    )


def _excerpts(example: Example, segment: int, highlights: Sequence[Highlight]) -> Markup:
    """One text of the example: the overview, then its strongest sentences."""
    text = example.segments[segment]
    scored = [highlight for highlight in highlights if highlight.segment == segment and is_seen(highlight)]
    label = f"{SEGMENTS[segment]}: " if len(example.segments) > 1 else ""
    caption = f"{label}where the scores are, from the beginning of the text to its end".capitalize()
    return element(
        "div",
        element("p", caption, class_="pl-which"),
        _overview(len(text), scored),
        *(_excerpt(text, offsets, scored) for offsets in _strongest_sentences(text, scored)),
        class_="pl-excerpts",
    )


def _overview(length: int, highlights: Sequence[Highlight]) -> Markup:
    """Bars along the text. The height of a bar is the sum of the sizes of the scores there."""
    sums = [0.0] * BARS
    for highlight in highlights:
        first, last = highlight.start * BARS // length, (highlight.end - 1) * BARS // length
        for bar in range(first, last + 1):
            sums[bar] += highlight.weight / (last + 1 - first)
    highest = max(sums) or 1.0
    bars = [
        element("rect", x=bar, y=HEIGHT * (1 - value / highest), width=0.8, height=HEIGHT * value / highest)
        for bar, value in enumerate(sums)
        if value
    ]
    return element(
        "svg",
        *bars,
        viewBox=f"0 0 {BARS} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="pl-overview",
    )


def _strongest_sentences(text: str, highlights: Sequence[Highlight]) -> list[Offsets]:
    """The sentences with the largest scores, in reading order; of a very long sentence the part around the score."""
    sentences = text_units(text, "sentence")
    excerpts: dict[Offsets, None] = {}
    for highlight in sorted(highlights, key=lambda highlight: -highlight.weight):
        if len(excerpts) < SENTENCES:
            sentence = next((s for s in sentences if s[0] <= highlight.start < s[1]), (highlight.start, highlight.end))
            excerpts.setdefault(_shortened(sentence, highlight))
    return sorted(excerpts)


def _shortened(sentence: Offsets, highlight: Highlight) -> Offsets:
    start, end = sentence
    if end - start <= LONGEST:
        return sentence
    first = max(start, min(highlight.start - LONGEST // 2, end - LONGEST))
    return first, min(first + LONGEST, end)


def _excerpt(text: str, offsets: Offsets, highlights: Sequence[Highlight]) -> Markup:
    start, end = offsets
    inside = [
        Highlight(
            0,
            max(highlight.start, start) - start,
            min(highlight.end, end) - start,
            highlight.css_classes,
            highlight.tooltip,
        )
        for highlight in highlights
        if highlight.start < end and highlight.end > start
    ]
    position = f"{100 * start // len(text)} % into the text"
    return element("div", element("small", position, class_="pl-which"), segment_block(text[start:end], inside))
