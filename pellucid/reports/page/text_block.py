"""The original text, every character in its place, with some stretches dressed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pellucid.core.text.example import Example
from pellucid.reports.markup.html import Markup, element

SEGMENTS = ("first text", "second text")


@dataclass(frozen=True)
class Stretch:
    """Characters [start, end) of a segment, their style classes and what a pointer resting there shows.

    weight: the size of its score, 0 where there is none.
    """

    segment: int
    start: int
    end: int
    classes: str
    title: str = ""
    weight: float = 0.0


def text_block(example: Example, stretches: Iterable[Stretch]) -> Markup:
    """The example's texts; stretches must not overlap and what lies between them is kept exactly."""
    ordered = sorted(stretches, key=lambda stretch: (stretch.segment, stretch.start))
    blocks = [
        segment_block(text, [stretch for stretch in ordered if stretch.segment == number])
        for number, text in enumerate(example.segments)
    ]
    if len(blocks) == 1:
        return blocks[0]
    labelled = [
        element("div", element("small", label, class_="pl-which"), block, class_="pl-segment")
        for label, block in zip(SEGMENTS, blocks, strict=True)
    ]
    return element("div", *labelled, class_="pl-pair")


def segment_block(text: str, stretches: Sequence[Stretch]) -> Markup:
    """One text, its stretches in order."""
    parts: list[Markup | str] = []
    cursor = 0
    for stretch in stretches:
        assert stretch.start >= cursor, "stretches overlap"
        parts += [text[cursor : stretch.start], _dressed(text, stretch)]
        cursor = stretch.end
    return element("div", *parts, text[cursor:], class_="pl-text", dir="auto")


def _dressed(text: str, stretch: Stretch) -> Markup:
    return element(
        "span", text[stretch.start : stretch.end], class_=stretch.classes or None, title=stretch.title or None
    )
