"""The rows that a lens is trained on: texts encoded and, where they are long, cut between words."""

from collections.abc import Sequence

from pellucid.core.foundation.errors import BadInput
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.windows import pieces_in, window_row, windows_of
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL

AT_ONCE = 256  # texts that are encoded at once: their units take more memory than their rows
FEWEST = 2  # pieces of text in a row: one is hidden, another says what it may be


def lens_rows(model: Model, examples: Sequence[Example], sequence_length: int, part: str) -> list[Row]:
    """Rows of at most so many pieces, in the order of the texts; those with fewer than two pieces of text are left out.

    part: what a message calls the texts. Raises `BadInput` where no row is left.
    """
    rows = [
        short
        for first in range(0, len(examples), AT_ONCE)
        for row in model.encode(examples[first : first + AT_ONCE]).rows
        for short in _cut(row, sequence_length)
        if len(content_of(short)) >= FEWEST
    ]
    if not rows:
        raise BadInput(
            f"The {part} part has no text of {FEWEST} pieces or more, of which one could be hidden; give "
            f"{'longer texts' if examples else 'more texts'}."
        )
    return rows


def content_of(row: Row) -> list[int]:
    """The numbers of a row's pieces of text; special tokens are none."""
    return [number for number, segment in enumerate(row.segments) if segment != SPECIAL]


def evenly(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows, taken evenly from all of them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[number * len(rows) // most] for number in range(most)]


def _cut(row: Row, sequence_length: int) -> list[Row]:
    """A row in parts of at most so many pieces, or of as many as the model reads at once if that is fewer."""
    at_once = max((len(pieces_in(row, window)) for window in row.windows), default=sequence_length)
    windows = windows_of(row, min(sequence_length, at_once))
    return [window_row(row, window) for window in windows] or [row]
