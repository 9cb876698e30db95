"""Words with near vectors in a model's own table of word vectors, by cosine."""

import importlib.util
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np
import tokenizers
import torch
from torch import Tensor

from pellucid.base.json_text import file_digest
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import MINILM_WHEEL, load_encoder
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.vector_file import all_vectors
from pellucid.models.families.encoder import Encoder
from pellucid.run.model import Model

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
        """(word, cosine) of the hundred nearest words, nearest first, without the word itself in another case; a word
        of several pieces has the mean of their vectors.
        """
        return self._near(word)

    def vector(self, word: str) -> Tensor | None:
        """[width]: the mean vector of a word's pieces; None where the tokenizer makes nothing of it."""
        ids = self.tokenizer.encode(f" {word}", add_special_tokens=False).ids
        if not ids:
            return None
        return self.model.embed(torch.tensor(ids, device=self.model.device)).detach().float().mean(0)

    def release(self) -> None:
        """Let go of the table of vectors, which takes as much memory as the model's own; the next word makes it
        anew.
        """
        self.__dict__.pop("_table", None)

    def _computed(self, word: str) -> list[tuple[str, float]]:
        vector = self.vector(word)
        if vector is None:
            return []
        words, vectors = self._table
        cosines = vectors @ torch.nn.functional.normalize(vector, dim=0)
        best = cosines.topk(min(MOST + 1, len(words)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        others = ((words[index], cosine) for index, cosine in pairs)
        return [(neighbour, cosine) for neighbour, cosine in others if neighbour.casefold() != word.casefold()][:MOST]

    @cached_property
    def words(self) -> tuple[list[str], list[int]]:
        """The words of the vocabulary that are one piece each, and their ids."""
        ids = self.model.vocabulary.tolist()
        texts = [self.tokenizer.decode([piece_id]).strip() for piece_id in ids]
        whole = [index for index, text in enumerate(texts) if len(text) > 1 and text.isalpha()]
        again = self.tokenizer.encode_batch([f" {texts[index]}" for index in whole], add_special_tokens=False)
        single_piece = [index for index, pieces in zip(whole, again, strict=True) if pieces.ids == [ids[index]]]
        return [texts[index] for index in single_piece], [ids[index] for index in single_piece]

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


# Words with near vectors in a file of word vectors, such as GloVe's, fastText's or counter-fitted ones, by cosine.


class FileNeighbours:
    """The words of a file that are letters alone, and the cosines of their vectors. A word that the file lacks is
    looked up in lower case.
    """

    def __init__(self, path: Path) -> None:
        """Raises `BadFile` for a missing file, or a broken line, with its number."""
        words, vectors = all_vectors(path)
        usable = [index for index, word in enumerate(words) if len(word) > 1 and word.isalpha()]
        self.path, self.words = path, [words[index] for index in usable]
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
        index = self._numbers.get(word, self._numbers.get(word.lower()))
        return None if index is None else self.vectors[index]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: index for index, word in reversed(list(enumerate(self.words)))}  # the first of equal ones

    @cached_property
    def _directions(self) -> Tensor:
        return torch.nn.functional.normalize(self.vectors, dim=1)

    def _computed(self, word: str) -> list[tuple[str, float]]:
        vector = self.vector(word)
        if vector is None:
            return []
        cosines = self._directions @ torch.nn.functional.normalize(vector, dim=0)
        best = cosines.topk(min(MOST + 3, len(self.words)))  # the word itself may stand there in other cases
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        others = ((self.words[index], cosine) for index, cosine in pairs)
        return [(neighbour, cosine) for neighbour, cosine in others if neighbour.casefold() != word.casefold()][:MOST]


# What texts mean, as vectors: the mean of all-MiniLM-L6-v2's last states, whose cosine says how alike two texts are.
#
# Reimers & Gurevych (2019), "Sentence-BERT"; the encoder was trained so that the cosine of these means is high for
# texts that say the same.

MOST_TEXTS = 4096  # whose vectors are remembered
MOST_PIECES = 512  # that the encoder reads at once; a longer text is the mean over all of its windows
MOST_AT_ONCE = 1024  # pieces of windows that are read together, blanks that make them as long among them


class SentenceVectors:
    """Vectors of texts, means over all of a text's windows; the encoder is loaded when first used."""

    def __init__(self) -> None:
        self._vector = lru_cache(MOST_TEXTS)(self._computed)

    def similarity(self, first: str, second: str) -> float:
        """The cosine of two texts' vectors, -1 to 1; 1 for equal texts. Each is read by itself, so that nothing depends
        on others.
        """
        return 1.0 if first == second else float(self._vector(first) @ self._vector(second))

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The same for many pairs, whose texts are read together; within 1e-6 of those of single pairs."""
        texts = list(dict.fromkeys(text for first, second in pairs if first != second for text in (first, second)))
        vectors = dict(zip(texts, _vectors(texts), strict=True))
        return [1.0 if first == second else float(vectors[first] @ vectors[second]) for first, second in pairs]

    def _computed(self, text: str) -> np.ndarray:
        return _vectors([text])[0]


def _vectors(texts: Sequence[str]) -> list[np.ndarray]:
    """A vector of length 1 for each text."""
    if not texts:
        return []
    encoder, tokenizer = _encoder()
    windows: list[list[int]] = []
    owners: list[int] = []
    for owner, text in enumerate(texts):
        read = tokenizer(text, truncation=True, max_length=MOST_PIECES, return_overflowing_tokens=True)
        windows += read["input_ids"]
        owners += [owner] * len(read["input_ids"])
    sums, counts = np.zeros((len(texts), encoder.config.hidden_size)), np.zeros(len(texts))
    for pack in _packs(windows):
        states = _states(encoder, [windows[index] for index in pack])
        for window_index, row in zip(pack, states, strict=True):
            sums[owners[window_index]] += row[: len(windows[window_index])].double().sum(0).numpy()
            counts[owners[window_index]] += len(windows[window_index])
    means = sums / counts[:, None]
    return list(means / np.linalg.norm(means, axis=1, keepdims=True))


def _packs(windows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Numbers of windows that are read together, the longest first."""
    packs: list[list[int]] = []
    for index in sorted(range(len(windows)), key=lambda window_index: (-len(windows[window_index]), window_index)):
        longest = len(windows[packs[-1][0]]) if packs else 0
        if packs and longest * (len(packs[-1]) + 1) <= MOST_AT_ONCE:
            packs[-1].append(index)
        else:
            packs.append([index])
    return packs


def _states(encoder: Encoder, windows: Sequence[list[int]]) -> torch.Tensor:
    """[window, piece, width], the last states; those behind a window's end mean nothing."""
    rows = [torch.tensor(window) for window in windows]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    with torch.inference_mode():
        return encoder(input_ids=ids, attention_mask=mask).last_hidden_state


@cache
def _encoder() -> tuple[Encoder, Tokenizer]:
    """Loaded once in a process, since nothing changes it; raises `BadFile`, which says how to install it, where MiniLM
    cannot be loaded.
    """
    return load_encoder("minilm")


def installed_sentence_vectors() -> SentenceVectors | None:
    """Vectors where the encoder's files are installed; None where they would have to be downloaded."""
    return SentenceVectors() if importlib.util.find_spec(MINILM_WHEEL) is not None else None
