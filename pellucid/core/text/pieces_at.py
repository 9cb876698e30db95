"""The units that share a character with a place in a text."""

from typing import Protocol

from pellucid.core.text.units import Units


class Characters(Protocol):
    """Characters [start, end) of a segment."""

    @property
    def segment(self) -> int:
        """The number of the text."""
        ...

    @property
    def start(self) -> int:
        """The first character."""
        ...

    @property
    def end(self) -> int:
        """Behind the last character."""
        ...


def pieces_at(units: Units, place: Characters) -> list[int]:
    """The numbers of the content units that share a character with a place, in order."""
    return [
        piece
        for piece in units.content
        if units.segment[piece] == place.segment
        and units.start[piece] < place.end
        and units.end[piece] > place.start
    ]
