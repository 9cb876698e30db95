"""The pieces of models that are functions of texts: from a text to a row of numbers, and from an edited row back to a text.

A text's pieces are its words, each with the white space before it; an edited text is what is left of them.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

from pellucid.base.errors import ModelCannot
from pellucid.run.batch import Row
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Units, text_units

Text = str | tuple[str, str]
BETWEEN = 0  # the id of what stands between the texts of a pair
FIRST, LATER = 1, 0  # token types: whether a piece begins its text, and so keeps the white space before it


@dataclass(frozen=True)
class NumberedPieces:
    """The pieces that one model has read, by number."""

    by_number: dict[int, str] = field(default_factory=lambda: {BETWEEN: ""})

    def encode(self, example: Example, reader: str) -> tuple[Row, Units]:
        """The row of an example and its units; reader: what messages call the model."""
        columns: list[tuple[int, int, int, int, str]] = []  # id, segment, start, end, label
        for segment, text in enumerate(example.segments):
            if segment:
                columns.append((BETWEEN, SPECIAL, 0, 0, "⫽"))
            before, words = 0, text_units(text, "word")
            for number, (start, end) in enumerate(words, start=1):
                upto = (
                    len(text) if number == len(words) else end
                )  # the last word keeps the white space after it
                piece = self.number(text[before:upto], reader)
                columns.append((piece, segment, start, end, text[start:end]))
                before = end
        ids, segments, starts, ends, labels = zip(*columns, strict=True)
        word_index = tuple(SPECIAL if segment == SPECIAL else n for n, segment in enumerate(segments))
        types = tuple(FIRST if here != there else LATER for here, there in pairwise((None, *segments)))
        row = Row(ids, types, tuple(range(len(ids))), word_index, segments)
        return row, Units("piece", labels, segments, starts, ends)

    def number(self, piece: str, reader: str) -> int:
        """The number of a piece, remembered for `text_of`; raises `ModelCannot` where two pieces have the same one."""
        number = number_of(piece)
        other = self.by_number.setdefault(number, piece)
        if other != piece:
            raise ModelCannot(
                f"{reader}: the pieces {other!r} and {piece!r} have the same number and cannot be read by one model; "
                "explain their texts with two models."
            )
        return number

    def text_of(self, row: Row) -> Text:
        """What is left of an edited text, or of a pair."""
        texts = [""]
        for number, kind in zip(row.ids, row.types, strict=True):
            if number == BETWEEN:
                texts.append("")
            else:
                piece = self.by_number[number]
                texts[-1] += piece if texts[-1] or kind == FIRST else piece.lstrip()
        return texts[0] if len(texts) == 1 else (texts[0], texts[1])


def number_of(piece: str) -> int:
    """A number from 0 to 2**63 - 1 by the piece's characters alone, so that random draws depend on nothing else."""
    digest = blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & (2**63 - 1)
