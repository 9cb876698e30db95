"""Train texts with some words exchanged for synonyms, part for part as long as before, so that weights of both can be compared."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from pellucid.core.foundation.errors import BadFile, BadSetting
from pellucid.core.lexicon.inflection import likeliest_synonym
from pellucid.core.lexicon.wordnet import DEBIAN, shared_wordnet
from pellucid.core.passes.batch import Row
from pellucid.core.text.content_words import is_content_word
from pellucid.core.text.example import Example
from pellucid.core.text.units import coarsen
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.objective import ObjectiveContext

Exchange = tuple[
    int, int, int, str
]  # characters [start, end) of a text, and what stands there instead: segment, start, end, word


class SynonymRows:
    """Rows with synonyms; reader: knows the pieces of each text. Raises `BadSetting`, which names the package, where WordNet is not installed."""

    def __init__(self, context: ObjectiveContext, reader: SpanReader) -> None:
        self.context, self.reader = context, reader
        try:
            wordnet = shared_wordnet(DEBIAN)
        except BadFile as error:
            raise BadSetting(f"reading='synonyms' needs a dictionary: {error}") from None
        self.synonym = lru_cache(None)(
            lambda word: likeliest_synonym(word, wordnet) if is_content_word(word) else None
        )

    def row(self, index: int, unit: str, order: Sequence[int], count: int) -> Row:
        """A text with at most so many words exchanged; one whose synonym has another number of parts stays.

        order: the pieces that may be exchanged, those of the words to come first in front; a word needs all its pieces among them.
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
            (min(ranks[piece] for piece in own), word)
            for word, own in zip(words.content, pieces, strict=True)
            if ranks.keys() >= {*own}
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
