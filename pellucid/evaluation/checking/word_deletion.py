"""Texts without some of their words, as a person would delete them."""

from collections.abc import Collection
from dataclasses import replace

from pellucid.core.text.example import Example
from pellucid.core.text.tied_units import drawn_order
from pellucid.core.text.units import text_units
from pellucid.evaluation.checking.scored_text import ScoredText

Place = tuple[int, int, int]  # segment, first character, the one after the last


def word_places(example: Example) -> list[Place]:
    """Where the words of an example stand, in reading order."""
    return [
        (segment, start, end)
        for segment, text in enumerate(example.segments)
        for start, end in text_units(text, "word")
    ]


def without_highest(example: Example, text: ScoredText, share: float) -> Example:
    """The example without its highest-scored words, at least one and never all of a segment, and without marks.

    share: of the words. Equal scores at the edge are chosen by a draw from the text's words. An example whose words are not those that were scored stays as it is.
    """
    places = word_places(example)
    if len(places) != len(text.scores):
        return replace(example, rationales=())
    count = max(1, round(share * len(places)))
    return without_words(example, [places[word] for word in drawn_order(text.scores, text.words)[:count]])


def without_words(example: Example, removed: Collection[Place]) -> Example:
    """The example without these words, never all of a segment, and without marks."""
    segments = tuple(
        _without(segment, {(start, end) for of, start, end in removed if of == number})
        for number, segment in enumerate(example.segments)
    )
    return replace(example, segments=segments, rationales=())


def _without(text: str, removed: Collection[tuple[int, int]]) -> str:
    """The text without these ranges, with single blanks; as it was where nothing would be left."""
    rest = list(text)
    for start, end in removed:
        rest[start:end] = " " * (end - start)
    return " ".join("".join(rest).split()) or text
