"""How many words the lists of classes share, and how many random lists and lists of the rarest words would share.

Words that a classifier goes by should not speak for two classes at once. But a method that picks words which occur once
shares none either, and says nothing (METHODS S1, criticism of counting): so every overlap stands beside two controls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import comb

import numpy as np

from pellucid.core.foundation.checks import at_least


@dataclass(frozen=True)
class OverlapCurve:
    """The overlap of the classes' lists at k = 1, 2, ..., beside two controls; shares from 0 to 1.

    lists: of the words with the highest scores. random_mean, random_low, random_high: of lists drawn at random from the words
    of each class's texts, the mean of n_draws and the range of 95 % of them. rarest: of the rarest words of each class.
    """

    lists: tuple[float, ...]
    random_mean: tuple[float, ...]
    random_low: tuple[float, ...]
    random_high: tuple[float, ...]
    rarest: tuple[float, ...]
    n_draws: int

    @property
    def k(self) -> tuple[int, ...]:
        """The lengths of the lists."""
        return tuple(range(1, len(self.lists) + 1))


def overlap(lists: Sequence[Sequence[str]], k: int) -> float:
    """The share of the k first words of lists that pairs of lists have in common, 0 to 1.

    The words that two lists share, added up over all pairs of C lists, divided by C (C - 1) / 2 · k. 1 where all lists have the
    same k words in any order; nan below two lists. Hou and Castañón (2023), section 4.2; corrections.md A1.11.

    Raises `BadSetting` for a k below 1.
    """
    at_least("k", k, 1)
    if len(lists) < 2:
        return float("nan")
    return float(shared_words(lists, k)[k - 1] / (comb(len(lists), 2) * k))


def shared_words(lists: Sequence[Sequence[str]], most: int) -> np.ndarray:
    """[most]: how many words the first 1, 2, ... words of lists share, added up over all pairs of lists.

    A word counts for a pair from the length at which both lists have it. So the j-th list that reaches a word shares it with
    the j - 1 lists before.
    """
    ranks: dict[str, list[int]] = {}
    for words in lists:
        for rank, word in enumerate(words[:most]):
            ranks.setdefault(word, []).append(rank)
    new = np.zeros(most, dtype=np.int64)
    for of_word in ranks.values():
        for earlier, rank in enumerate(sorted(of_word)):
            new[rank] += earlier
    return new.cumsum()


def overlap_curve(
    lists: Sequence[Sequence[str]],
    vocabularies: Sequence[Sequence[str]],
    most: int,
    n_draws: int = 200,
    seed: int = 0,
) -> OverlapCurve:
    """The overlap of lists at 1, 2, ... `most` words, or as many as the shortest list has, beside both controls.

    vocabularies: for each list all words that it could have had, the rarest first. n_draws: random lists a class. seed: of the
    draws, which also depend on the words, and on nothing else.
    """
    at_least("n_draws", n_draws, 1)
    at_least("seed", seed, 0)
    most = min([most, *map(len, lists)]) if len(lists) > 1 else 0
    if most < 1:
        return OverlapCurve((), (), (), (), (), n_draws)
    whole = comb(len(lists), 2) * np.arange(1, most + 1)
    draws = np.stack([shared_words(one, most) / whole for one in _drawn(vocabularies, most, n_draws, seed)])
    low, high = np.quantile(draws, (0.025, 0.975), axis=0)
    return OverlapCurve(
        lists=tuple((shared_words(lists, most) / whole).tolist()),
        random_mean=tuple(draws.mean(0).tolist()),
        random_low=tuple(low.tolist()),
        random_high=tuple(high.tolist()),
        rarest=tuple((shared_words(vocabularies, most) / whole).tolist()),
        n_draws=n_draws,
    )


def _drawn(
    vocabularies: Sequence[Sequence[str]], most: int, n_draws: int, seed: int
) -> list[list[list[str]]]:
    """[draw class word]: words of each class in random order."""
    content = "\n".join(f"{len(words)} {' '.join(words)}" for words in vocabularies)
    digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    generator = np.random.default_rng([seed, int.from_bytes(digest, "big")])
    return [
        [
            [words[number] for number in generator.choice(len(words), min(most, len(words)), replace=False)]
            for words in vocabularies
        ]
        for _ in range(n_draws)
    ]
