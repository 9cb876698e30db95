"""Edits of a text: other words at places of the original text, which stays the measure of all offsets; and passages that a user names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pellucid.base.errors import BadInput
from pellucid.base.wording import quoted
from pellucid.text.example import Example


@dataclass(frozen=True, order=True)
class Edit:
    """Characters [start, end) of a segment of the original, `before`, become `after`; after may be empty."""

    segment: int
    start: int
    end: int
    before: str
    after: str

    def overlaps(self, other: "Edit") -> bool:
        """Whether both change a common character, or insert at one place."""
        same_place = (self.segment, self.start, self.end) == (other.segment, other.start, other.end)
        return self.segment == other.segment and (
            same_place or (self.start < other.end and other.start < self.end)
        )


def edited_segments(segments: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """The texts with the edits made; everything else stays byte for byte. Edits must not overlap."""
    result = list(segments)
    for edit in sorted(edits, reverse=True):  # from the end, so that offsets of earlier edits stay right
        text = result[edit.segment]
        result[edit.segment] = text[: edit.start] + edit.after + text[edit.end :]
    return tuple(result)


# Passages: parts of a text that the user names by their words, such as those that a search has put into a
# prompt.


def passages_in(example: Example, passages: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The characters [start, end) of each passage in the example's first text, in reading order.

    Blanks around a passage do not count. One that is named twice has to stand there twice. Raises `BadInput` for passages that
    are blank, missing, ambiguous, or overlap.
    """
    text, where = example.segments[0], f"the first text of example {quoted(example.id)}"
    places = []
    for passage, wanted in Counter(passage.strip() for passage in passages).items():
        if not passage:
            raise BadInput(
                f"A passage of example {quoted(example.id)} is blank; name parts of its first text."
            )
        starts = _starts(text, passage)
        if len(starts) != wanted:
            raise BadInput(_not_there(passage, len(starts), wanted, where))
        places += [(start, start + len(passage)) for start in starts]
    for (first, end), (start, last) in pairwise(sorted(places)):
        if start < end:
            raise BadInput(
                f"The passages {quoted(text[first:end])} and {quoted(text[start:last])} overlap in {where}; name parts that do not."
            )
    return tuple(sorted(places))


def _starts(text: str, passage: str) -> list[int]:
    """Where a passage begins; places that overlap one another are counted once."""
    starts, start = [], text.find(passage)
    while start >= 0:
        starts.append(start)
        start = text.find(passage, start + len(passage))
    return starts


def _not_there(passage: str, count: int, wanted: int, where: str) -> str:
    if not count:
        return (
            f"The passage {quoted(passage)} is not in {where}; give parts of that text as they stand there."
        )
    if count < wanted:
        return f"The passage {quoted(passage)} stands {count} times in {where} and was named {wanted} times."
    return f"The passage {quoted(passage)} stands {count} times in {where}; give more of the text around it, or name it {count} times."
