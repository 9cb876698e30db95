"""The gaps between the words of a text, and made-up words inserted there; the rest of the text does not change."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Rationale

_BETWEEN_BLANKS = re.compile(r"\S+")


class Gap(NamedTuple):
    """The gap before a word of a text, by the word's number, or after its last word; blanks separate words.

    Gaps sort in reading order.
    """

    segment: int
    before: int


class Insertion(NamedTuple):
    """Made-up words, with blanks between them, in a gap; causes: whether they are part of the reason."""

    gap: Gap
    words: str
    causes: bool = True


class Planting(NamedTuple):
    """What a reason inserts for a text's label; edited: the same after the smallest edit that changes the label."""

    insertions: Sequence[Insertion]
    edited: Sequence[Insertion]


def gaps_in(segments: Sequence[str]) -> list[Gap]:
    """All gaps of one text or a pair, in reading order."""
    return [
        Gap(number, index)
        for number, text in enumerate(segments)
        for index in range(len(_BETWEEN_BLANKS.findall(text)) + 1)
    ]


def draw_gaps(gaps: Sequence[Gap], count: int, draw: Random) -> list[Gap]:
    """`count` different gaps drawn at random, in reading order; raises `BadInput` where there are too few."""
    if len(gaps) < count:
        raise BadInput(f"{len(gaps)} places for words are too few, {count} are needed; leave such texts out.")
    return sorted(draw.sample(gaps, count))


def insert_words(segments: Sequence[str], insertions: Sequence[Insertion]) -> tuple[str, ...]:
    """The texts with the words inserted, one blank between words; insertions in one gap keep their order."""
    return tuple(
        _filled(text, [insertion for insertion in insertions if insertion.gap.segment == number])
        for number, text in enumerate(segments)
    )


def _filled(text: str, insertions: Sequence[Insertion]) -> str:
    spans = [match.span() for match in _BETWEEN_BLANKS.finditer(text)]
    indices = {insertion.gap.before for insertion in insertions}
    for index in sorted(indices, reverse=True):  # from the end, so that earlier offsets stay valid
        words = " ".join(insertion.words for insertion in insertions if insertion.gap.before == index)
        if index < len(spans):
            start = spans[index][0]
            text = f"{text[:start]}{words} {text[start:]}"
        else:
            end = spans[-1][1]
            text = f"{text[:end]} {words}{text[end:]}"
    return text


def occurrences(segments: Sequence[str], words: Sequence[str]) -> tuple[Rationale, ...]:
    """Every place where these words stand between blanks; made-up words stand only where they were inserted."""
    if not words:
        return ()
    wanted = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, words))})(?!\S)")
    return tuple(
        Rationale(number, *match.span())
        for number, text in enumerate(segments)
        for match in wanted.finditer(text)
    )
