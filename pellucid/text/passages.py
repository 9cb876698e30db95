"""Parts of a text: passages that the user names, the turns of a chat, and the place that an answer is about."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.text.example import Example, text_digest
from pellucid.text.units import text_units

Place = tuple[int, int]  # characters [start, end)
Rest = Literal["together", "words"]

# Passages: parts of a text that the user names by their words, such as those that a search has put into a prompt.


def passages_in(example: Example, passages: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The characters [start, end) of each passage in the example's first text, in reading order.

    Blanks around a passage do not count. One that is named twice has to stand there twice. Raises `BadInput` for
    passages that are blank, missing, ambiguous, or overlap.
    """
    text, where = example.segments[0], f"the first text of example {quoted(example.id)}"
    turns = turns_of(example)
    if turns and list(passages) == [text[turn.start : turn.end] for turn in turns]:
        return tuple((turn.start, turn.end) for turn in turns)  # a chat may say the same twice
    places = []
    for passage, wanted in Counter(passage.strip() for passage in passages).items():
        if not passage:
            raise BadInput(f"A passage of example {quoted(example.id)} is blank; name parts of its first text.")
        starts = _starts(text, passage)
        if len(starts) != wanted:
            raise BadInput(_not_there(passage, len(starts), wanted, where))
        places += [(start, start + len(passage)) for start in starts]
    for (first, end), (start, last) in pairwise(sorted(places)):
        if start < end:
            raise BadInput(
                f"The passages {quoted(text[first:end])} and {quoted(text[start:last])} overlap in {where}; name parts "
                f"that do not."
            )
    return tuple(sorted(places))


def with_rest(example: Example, places: Sequence[Place], rest: Rest) -> tuple[Place, ...]:
    """The places of passages, and as "words" those of all words of the first text that stand between them."""
    if rest == "together":
        return tuple(places)
    text, begin, words = example.segments[0], 0, []
    for start, end in (*places, (len(text), len(text))):
        words += [(begin + first, begin + last) for first, last in text_units(text[begin:start], "word")]
        begin = end
    return tuple(sorted((*places, *words)))


def _starts(text: str, passage: str) -> list[int]:
    """Where a passage begins; places that overlap one another are counted once."""
    starts, start = [], text.find(passage)
    while start >= 0:
        starts.append(start)
        start = text.find(passage, start + len(passage))
    return starts


def _not_there(passage: str, count: int, wanted: int, where: str) -> str:
    if not count:
        return f"The passage {quoted(passage)} is not in {where}; give parts of that text as they stand there."
    if count < wanted:
        return f"The passage {quoted(passage)} stands {count} times in {where} and was named {wanted} times."
    return (
        f"The passage {quoted(passage)} stands {count} times in {where}; give more of the text around it, or name "
        f"it {count} times."
    )


# A chat: the first text is what the model's template makes of the messages, and `meta["chat"]` says where each stands.

CHAT = "chat"  # its name in meta


@dataclass(frozen=True)
class Turn:
    """Characters [start, end) of the first text that are what a role said: "system", "user", "assistant", "tool"."""

    role: str
    start: int
    end: int


def turns_of(example: Example) -> tuple[Turn, ...]:
    """The turns of a chat, in order; none for other texts, and where the meta has something else under that name."""
    try:
        turns = tuple(Turn(role, start, end) for role, start, end in example.meta.get(CHAT) or ())
        borders = [0, *(border for turn in turns for border in (turn.start, turn.end)), len(example.segments[0])]
    except (TypeError, ValueError):
        return ()
    kinds = all(type(border) is int for border in borders) and all(isinstance(turn.role, str) for turn in turns)
    return turns if kinds and borders == sorted(borders) else ()


# The place that an answer is about, of a model that answers for each piece of a text: an entity, an answer that stands
# in the text, a masked word. `meta["place"]` says where it stands, as plain values.

PLACE = "place"  # its name in meta


@dataclass(frozen=True)
class AnswerPlace:
    """Characters [start, end) of a segment that a model's answer is about; text: what stands there.

    pieces: for each piece of the row, by its number, that the answer is read from, what is read there
    (`models/classifiers/piece_answers.py`). digest: of the whole texts, of whose pieces these are the numbers.
    """

    segment: int
    start: int
    end: int
    text: str
    pieces: tuple[tuple[int, int], ...]
    digest: str

    def record(self) -> list[Any]:
        """As `meta` keeps it."""
        return [self.segment, self.start, self.end, self.text, [list(pair) for pair in self.pieces], self.digest]


def place_of(example: Example) -> AnswerPlace | None:
    """The place that is asked about; None where there is none. Raises `BadInput` where the text is another one now."""
    record = example.meta.get(PLACE)
    if record is None:
        return None
    try:
        segment, start, end, text, pieces, digest = record
        place = AnswerPlace(segment, start, end, text, tuple((int(piece), int(code)) for piece, code in pieces), digest)
    except (TypeError, ValueError):
        return None
    if digest != text_digest(example):
        raise BadInput(
            f"Example {quoted(example.id)} asks about {quoted(text)} in another text than the one that it has now; "
            f"give the new text without meta['place'], and its places are looked for anew."
        )
    return place
