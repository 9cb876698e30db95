"""Windows: how a text longer than the model is read: in overlapping parts, each between the special tokens.

The model's answer to such a text is the mean of its answers to the windows, and so are the scores.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from pellucid.core.foundation.errors import BadInput
from pellucid.core.passes.batch import Batch, Row, Window
from pellucid.core.text.units import SPECIAL

OVERLAP = 1 / 8  # of a window's room for text, so that a word near a border has its neighbours in one window


def windows_of(row: Row, max_length: int) -> tuple[Window, ...]:
    """The windows of an unedited row of more than max_length pieces, cut between words where that is possible.

    Of a pair, a text that takes less than half of the room stands in every window; two long texts are read in
    all combinations. Raises `BadInput` when the model has no room for text.
    """
    if len(row) <= max_length:
        return ()
    texts = sorted(set(row.segments) - {SPECIAL})
    places = [[n for n, segment in enumerate(row.segments) if segment == text] for text in texts]
    rooms = _rooms([len(inside) for inside in places], max_length - row.segments.count(SPECIAL))
    cuts = [
        [
            (inside[first], inside[last - 1] + 1)
            for first, last in _cuts([row.word_index[n] for n in inside], room)
        ]
        for inside, room in zip(places, rooms, strict=True)
    ]
    specials = [(n, n + 1) for n, segment in enumerate(row.segments) if segment == SPECIAL]
    return tuple(tuple(sorted([*specials, *chosen])) for chosen in product(*cuts))


def _rooms(lengths: Sequence[int], room: int) -> list[int]:
    """How many pieces of each text a window holds."""
    if room < 2 * len(lengths):
        raise BadInput(
            f"The model reads only {max(room, 0)} pieces of text at once; that is too few for windows."
        )
    if len(lengths) == 1:
        return [room]
    shorter = min(*lengths, room // 2)
    return [shorter, room - shorter] if lengths[0] <= lengths[1] else [room - shorter, shorter]


def _cuts(words: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Stretches [first, last) of at most room pieces that cover a text and overlap by about an eighth of the room."""
    if len(words) <= room:
        return [(0, len(words))]
    overlap = int(OVERLAP * room)
    steps = -(-(len(words) - room) // (room - overlap))  # as few as possible, then spread evenly
    cuts = []
    for step in range(steps + 1):
        first = _border(words, step * (len(words) - room) // steps, overlap // 2, 1)
        last = min(first + room, len(words))
        cuts.append((first, _border(words, last, overlap // 2, -1)))
    return cuts


def _border(words: Sequence[int], place: int, reach: int, step: int) -> int:
    """The first place between two words from here on; here, when there is none within reach."""
    for border in range(place, place + step * (reach + 1), step):
        if border in (0, len(words)) or words[border - 1] != words[border]:
            return border
    return place


def pieces_in(row: Row, window: Window) -> tuple[int, ...]:
    """The numbers of a row's pieces that stand in a window."""
    place = lambda position: bisect_left(row.positions, position)  # noqa: E731
    return tuple(number for first, last in window for number in range(place(first), place(last)))


def window_row(row: Row, window: Window) -> Row:
    """A window as a row of its own: what lies between its stretches is cut out, gaps inside them stay gaps."""
    kept = row.keep(pieces_in(row, window))
    starts, shifts, before = [], [], 0
    for first, last in window:
        starts.append(first)
        shifts.append(first - before)
        before += last - first
    positions = tuple(p - shifts[bisect_left(starts, p + 1) - 1] for p in kept.positions)
    return replace(kept, positions=positions, windows=(), numbers=kept.own_numbers)


def rows_of(row: Row) -> list[Row]:
    """The rows that the model reads for a row: itself, or its windows."""
    return [window_row(row, window) for window in row.windows] or [row]


def in_windows(batch: Batch) -> tuple[Batch, tuple[int, ...]]:
    """A batch whose rows the model can read, and for each of them the number of the example it belongs to."""
    parts = [
        (number, pieces_in(row, window) if window else None, window)
        for number, row in enumerate(batch.rows)
        for window in (row.windows or (None,))
    ]
    owners = tuple(number for number, _, _ in parts)
    whole = batch.select(owners)
    return (
        Batch(
            whole.examples,
            tuple(
                window_row(whole.rows[n], window) if window else whole.rows[n]
                for n, (_, _, window) in enumerate(parts)
            ),
            tuple(
                whole.units[n].take(part) if part else whole.units[n] for n, (_, part, _) in enumerate(parts)
            ),
            batch.special,
            tuple(part for _, part, _ in parts),
            whole.rows,
            whole.units,
        ),
        owners,
    )
