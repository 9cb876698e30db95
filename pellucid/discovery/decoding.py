"""What the direction of a concept says through a language head: the words that become likelier along it.

Hou & Castañón (2023), "Decoding Layer Saliency in Language Transformers", section 3.2, read states by such a head; here
what changes of the reading where a concept is added to states.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.base.errors import BadInput
from pellucid.discovery.dictionaries import Dictionary, random_directions
from pellucid.discovery.naming import LEVEL, LISTED
from pellucid.models.word_neighbours import word_neighbours
from pellucid.run.model import Model

STATES = 8  # that concepts are added to
DRAWS = 60  # random directions of equal size
ACTIVE = 0.05  # of the largest activation: above it a concept counts as active
Read = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class DecodedWord:
    """A word that a concept's direction decodes to.

    rise: by how much its log-probability rises where the concept is added to states, in nats, beyond that of the mean
    word. limit: what the largest rise of any word along a random direction of equal size stays below in 95 of 100.
    """

    word: str
    rise: float
    limit: float


def head_in_words(model: Model) -> str:
    """What reads its states back as words, with its digest; "" where nothing does."""
    head = model.language_head
    return "" if head is None else f"{head.description}, digest {head.digest}"


def decoded_words(
    model: Model, layer: int, states: np.ndarray, dictionary: Dictionary, activations: np.ndarray, seed: int
) -> list[tuple[DecodedWord, ...]]:
    """For each concept the words that stand out of chance, the surest first; none for a model without language head."""
    head, neighbours = model.language_head, word_neighbours(model)
    if head is None or neighbours is None:
        return [()] * len(dictionary.atoms)
    words, ids = neighbours.words
    read: Read = lambda some: head.log_probabilities(some.to(model.device), layer, ids).cpu()  # noqa: E731
    return likelier_words(read, words, states, dictionary, activations, seed)


def likelier_words(
    read: Read, words: list[str], states: np.ndarray, dictionary: Dictionary, activations: np.ndarray, seed: int
) -> list[tuple[DecodedWord, ...]]:
    """For each concept the words that become likelier along it than any does along random directions.

    read: states [state width] -> log-probabilities [state word]. A concept is added with the mean activation that it
    has where it is active, to states that are drawn at random.
    """
    drawn = np.random.default_rng(seed).choice(len(states), min(STATES, len(states)), replace=False)
    base = torch.from_numpy(states[np.sort(drawn)])
    usual, random = read(base), random_directions(states, DRAWS, seed + 2)
    decoded = []
    for atom, column in zip(dictionary.atoms, activations.T, strict=True):
        active = column[column > ACTIVE * column.max()] if column.max() > 0 else np.zeros(1)
        step = atom * active.mean()
        moves = np.vstack([step[None], random * np.linalg.norm(step)]).astype(np.float32)
        rises = torch.stack([(read(base + torch.from_numpy(move)) - usual).mean(0) for move in moves]).numpy()
        decoded.append(_above(rises - rises.mean(1, keepdims=True), words))
    return decoded


def _above(rises: np.ndarray, words: list[str]) -> tuple[DecodedWord, ...]:
    """Of [direction word] the words of the first direction that rise more than along all the others."""
    if not np.isfinite(rises).all():
        raise BadInput("The language head gives no finite numbers for states of this layer; leave it away.")
    limit = float(np.quantile(rises[1:].max(1), LEVEL))
    order = np.argsort(-rises[0], kind="stable")[:LISTED].tolist()
    return tuple(DecodedWord(words[index], float(rises[0, index]), limit) for index in order if rises[0, index] > limit)
