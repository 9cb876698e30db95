"""A text of many pages: where its scores lie, its strongest sentences, and the whole behind a click."""

from collections.abc import Sequence

from pellucid.core.text.example import Example
from pellucid.core.text.units import text_units
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.page.text_block import SEGMENTS, Stretch, segment_block, text_block

LONG = 3000  # characters, about a page and a half
SENTENCES, LONGEST = 5, 600
BARS, HEIGHT = 120, 30


def shown_text(example: Example, stretches: Sequence[Stretch]) -> Markup:
    """The text with its stretches; a long one as an overview, its strongest sentences, and the whole folded away."""
    if sum(map(len, example.segments)) <= LONG:
        return text_block(example, stretches)
    words = sum(len(text.split()) for text in example.segments)
    return fragment(
        *(_of_segment(example, number, stretches) for number in range(len(example.segments))),
        element(
            "details",
            element("summary", f"The whole text, {words:,} words"),
            text_block(example, stretches),
            class_="pl-whole",
        ),
    )


def _of_segment(example: Example, number: int, stretches: Sequence[Stretch]) -> Markup:
    text, own = example.segments[number], [s for s in stretches if s.segment == number and s.weight]
    label = f"{SEGMENTS[number]}, " if len(example.segments) > 1 else ""
    return element(
        "div",
        element(
            "p",
            f"{label}where the scores lie, from the text’s beginning to its end:".capitalize(),
            class_="pl-which",
        ),
        _overview(len(text), own),
        *(_sentence(text, place, own) for place in _strongest(text, own)),
        class_="pl-excerpts",
    )


def _overview(length: int, stretches: Sequence[Stretch]) -> Markup:
    """Bars along the text, each as high as the sizes of its scores together."""
    sums = [0.0] * BARS
    for stretch in stretches:
        first, last = stretch.start * BARS // length, (stretch.end - 1) * BARS // length
        for bar in range(first, last + 1):
            sums[bar] += stretch.weight / (last + 1 - first)
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


def _strongest(text: str, stretches: Sequence[Stretch]) -> list[tuple[int, int]]:
    """The sentences in which the largest scores stand, in reading order; of a very long one the part around it."""
    sentences = text_units(text, "sentence")
    found: dict[tuple[int, int], None] = {}
    for stretch in sorted(stretches, key=lambda stretch: -stretch.weight):
        if len(found) < SENTENCES:
            around = next(
                (s for s in sentences if s[0] <= stretch.start < s[1]), (stretch.start, stretch.end)
            )
            found.setdefault(_cut(around, stretch))
    return sorted(found)


def _cut(sentence: tuple[int, int], stretch: Stretch) -> tuple[int, int]:
    start, end = sentence
    if end - start <= LONGEST:
        return sentence
    first = max(start, min(stretch.start - LONGEST // 2, end - LONGEST))
    return first, min(first + LONGEST, end)


def _sentence(text: str, place: tuple[int, int], stretches: Sequence[Stretch]) -> Markup:
    start, end = place
    inside = [
        Stretch(0, max(s.start, start) - start, min(s.end, end) - start, s.classes, s.title)
        for s in stretches
        if s.start < end and s.end > start
    ]
    where = f"{100 * start // len(text)} % into the text"
    return element("div", element("small", where, class_="pl-which"), segment_block(text[start:end], inside))
