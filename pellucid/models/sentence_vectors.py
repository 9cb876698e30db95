"""What texts mean, as vectors: the mean of all-MiniLM-L6-v2's last states, whose cosine says how alike two texts are.

Reimers & Gurevych (2019), "Sentence-BERT"; the encoder was trained so that the cosine of these means is high for texts that say the same.
"""

import importlib.util
from functools import cache, lru_cache

import numpy as np
import torch

from pellucid.models.classifiers.pretrained import MINILM_WHEEL, load_encoder
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.families.encoder import Encoder

MOST_TEXTS = 4096  # whose vectors are remembered
MOST_PIECES = 512  # that the encoder reads at once; a longer text is the mean over all of its windows


class SentenceVectors:
    """Vectors of texts, computed for each text by itself, so that they depend on no other; the encoder is loaded when first used."""

    def __init__(self) -> None:
        self._vector = lru_cache(MOST_TEXTS)(self._computed)

    def similarity(self, one: str, other: str) -> float:
        """The cosine of two texts' vectors, -1 to 1; 1 for equal texts."""
        return 1.0 if one == other else float(self._vector(one) @ self._vector(other))

    def _computed(self, text: str) -> np.ndarray:
        encoder, tokenizer = _encoder()
        windows = tokenizer(text, truncation=True, max_length=MOST_PIECES, return_overflowing_tokens=True)
        with torch.inference_mode():
            states = [
                encoder(input_ids=torch.tensor([ids])).last_hidden_state[0] for ids in windows["input_ids"]
            ]
        mean = torch.cat(states).double().mean(0).numpy()
        return np.asarray(mean / np.linalg.norm(mean))


@cache
def _encoder() -> tuple[Encoder, Tokenizer]:
    """Loaded once in a process, since nothing changes it; raises `BadFile`, which says how to install it, where MiniLM cannot be loaded."""
    return load_encoder("minilm")


def installed_sentence_vectors() -> SentenceVectors | None:
    """Vectors where the encoder's files are installed; None where they would have to be downloaded."""
    return SentenceVectors() if importlib.util.find_spec(MINILM_WHEEL) is not None else None
