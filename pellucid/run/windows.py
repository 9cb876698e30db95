"""Windows: a text longer than the model reads is cut into overlapping parts, each with the special tokens around it.

The model's answer to such a text is the mean of its answers to the windows. The scores are means over windows likewise.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from pellucid.base.errors import BadInput
from pellucid.run.batch import Batch, Row, Window
from pellucid.text.units import SPECIAL

OVERLAP = 1 / 8  # of the pieces of text in a window, so that a word near a border has its neighbours in one window


def windows_of(row: Row, max_length: int) -> tuple[Window, ...]:
    """The windows of an unedited row of more than max_length pieces, cut between words where that is possible.

    Where one text of a pair takes less than half of a window, it is in every window, whole; two long texts are cut into
    parts, and each part of one is read with each part of the other. Raises `BadInput` when the model reads too few
    pieces.
    """
    if len(row) <= max_length:
        return ()
    texts = sorted(set(row.segments) - {SPECIAL})
    positions = [[n for n, segment in enumerate(row.segments) if segment == text] for text in texts]
    most = _most_pieces([len(of_text) for of_text in positions], max_length - row.segments.count(SPECIAL))
    cuts = [
        [(of_text[first], of_text[last - 1] + 1) for first, last in _cuts([row.word_index[n] for n in of_text], pieces)]
        for of_text, pieces in zip(positions, most, strict=True)
    ]
    specials = [(n, n + 1) for n, segment in enumerate(row.segments) if segment == SPECIAL]
    return tuple(tuple(sorted([*specials, *parts])) for parts in product(*cuts))


def _most_pieces(lengths: Sequence[int], most: int) -> list[int]:
    """How many pieces of each text a window has; lengths: of the texts; most: pieces of text in a window."""
    if most < 2 * len(lengths):
        raise BadInput(f"The model reads only {max(most, 0)} pieces of text at once; that is too few for windows.")
    if len(lengths) == 1:
        return [most]
    shorter = min(*lengths, most // 2)
    return [shorter, most - shorter] if lengths[0] <= lengths[1] else [most - shorter, shorter]


def _cuts(word_index: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Ranges [first, last) of at most this many pieces that cover a text; neighbours overlap by about an eighth."""
    count = len(word_index)
    if count <= most:
        return [(0, count)]
    overlap = int(OVERLAP * most)
    steps = -(-(count - most) // (most - overlap))  # as few as possible, then spread evenly
    cuts = []
    for step in range(steps + 1):
        first = _border(word_index, step * (count - most) // steps, overlap // 2, 1)
        last = min(first + most, count)
        cuts.append((first, _border(word_index, last, overlap // 2, -1)))
    return cuts


def _border(word_index: Sequence[int], start: int, reach: int, step: int) -> int:
    """The first index between two words, from start on in this direction; start, when there is none within reach."""
    for border in range(start, start + step * (reach + 1), step):
        if border in (0, len(word_index)) or word_index[border - 1] != word_index[border]:
            return border
    return start


def pieces_in(row: Row, window: Window) -> tuple[int, ...]:
    """The numbers of a row's pieces that are in a window."""
    number_of = lambda position: bisect_left(row.positions, position)  # noqa: E731
    return tuple(piece for first, last in window for piece in range(number_of(first), number_of(last)))


def window_row(row: Row, window: Window) -> Row:
    """A window as a row of its own: what lies between its ranges is cut out, gaps inside its ranges stay gaps."""
    pieces = row.keep(pieces_in(row, window))
    starts, shifts, before = [], [], 0
    for first, last in window:
        starts.append(first)
        shifts.append(first - before)
        before += last - first
    positions = tuple(p - shifts[bisect_left(starts, p + 1) - 1] for p in pieces.positions)
    return replace(pieces, positions=positions, windows=(), numbers=pieces.own_numbers)


def rows_of(row: Row) -> list[Row]:
    """The rows that the model reads for a row: itself, or its windows."""
    return [window_row(row, window) for window in row.windows] or [row]


def in_windows(batch: Batch) -> tuple[Batch, tuple[int, ...]]:
    """A batch whose rows the model can read, and for each of its rows the number of the example that it belongs to."""
    windows = [window for row in batch.rows for window in (row.windows or (None,))]
    owners = tuple(example for example, row in enumerate(batch.rows) for _ in (row.windows or (None,)))
    whole = batch.select(owners)
    pairs = list(zip(whole.rows, windows, strict=True))
    parts = tuple(pieces_in(row, window) if window else None for row, window in pairs)
    return (
        Batch(
            whole.examples,
            tuple(window_row(row, window) if window else row for row, window in pairs),
            tuple(units.take(part) if part else units for units, part in zip(whole.units, parts, strict=True)),
            batch.special,
            parts,
            whole.rows,
            whole.units,
        ),
        owners,
    )
