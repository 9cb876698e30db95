"""Words with near vectors in a file of word vectors, such as GloVe's, fastText's or counter-fitted ones, by cosine."""

from functools import cached_property, lru_cache
from pathlib import Path

import torch
from torch import Tensor

from pellucid.core.foundation.json_text import file_digest
from pellucid.models.composed.vector_file import all_vectors
from pellucid.models.word_neighbours import MOST, MOST_WORDS


class FileNeighbours:
    """The words of a file that are letters alone, and the cosines of their vectors. A word that the file lacks is looked up in lower case."""

    def __init__(self, path: Path) -> None:
        """Raises `BadFile` for a missing file, or a broken line, with its number."""
        words, vectors = all_vectors(path)
        usable = [number for number, word in enumerate(words) if len(word) > 1 and word.isalpha()]
        self.path, self.words = path, [words[number] for number in usable]
        self.vectors = vectors[usable]
        self._near = lru_cache(MOST_WORDS)(self._computed)

    @cached_property
    def digest(self) -> str:
        """Of the file's content."""
        return file_digest(self.path)

    def near(self, word: str) -> list[tuple[str, float]]:
        """(word, cosine) of the hundred nearest words, nearest first; none for a word that the file does not have."""
        return self._near(word)

    def vector(self, word: str) -> Tensor | None:
        """[width]; None for a word that the file does not have."""
        number = self._numbers.get(word, self._numbers.get(word.lower()))
        return None if number is None else self.vectors[number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {
            word: number for number, word in reversed(list(enumerate(self.words)))
        }  # the first of equal ones

    @cached_property
    def _directions(self) -> Tensor:
        return torch.nn.functional.normalize(self.vectors, dim=1)

    def _computed(self, word: str) -> list[tuple[str, float]]:
        own = self.vector(word)
        if own is None:
            return []
        cosines = self._directions @ torch.nn.functional.normalize(own, dim=0)
        best = cosines.topk(min(MOST + 3, len(self.words)))  # the word itself may stand there in other cases
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        others = ((self.words[number], cosine) for number, cosine in pairs)
        return [(other, cosine) for other, cosine in others if other.casefold() != word.casefold()][:MOST]
