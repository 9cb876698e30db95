"""Words with near vectors in a model's own table of word vectors, by cosine."""

from functools import cached_property, lru_cache

import tokenizers
import torch
from torch import Tensor

from pellucid.core.passes.model import Model
from pellucid.models.classifiers.classifier import Classifier

MOST = 100  # neighbours of a word that are remembered
MOST_WORDS = 4096


class WordNeighbours:
    """The words of a tokenizer's vocabulary that are one piece each, and the cosines of their vectors."""

    def __init__(self, model: Model, tokenizer: tokenizers.Tokenizer) -> None:
        self.model, self.tokenizer = model, tokenizer
        self._near = lru_cache(MOST_WORDS)(self._computed)

    @property
    def digest(self) -> str:
        """Nothing of its own: the vectors are in the model's hash."""
        return ""

    def near(self, word: str) -> list[tuple[str, float]]:
        """(word, cosine) of the hundred nearest words, nearest first, without the word itself in another case; a word of several pieces
        has the mean of their vectors.
        """
        return self._near(word)

    def vector(self, word: str) -> Tensor | None:
        """[width]: the mean vector of a word's pieces; None where the tokenizer makes nothing of it."""
        ids = self.tokenizer.encode(f" {word}", add_special_tokens=False).ids
        if not ids:
            return None
        return self.model.embed(torch.tensor(ids, device=self.model.device)).detach().float().mean(0)

    def _computed(self, word: str) -> list[tuple[str, float]]:
        own = self.vector(word)
        if own is None:
            return []
        words, vectors = self._table
        cosines = vectors @ torch.nn.functional.normalize(own, dim=0)
        best = cosines.topk(min(MOST + 1, len(words)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        different = ((words[number], cosine) for number, cosine in pairs)
        return [(other, cosine) for other, cosine in different if other.casefold() != word.casefold()][:MOST]

    @cached_property
    def words(self) -> tuple[list[str], list[int]]:
        """The words of the vocabulary that are one piece each, and their ids."""
        ids = self.model.vocabulary.tolist()
        texts = [self.tokenizer.decode([number]).strip() for number in ids]
        whole = [number for number, text in enumerate(texts) if len(text) > 1 and text.isalpha()]
        again = self.tokenizer.encode_batch(
            [f" {texts[number]}" for number in whole], add_special_tokens=False
        )
        own = [number for number, pieces in zip(whole, again, strict=True) if pieces.ids == [ids[number]]]
        return [texts[number] for number in own], [ids[number] for number in own]

    @cached_property
    def _table(self) -> tuple[list[str], Tensor]:
        """The words, and [word width] their vectors of length 1."""
        words, ids = self.words
        vectors = self.model.embed(torch.tensor(ids, device=self.model.device)).detach().float()
        return words, torch.nn.functional.normalize(vectors, dim=1)


def word_neighbours(model: Model) -> WordNeighbours | None:
    """Neighbours by the model's own vectors; None for a model without a tokenizer or without such vectors."""
    if not isinstance(model, Classifier) or "gradient" not in model.capabilities or model.embedding is None:
        return None
    return WordNeighbours(model, model.tokenizer.backend_tokenizer)
