"""Spans drawn by a model's own weights, and how likely each draw was: so the weights learn from what the drawn spans
do.

Williams (1992), "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning": the
gradient of an expected cost is the expectation of (cost - baseline) x gradient of the log-probability of the draw.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from pellucid.base.errors import BadFile, BadSetting
from pellucid.run.batch import Batch, Operator, Row, edit
from pellucid.run.read_alone import Pieces, only, without
from pellucid.run.trace import SpanTrace
from pellucid.text.example import Example
from pellucid.text.inflection import likeliest_synonym
from pellucid.text.lexicon import is_content_word
from pellucid.text.units import coarsen
from pellucid.text.wordnet import shared_wordnet
from pellucid.training.objective import ObjectiveContext


@dataclass(frozen=True, eq=False)
class DrawnSpans:
    """Spans of some texts, some for each, with repetition.

    parts: for each text the set of parts that its spans cover. log_chance: [example], of the draw, with a graph.
    """

    parts: Sequence[frozenset[int]]
    log_chance: Tensor


def drawn_spans(trace: SpanTrace, points: Tensor) -> DrawnSpans:
    """Draw a span for each point by the weights. points: [example span], from 0 to below 1.

    Every text needs a span. The draw does not depend on padding: spans are counted row by row, and what is no span has
    no weight.
    """
    reached = trace.weights.detach().flatten(1).double().cpu().cumsum(1)
    numbers = torch.searchsorted(reached, points * reached[:, -1:], right=True)
    numbers.clamp_(max=reached.shape[1] - 1)
    width = trace.scores.shape[-1]
    parts = [
        frozenset(part for span_number in span_numbers for part in range(span_number // width, span_number % width + 1))
        for span_numbers in numbers.tolist()
    ]
    scores = trace.scores.flatten(1).gather(1, numbers.to(trace.scores.device))
    return DrawnSpans(parts, (scores - trace.log_normaliser[:, None]).sum(1))


def of_examples(trace: SpanTrace, numbers: Sequence[int]) -> SpanTrace:
    """The trace of these examples."""
    index = torch.tensor(numbers, dtype=torch.long, device=trace.scores.device)
    counts = tuple(trace.parts[example] for example in numbers)
    return SpanTrace(trace.scores[index], trace.log_normaliser[index], counts, trace.unit, trace.width)


def reinforced_costs(costs: Tensor, baselines: Tensor, log_chance: Tensor) -> Tensor:
    """The costs, with the gradient of their expectation: through what computed them, and through the draw.

    All are [...]. The value is that of the costs.
    """
    advantages = (costs - baselines).detach()
    return costs + advantages * (log_chance - log_chance.detach())


class SpanReader:
    """The rows of train texts with only some of their parts, or without them; absent words are not computed."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._pieces: dict[tuple[int, str], Pieces] = {}

    def only(self, index: int, unit: str, parts: frozenset[int]) -> Row:
        """A text with only these parts."""
        return only(self.batch, index, self.pieces(index, unit), parts)

    def without(self, index: int, unit: str, parts: frozenset[int]) -> Row:
        """A text without these parts."""
        return without(self.batch, index, self.pieces(index, unit), parts)

    def pieces(self, index: int, unit: str) -> Pieces:
        """For each part of a text its pieces; the same at every step, so they are looked up once."""
        key = (index, unit)
        if key not in self._pieces:
            self._pieces[key] = self.batch.pieces_of(index, unit)  # type: ignore[arg-type]
        return self._pieces[key]


# Train texts with some words exchanged for synonyms, part for part as long as before, so that weights of both can be
# compared.

Exchange = tuple[
    int, int, int, str
]  # characters [start, end) of a text, and what stands there instead: segment, start, end, word


class SynonymRows:
    """Rows with synonyms; reader: knows the pieces of each text. Raises `BadSetting`, which names the package, where
    WordNet is not installed.
    """

    def __init__(self, context: ObjectiveContext, reader: SpanReader) -> None:
        self.context, self.reader = context, reader
        try:
            wordnet = shared_wordnet()
        except BadFile as error:
            raise BadSetting(f"reading='synonyms' needs a dictionary: {error}") from None
        self.synonym = lru_cache(None)(lambda word: likeliest_synonym(word, wordnet) if is_content_word(word) else None)

    def row(self, index: int, unit: str, order: Sequence[int], count: int) -> Row:
        """A text with at most so many words exchanged; one whose synonym has another number of parts stays.

        order: the pieces that may be exchanged, those of the words to come first in front; a word needs all its pieces
        among them.
        """
        batch, row, exchanges = self.context.train, self.context.train.rows[index], list[Exchange]()
        example, parts = batch.examples[index], len(self.reader.pieces(index, unit))
        for place in self._places(index, order):
            segment, start, end = place
            synonym = self.synonym(example.segments[segment][start:end])
            if len(exchanges) == count or synonym is None:
                continue
            again = self._encoded(exchanged(example, [*exchanges, (*place, synonym)]), unit, parts)
            if again is not None:
                row = again
                exchanges.append((*place, synonym))
        return row

    def _places(self, index: int, order: Sequence[int]) -> list[tuple[int, int, int]]:
        """The words all of whose pieces may be exchanged: segment, start and end."""
        batch, ranks = self.context.train, {piece: rank for rank, piece in enumerate(order)}
        words, _ = coarsen(batch.units[index], "word", batch.examples[index].segments)
        pieces = self.reader.pieces(index, "word")
        free = [
            (min(ranks[piece] for piece in word_pieces), word)
            for word, word_pieces in zip(words.content, pieces, strict=True)
            if ranks.keys() >= {*word_pieces}
        ]
        return [(words.segment[word], words.start[word], words.end[word]) for _, word in sorted(free)]

    def _encoded(self, example: Example, unit: str, parts: int) -> Row | None:
        """The row of an edited text; None where it has another number of parts, or does not fit the model."""
        batch = self.context.classifier.encode([example])
        return batch.rows[0] if len(batch.pieces_of(0, unit)) == parts else None  # type: ignore[arg-type]


def exchanged(example: Example, exchanges: Collection[Exchange]) -> Example:
    """The example, without marks, with words in the place of others."""
    segments = list(example.segments)
    for segment, start, end, word in sorted(exchanges, reverse=True):
        segments[segment] = segments[segment][:start] + word + segments[segment][end:]
    return replace(example, segments=tuple(segments), rationales=())


# A text as it is read a second time, changed where its heaviest span is not: words hidden, synonyms, or a part of the
# text alone.

Reading = Literal["hidden", "synonyms", "window"]
READINGS = ("hidden", "synonyms", "window")


@dataclass(frozen=True)
class SecondReading:
    """row: what is read. first: the number of the first part that is read; the others follow it without a gap."""

    row: Row
    first: int = 0


class SecondReadings:
    """The second readings of train texts.

    reading: "hidden" writes the mask token over some parts (the pad token where there is no mask token), "synonyms"
    exchanges words for WordNet's synonyms, "window" leaves only neighbouring parts. share: of a text's parts that are
    hidden or left out, or as many words that are exchanged.
    """

    def __init__(self, context: ObjectiveContext, reading: Reading, share: float) -> None:
        self.train, self.reading, self.share = context.train, reading, share
        self.reader = SpanReader(context.train)
        self.operator: Operator = "pad" if context.train.special.mask is None else "mask"
        self.synonyms = SynonymRows(context, self.reader) if reading == "synonyms" else None

    def second_reading(self, index: int, unit: str, heaviest: range, points: Sequence[float]) -> SecondReading:
        """How a text is read again. heaviest: its heaviest span, as numbers of parts. points: a random number from 0 to
        1 for each piece.
        """
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
