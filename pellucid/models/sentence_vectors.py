"""What texts mean, as vectors: the mean of all-MiniLM-L6-v2's last states, whose cosine says how alike two texts are.

Reimers & Gurevych (2019), "Sentence-BERT"; the encoder was trained so that the cosine of these means is high for texts that say the same.
"""

import importlib.util
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
import torch

from pellucid.models.classifiers.pretrained import MINILM_WHEEL, load_encoder
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.families.encoder import Encoder

MOST_TEXTS = 4096  # whose vectors are remembered
MOST_PIECES = 512  # that the encoder reads at once; a longer text is the mean over all of its windows
MOST_AT_ONCE = 1024  # pieces of windows that are read together, blanks that make them as long among them


class SentenceVectors:
    """Vectors of texts, means over all of a text's windows; the encoder is loaded when first used."""

    def __init__(self) -> None:
        self._vector = lru_cache(MOST_TEXTS)(self._computed)

    def similarity(self, one: str, other: str) -> float:
        """The cosine of two texts' vectors, -1 to 1; 1 for equal texts. Each is read by itself, so that nothing depends on others."""
        return 1.0 if one == other else float(self._vector(one) @ self._vector(other))

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The same for many pairs, whose texts are read together; within 1e-6 of those of single pairs."""
        texts = list(dict.fromkeys(text for one, other in pairs if one != other for text in (one, other)))
        vectors = dict(zip(texts, _vectors(texts), strict=True))
        return [1.0 if one == other else float(vectors[one] @ vectors[other]) for one, other in pairs]

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
        states = _states(encoder, [windows[number] for number in pack])
        for number, row in zip(pack, states, strict=True):
            sums[owners[number]] += row[: len(windows[number])].double().sum(0).numpy()
            counts[owners[number]] += len(windows[number])
    means = sums / counts[:, None]
    return list(means / np.linalg.norm(means, axis=1, keepdims=True))


def _packs(windows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Numbers of windows that are read together, the longest first."""
    packs: list[list[int]] = []
    for number in sorted(range(len(windows)), key=lambda one: (-len(windows[one]), one)):
        longest = len(windows[packs[-1][0]]) if packs else 0
        if packs and longest * (len(packs[-1]) + 1) <= MOST_AT_ONCE:
            packs[-1].append(number)
        else:
            packs.append([number])
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
    """Loaded once in a process, since nothing changes it; raises `BadFile`, which says how to install it, where MiniLM cannot be loaded."""
    return load_encoder("minilm")


def installed_sentence_vectors() -> SentenceVectors | None:
    """Vectors where the encoder's files are installed; None where they would have to be downloaded."""
    return SentenceVectors() if importlib.util.find_spec(MINILM_WHEEL) is not None else None
