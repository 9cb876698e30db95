"""Names of concepts: words and phrases whose activations stand out of what chance gives such rare words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pellucid.discovery.states import StateSample
from pellucid.text.example import Example
from pellucid.text.lexicon import Concept
from pellucid.text.units import is_blank, text_units

FEWEST_TEXTS = 3  # of a word: no single example names a concept
SHUFFLES = 100
LEVEL = 0.95  # of the largest z under shuffles: one of twenty concepts without a meaning would get a name
IN_NAME, LISTED = 3, 8
Pair = tuple[int, str]  # the number of a text, and a word or phrase in it


@dataclass(frozen=True)
class ConceptWord:
    """A word or phrase that a concept is about.

    texts: how many texts of the sample have it. mean: its activation, a mean over texts of means. z: how many standard
    errors the mean lies above that of all words; the rarer a word, the larger the error.
    """

    word: str
    texts: int
    mean: float
    z: float


@dataclass(frozen=True)
class StandingOut:
    """words: those above the limit, the surest first. limit: the z that chance passes for one concept in twenty."""

    words: tuple[ConceptWord, ...]
    limit: float


def name_from(words: Sequence[str]) -> str:
    """The first words, or "" where none stands out."""
    return " · ".join(words[:IN_NAME])


def word_pairs(sample: StateSample, examples: Sequence[Example], length: int) -> list[list[str]]:
    """For each state its words, in lower case: the word that it is of, with length 2 the one before it too.

    Of a text's state all its words or phrases, each once.
    """
    return [_words(examples[text], segment, start, end, length) for text, segment, start, end in sample.places.tolist()]


def _words(example: Example, segment: int, start: int, end: int, length: int) -> list[str]:
    if segment < 0:
        runs = [_runs(text, length) for text in example.segments]
        return sorted({run for of_text in runs for run in of_text})
    text = example.segments[segment]
    word = text[start:end].strip().lower()
    if is_blank(word):
        return []
    if length == 1:
        return [word]
    before = text[:start].rstrip()
    if not before or not word[0].isalnum():
        return []
    first, last = text_units(before, "word")[-1]
    return [f"{before[first:last].lower()} {word}"] if before[first:last][-1:].isalnum() else []


def _runs(text: str, length: int) -> list[str]:
    """Neighbouring words of a text, in lower case."""
    words = [text[start:end].lower() for start, end in text_units(text, "word")]
    if length == 1:
        return words
    return [f"{a} {b}" for a, b in pairwise(words) if a[-1:].isalnum() and b[:1].isalnum()]


def standing_out(
    activations: np.ndarray, sample: StateSample, words: Sequence[Sequence[str]], seed: int
) -> list[StandingOut]:
    """For each concept the words whose mean activation stands out.

    activations: [state concept]. words: [state], those of each. A word's activation is averaged within a text, and then
    over texts; only words of three texts or more count. Chance is the largest z of any word where the activations of
    all pairs of text and word change places.
    """
    names, of_pair, values = _text_means(activations, sample, words)
    texts = np.bincount(of_pair, minlength=len(names))
    often = np.flatnonzero(texts >= FEWEST_TEXTS)
    if not len(often):
        return [StandingOut((), math.inf)] * activations.shape[1]
    mean_and_z = _scores(of_pair, values, texts, often)
    limits = _limits(of_pair, values, texts, often, seed)
    means, z = mean_and_z
    return [
        StandingOut(_listed(names, texts, often, means[:, k], z[:, k], limits[k]), float(limits[k]))
        for k in range(activations.shape[1])
    ]


def _listed(
    names: list[str], texts: np.ndarray, often: np.ndarray, means: np.ndarray, z: np.ndarray, limit: float
) -> tuple[ConceptWord, ...]:
    order = np.argsort(-z, kind="stable")
    above = [index for index in order.tolist() if z[index] > limit]
    return tuple(
        ConceptWord(names[often[index]], int(texts[often[index]]), float(means[index]), float(z[index]))
        for index in above[:LISTED]
    )


def _text_means(
    activations: np.ndarray, sample: StateSample, words: Sequence[Sequence[str]]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """All words, [pair] the number of its word, and [pair concept]: the mean activation of a word in a text."""
    flat = [(int(text), word) for text, of_state in zip(sample.places[:, 0], words, strict=True) for word in of_state]
    state_of = np.repeat(np.arange(len(words)), [len(of_state) for of_state in words])
    pairs: dict[Pair, int] = {}
    pair_of = np.array([pairs.setdefault(pair, len(pairs)) for pair in flat], dtype=np.int64)
    numbers: dict[str, int] = {}
    of_pair = np.array([numbers.setdefault(word, len(numbers)) for _, word in pairs], dtype=np.int64)
    values = _means(pair_of, activations[state_of].astype(np.float64), len(pairs))
    return list(numbers), of_pair, values


def _means(groups: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """[group column]: the mean of the rows of each group."""
    sizes = np.maximum(np.bincount(groups, minlength=count), 1)
    return np.stack([np.bincount(groups, column, minlength=count) / sizes for column in values.T], axis=1)


def _scores(
    of_pair: np.ndarray, values: np.ndarray, texts: np.ndarray, often: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """[word concept] of the words that occur often: means, and how many standard errors they lie above all."""
    means = _means(of_pair, values, len(texts))[often]
    spread = np.maximum(values.std(0), np.finfo(float).tiny)
    return means, (means - values.mean(0)) / spread * np.sqrt(texts[often])[:, None]


def _limits(of_pair: np.ndarray, values: np.ndarray, texts: np.ndarray, often: np.ndarray, seed: int) -> np.ndarray:
    """[concept]: the z that the largest of all words stays below in 95 of 100 shuffles."""
    shuffled: Callable[[np.ndarray], np.ndarray] = np.random.default_rng(seed).permutation
    largest = [_scores(shuffled(of_pair), values, texts, often)[1].max(0) for _ in range(SHUFFLES)]
    limits: np.ndarray = np.quantile(largest, LEVEL, axis=0)
    return limits


# A person's own concepts, lists of words: have states of such a word more of a learnt concept than others? Chance is
# lists of words that are on none of them and stand in about as many states.

NEAR_RANKS = 10  # a word of chance stands within so many ranks of the word's own frequency, either way


@dataclass(frozen=True)
class NearConcept:
    """A person's concept that a learnt one goes with.

    r: the correlation of activation with being of one of its words, -1 to 1. limit: what lists of other words that are
    as frequent stay below in 95 of 100 draws. texts: how many have one of its words.
    """

    name: str
    r: float
    limit: float
    texts: int


def nearest(
    activations: np.ndarray, sample: StateSample, words: Sequence[Sequence[str]], concepts: Sequence[Concept], seed: int
) -> list[tuple[NearConcept, ...]]:
    """For each learnt concept those of a person's concepts that it is surely near to, the nearest first.

    activations: [state concept]. words: [state], those of each, in lower case. Concepts with words in fewer than three
    texts are left out.
    """
    state_of = np.repeat(np.arange(len(words)), [len(of_state) for of_state in words])
    numbers: dict[str, int] = {}
    type_of = np.array([numbers.setdefault(w, len(numbers)) for of_state in words for w in of_state], dtype=np.int64)
    lists = [[numbers[w] for w in {w.lower() for w in concept.words} if w in numbers] for concept in concepts]
    is_member = _members(lists, state_of, type_of, len(words))
    texts = [len(np.unique(sample.places[row, 0])) for row in is_member]
    usable = [index for index, count in enumerate(texts) if count >= FEWEST_TEXTS]
    if not usable:
        return [()] * activations.shape[1]
    lists, r = [lists[index] for index in usable], correlations(is_member[usable], activations)
    draws = np.random.default_rng(seed)
    random = (_like(lists, np.bincount(type_of, minlength=len(numbers)), draws) for _ in range(SHUFFLES))
    largest = [correlations(_members(each, state_of, type_of, len(words)), activations).max(0) for each in random]
    limits = np.quantile(largest, LEVEL, axis=0)
    return [
        tuple(
            NearConcept(concepts[usable[row]].name, float(r[row, k]), float(limits[k]), texts[usable[row]])
            for row in np.argsort(-r[:, k], kind="stable").tolist()
            if r[row, k] > limits[k]
        )
        for k in range(activations.shape[1])
    ]


def _members(lists: Sequence[Sequence[int]], state_of: np.ndarray, type_of: np.ndarray, count: int) -> np.ndarray:
    """[list state] bool: whether a state has a word of the list."""
    is_member = np.zeros((len(lists), count), bool)
    for row, of_list in zip(is_member, lists, strict=True):
        row[state_of[np.isin(type_of, of_list)]] = True
    return is_member


def _like(lists: Sequence[Sequence[int]], counts: np.ndarray, draws: np.random.Generator) -> list[list[int]]:
    """Lists of words that are on none of the lists, each drawn among those that stand in about as many states."""
    free = np.setdiff1d(np.arange(len(counts)), np.concatenate([*lists]).astype(int))
    free = free[np.argsort(counts[free], kind="stable")]
    drawn = []
    for of_list in lists:
        ranks = np.searchsorted(counts[free], counts[of_list])
        steps = draws.integers(-NEAR_RANKS, NEAR_RANKS + 1, len(of_list))
        drawn.append(free[np.clip(ranks + steps, 0, len(free) - 1)].tolist() if len(free) else [])
    return drawn


def correlations(rows: np.ndarray, activations: np.ndarray) -> np.ndarray:
    """[row state] with [state concept] -> [row concept]: Pearson's r; 0 where one of the two is the same in all
    states.
    """
    centred = activations - activations.mean(0, dtype=np.float64)
    values = rows - rows.mean(1, keepdims=True, dtype=np.float64)
    sizes = np.linalg.norm(values, axis=1)[:, None] * np.linalg.norm(centred, axis=0)
    return np.divide(values @ centred, sizes, out=np.zeros_like(sizes), where=sizes > 0)
