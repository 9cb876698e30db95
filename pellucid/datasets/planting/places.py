"""Places between the words of a text, and words put there; all else of the text stays as it was."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Rationale

_BETWEEN_BLANKS = re.compile(r"\S+")


class Place(NamedTuple):
    """Before word number `gap` of a text, as blanks separate words, or after its last; sorts in reading order."""

    segment: int
    gap: int


class Put(NamedTuple):
    """Made-up words, with blanks between them, at a place; causes: whether they are part of the reason."""

    place: Place
    words: str
    causes: bool = True


class Planting(NamedTuple):
    """What a reason puts into a text for its label, and the smallest edit of that for the other label."""

    now: Sequence[Put]
    edited: Sequence[Put]


def places_in(segments: Sequence[str]) -> list[Place]:
    """All places of one text or a pair, in reading order."""
    return [
        Place(number, gap)
        for number, text in enumerate(segments)
        for gap in range(len(_BETWEEN_BLANKS.findall(text)) + 1)
    ]


def some_of(places: Sequence[Place], count: int, draw: Random) -> list[Place]:
    """Different places, in reading order; raises `BadInput` where there are too few."""
    if len(places) < count:
        raise BadInput(
            f"{len(places)} places for words are too few, {count} are needed; leave such texts out."
        )
    return sorted(draw.sample(places, count))


def with_words(segments: Sequence[str], puts: Sequence[Put]) -> tuple[str, ...]:
    """The texts with the words put in, each set off by one blank; at the same place they keep their order."""
    return tuple(
        _filled(text, [put for put in puts if put.place.segment == number])
        for number, text in enumerate(segments)
    )


def _filled(text: str, puts: Sequence[Put]) -> str:
    found = [match.span() for match in _BETWEEN_BLANKS.finditer(text)]
    for gap in sorted(
        {put.place.gap for put in puts}, reverse=True
    ):  # from the end: earlier places stay valid
        words = " ".join(put.words for put in puts if put.place.gap == gap)
        if gap < len(found):
            start = found[gap][0]
            text = f"{text[:start]}{words} {text[start:]}"
        else:
            end = found[-1][1]
            text = f"{text[:end]} {words}{text[end:]}"
    return text


def stretches(segments: Sequence[str], words: Sequence[str]) -> tuple[Rationale, ...]:
    """Where these words stand between blanks; made-up words stand nowhere but where they were put."""
    if not words:
        return ()
    wanted = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, words))})(?!\S)")
    return tuple(
        Rationale(number, *match.span())
        for number, text in enumerate(segments)
        for match in wanted.finditer(text)
    )
