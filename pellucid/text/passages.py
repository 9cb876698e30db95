"""Parts of a text: passages, the turns of a chat, the place of an answer, and what is never taken out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from pellucid.base.checks import listed, listed_members, quoted
from pellucid.base.errors import BadInput, InputReading, notify
from pellucid.text.example import Example, text_digest
from pellucid.text.units import SPECIAL, Units, text_units

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
    if CHAT not in example.meta:
        return ()
    try:
        turns = tuple(Turn(role, start, end) for role, start, end in example.meta.get(CHAT) or ())
        borders = [0, *(border for turn in turns for border in (turn.start, turn.end)), len(example.segments[0])]
    except (TypeError, ValueError):
        return ()
    kinds = all(type(border) is int for border in borders) and all(isinstance(turn.role, str) for turn in turns)
    return turns if kinds and borders == sorted(borders) else ()


# The place that an answer is about, of a model that answers for each piece of a text: an entity, an answer that stands
# in the text, a masked word. `meta["answer_place"]` says where it stands, as plain values.

PLACE = "answer_place"  # its name in meta


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
            f"give the new text without meta[{PLACE!r}], and its places are looked for anew."
        )
    return place


# Words that are never taken out of a text: a template, an instruction, what a role of a chat said.
# `meta["fixed_parts"]` says where they stand, as plain values.

KEEP = "fixed_parts"  # its name in meta
FixedPart = str | re.Pattern[str] | Mapping[str, str]
FORMS = "parts of the texts, re.compile(…), or {'role': 'system'}"


def with_fixed_parts(examples: Sequence[Example], keep: FixedPart | Sequence[FixedPart] | None) -> tuple[Example, ...]:
    """The examples with the parts that stay noted in their meta; raises `BadInput` for a part that is in no text."""
    parts = FixedParts(keep)
    noted = tuple(parts.noted_in(examples))
    parts.check()
    return noted


class FixedParts:
    """Parts that stay in texts that come one after the other; None: none. Raises `BadInput` for what is no part."""

    def __init__(self, keep: FixedPart | Sequence[FixedPart] | None) -> None:
        is_single = isinstance(keep, str | re.Pattern | Mapping)
        parts: Sequence[object] = [] if keep is None else [keep] if is_single else listed_members(keep) or []
        if not parts and keep is not None:
            raise BadInput(f"keep={quoted(keep)} names no part of a text; give {FORMS}.")
        self.parts = [_checked_part(part) for part in parts]
        self.count, self._without = 0, [(0, list[str]()) for _ in parts]  # texts without a part, and the first ids

    def record(self) -> list[Any]:
        """The parts as plain values."""
        return [[part.pattern, part.flags] if isinstance(part, re.Pattern) else part for part in self.parts]

    def noted_in(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples with the parts noted in their meta."""
        for example in examples:
            if not self.parts:
                yield example
                continue
            places = [_places_of(example, part) for part in self.parts]
            self.count += 1
            for index, (n_without, ids) in enumerate(self._without):
                if not places[index]:
                    self._without[index] = n_without + 1, [*ids, example.id][:5]
            yield replace(example, meta={**example.meta, KEEP: sorted(place for each in places for place in each)})

    def check(self) -> None:
        """Of the texts so far: raise `BadInput` for a part that was in none, and say which lack one."""
        for part, (n_without, ids) in zip(self.parts, self._without, strict=True):
            if n_without == self.count:
                raise BadInput(f"keep={quoted(_written(part))} is in none of the {self.count:,} texts; give {FORMS}.")
            if n_without:
                notify(
                    f"keep={quoted(_written(part))} is not in {n_without:,} of {self.count:,} texts ({listed(ids)}), "
                    f"where nothing of it stays.",
                    InputReading,
                )


def _checked_part(part: object) -> FixedPart:
    is_role = isinstance(part, Mapping) and set(part) == {"role"} and isinstance(part["role"], str)
    if not (is_role or (isinstance(part, str) and part.strip()) or isinstance(part, re.Pattern)):
        raise BadInput(f"keep={quoted(part)} names no part of a text; give {FORMS}.")
    return part  # type: ignore[return-value]


def _written(part: FixedPart) -> str:
    """A part as the user wrote it."""
    return part.pattern if isinstance(part, re.Pattern) else part if isinstance(part, str) else f"role {part['role']}"


def _places_of(example: Example, part: FixedPart) -> list[list[Any]]:
    """[segment, start, end, text] of each place where a part stands."""
    if isinstance(part, Mapping):
        turns = [turn for turn in turns_of(example) if turn.role == part["role"]]
        return [[0, turn.start, turn.end, example.segments[0][turn.start : turn.end]] for turn in turns]
    pattern = re.compile(re.escape(part)) if isinstance(part, str) else part
    return [
        [segment, *match.span(), match[0]]
        for segment, text in enumerate(example.segments)
        for match in pattern.finditer(text)
        if match[0]
    ]


def fixed_parts_of(example: Example) -> tuple[tuple[int, int, int, str], ...]:
    """(segment, start, end, text) of each part that stays; none where the meta has something else under that name.

    Raises `BadInput` where the text is another one now.
    """
    try:
        parts = tuple(
            (int(segment), int(start), int(end), str(text)) for segment, start, end, text in example.meta[KEEP]
        )
        stand = [example.segments[segment][start:end] for segment, start, end, _ in parts]
    except (KeyError, TypeError, ValueError, IndexError):
        return ()
    for (*_, text), now in zip(parts, stand, strict=True):
        if now != text:
            raise BadInput(
                f"Example {quoted(example.id)} keeps {quoted(text)}, and another text stands there now; give the new "
                f"text without meta[{KEEP!r}]."
            )
    return parts


def fixed_units(units: Units, example: Example) -> Units:
    """The units, those of parts that stay as special tokens: no method takes them out, and no view scores them."""
    parts, segments = fixed_parts_of(example), list(units.segment)
    if not parts:
        return units
    for segment, start, end, _ in parts:
        for unit, at in enumerate(units.segment):
            if at == segment and units.start[unit] < end and units.end[unit] > start:
                segments[unit] = SPECIAL
    ends = [
        (0, 0) if segment == SPECIAL else pair for segment, *pair in zip(segments, units.start, units.end, strict=True)
    ]
    return replace(units, segment=tuple(segments), start=tuple(a for a, _ in ends), end=tuple(b for _, b in ends))
