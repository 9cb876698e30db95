"""The original text, every character of it, with some parts highlighted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pellucid.core.text.example import Example
from pellucid.reports.markup.html import Markup, element

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


def text_block(example: Example, highlights: Iterable[Highlight]) -> Markup:
    """The example's texts. Highlights must not overlap; the text between them is shown as it is."""
    ordered = sorted(highlights, key=lambda highlight: (highlight.segment, highlight.start))
    blocks = [
        segment_block(text, [highlight for highlight in ordered if highlight.segment == number])
        for number, text in enumerate(example.segments)
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
