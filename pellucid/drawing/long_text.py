"""A text of many pages: where its scores are, its strongest sentences, and the whole text behind a click."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pellucid.drawing.html import Markup, element, fragment
from pellucid.text.example import Example
from pellucid.text.features import has_features
from pellucid.text.passages import turns_of
from pellucid.text.units import text_units

# The original text, every character of it, with some parts highlighted.

SEGMENTS, OF_A_ROW = ("first text", "second text"), ("text", "features")
ANSWER, WHOLE_PROMPT = "answer", "The prompt as the model reads it"


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
    """The example's texts, of a chat each message by itself. Highlights must not overlap; the text between them is
    shown as it is.
    """
    ordered = sorted(highlights, key=lambda highlight: (highlight.segment, highlight.start))
    if turns_of(example):
        return _chat_block(example, ordered)
    blocks = [
        segment_block(text, [highlight for highlight in ordered if highlight.segment == index])
        for index, text in enumerate(example.segments)
    ]
    if len(blocks) == 1:
        return blocks[0]
    labels = OF_A_ROW if has_features(example) else SEGMENTS
    return element("div", *map(_labelled, labels, blocks), class_="pl-pair")


def _labelled(label: str, block: Markup) -> Markup:
    return element("div", element("small", label, class_="pl-which"), block, class_="pl-segment")


def _chat_block(example: Example, highlights: Sequence[Highlight]) -> Markup:
    """Each message under its role, and the answer; folded, the prompt as the template writes it."""
    prompt, *answer = example.segments
    blocks = [
        _labelled(
            turn.role,
            segment_block(
                prompt[turn.start : turn.end],
                [
                    replace(each, start=each.start - turn.start, end=each.end - turn.start)
                    for each in highlights
                    if each.segment == 0 and turn.start <= each.start and each.end <= turn.end
                ],
            ),
        )
        for turn in turns_of(example)
    ]
    written = [each for each in highlights if each.segment == 1]
    blocks += [_labelled(ANSWER, segment_block(text, written)) for text in answer]
    whole = element("details", element("summary", WHOLE_PROMPT), segment_block(prompt, []))
    return element("div", *blocks, whole, class_="pl-pair")


def segment_block(
    text: str, highlights: Sequence[Highlight], before: Markup | None = None, after: Markup | None = None
) -> Markup:
    """One text with its highlights, which must be in order; its language is not known, and its direction its own.

    before, after: what stands in front of it and behind it.
    """
    parts: list[Markup | str] = []
    cursor = 0
    for highlight in highlights:
        assert highlight.start >= cursor, "highlights overlap"
        parts += [text[cursor : highlight.start], _highlighted(text, highlight)]
        cursor = highlight.end
    return element("div", before, *parts, text[cursor:], after, class_="pl-text", dir="auto", lang="")


def _highlighted(text: str, highlight: Highlight) -> Markup:
    return element(
        "i",  # the shortest tag: a long page has tens of thousands
        text[highlight.start : highlight.end],
        class_=highlight.css_classes or None,
        title=highlight.tooltip or None,
    )


LONG = 3000  # characters, about a page and a half
SENTENCES, LONGEST = 5, 600  # sentences that are shown of a long text, and the characters of one
NEAR = 200  # characters beside an excerpt of a sentence without end that get no excerpt of their own
BARS, HEIGHT = 120, 30

_BLANK = re.compile(r"\s+")
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
        *(_excerpt(text, offsets, sentence, scored) for offsets, sentence in _strongest_sentences(text, scored)),
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


def _strongest_sentences(text: str, highlights: Sequence[Highlight]) -> list[tuple[Offsets, Offsets]]:
    """The sentences with the largest scores, in reading order, each with the whole sentence's offsets; of a very long
    sentence the part around the score. A score that an excerpt shows already, or nearly, gets none of its own.
    """
    sentences = text_units(text, "sentence")
    excerpts: dict[Offsets, Offsets] = {}
    for highlight in sorted(highlights, key=lambda highlight: -highlight.weight):
        if len(excerpts) == SENTENCES:
            break
        sentence = next((s for s in sentences if s[0] <= highlight.start < s[1]), (highlight.start, highlight.end))
        near = [offsets for offsets, of_sentence in excerpts.items() if of_sentence == sentence]
        if any(start - NEAR <= highlight.start and highlight.end <= end + NEAR for start, end in near):
            continue
        start, end = around(text, sentence, highlight, LONGEST)
        before = max((last for _, last in excerpts if last <= highlight.start), default=0)
        after = min((first for first, _ in excerpts if first >= highlight.end), default=len(text))
        excerpts[max(start, before), min(end, after)] = sentence
    return sorted(excerpts.items())


def around(text: str, part: Offsets, highlight: Highlight, longest: int) -> Offsets:
    """At most `longest` characters of a part of a text, around a highlight in it, cut between words."""
    start, end = part
    if end - start <= longest:
        return part
    first = max(start, min(highlight.start - longest // 2, end - longest))
    last = min(first + longest, end)
    if first > start and (blank := _BLANK.search(text, first, highlight.start)):
        first = blank.end()
    if last < end and (blanks := list(_BLANK.finditer(text, highlight.end, last))):
        last = blanks[-1].start()
    return first, last


def excerpt_block(text: str, offsets: Offsets, highlights: Sequence[Highlight], whole: Offsets) -> Markup:
    """A part of one text with its highlights; dots stand where the sentence or text that it is cut from goes on."""
    start, end = offsets
    inside = [
        replace(highlight, segment=0, start=max(highlight.start, start) - start, end=min(highlight.end, end) - start)
        for highlight in highlights
        if highlight.start < end and highlight.end > start
    ]
    dots = element("span", "…", class_="pl-cut", aria_hidden="true")
    before, after = text[whole[0] : start].strip(), text[end : whole[1]].strip()
    return segment_block(text[start:end], inside, dots if before else None, dots if after else None)


def _excerpt(text: str, offsets: Offsets, sentence: Offsets, highlights: Sequence[Highlight]) -> Markup:
    position = element("small", f"{100 * offsets[0] // len(text)} % into the text", class_="pl-which")
    return element("div", position, excerpt_block(text, offsets, highlights, sentence))
