"""A text as it is read a second time, changed where its heaviest span is not: words hidden, synonyms, or a part of the text alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pellucid.core.passes.batch import Operator, Row, edit
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.evidence.synonym_rows import SynonymRows
from pellucid.training.objective import ObjectiveContext

Reading = Literal["hidden", "synonyms", "window"]
READINGS = ("hidden", "synonyms", "window")


@dataclass(frozen=True)
class SecondReading:
    """row: what is read. first: the number of the first part that is read; the others follow it without a gap."""

    row: Row
    first: int = 0


class SecondReadings:
    """The second readings of train texts.

    reading: "hidden" writes the mask token over some parts (the pad token where there is no mask token), "synonyms" exchanges words for
    WordNet's synonyms, "window" leaves only neighbouring parts. share: of a text's parts that are hidden or left out, or as many words
    that are exchanged.
    """

    def __init__(self, context: ObjectiveContext, reading: Reading, share: float) -> None:
        self.train, self.reading, self.share = context.train, reading, share
        self.reader = SpanReader(context.train)
        self.operator: Operator = "pad" if context.train.special.mask is None else "mask"
        self.synonyms = SynonymRows(context, self.reader) if reading == "synonyms" else None

    def of(self, index: int, unit: str, heaviest: range, points: Sequence[float]) -> SecondReading:
        """How a text is read again. heaviest: its heaviest span, as numbers of parts. points: a random number from 0 to 1 for each piece."""
        row, pieces = self.train.rows[index], self.reader.pieces(index, unit)
        others = [part for part in range(len(pieces)) if part not in heaviest]
        count = min(len(others), max(1, round(self.share * len(pieces))))
        if not count or not self.share:
            return SecondReading(row)
        if self.reading == "window":
            return self._window(index, unit, heaviest, len(pieces) - count, points[0])
        order = sorted(others, key=lambda part: points[pieces[part][0]])
        if self.synonyms is not None:
            free = [piece for part in order for piece in pieces[part]]
            return SecondReading(self.synonyms.row(index, unit, free, count))
        hidden = [piece for part in order[:count] for piece in pieces[part]]
        return SecondReading(edit(row, hidden, self.operator, self.train.special))

    def _window(self, index: int, unit: str, heaviest: range, size: int, point: float) -> SecondReading:
        """So many neighbouring parts, among which is the heaviest span; every place is equally likely."""
        parts = len(self.reader.pieces(index, unit))
        lowest, highest = max(0, heaviest.stop - size), min(heaviest.start, parts - size)
        first = lowest + int(point * (highest - lowest + 1))
        return SecondReading(self.reader.only(index, unit, frozenset(range(first, first + size))), first)
