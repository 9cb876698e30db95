"""Edits of a text: other words at places of the original text, which stays the measure of all offsets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
