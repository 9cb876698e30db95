"""In how many texts of a collection each word occurs, and how much rarity makes a word weigh."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

import numpy as np

from pellucid.base.checks import at_least, known, one_of
from pellucid.base.errors import BadInput
from pellucid.base.packages import optional_package
from pellucid.text.example import Example
from pellucid.text.units import text_units

Counted = Literal["word", "piece"]


@dataclass(frozen=True)
class DocumentFrequencies:
    """How many of a collection's texts each word, or each token of a model, occurs in.

    counts: word or token -> texts with it. n_texts: all texts. unit: "word" or "piece", what is counted. Raises
    `BadInput` for no texts, of which no rarity can be told.
    """

    counts: Mapping[str, int]
    n_texts: int
    unit: Counted = "word"

    def __post_init__(self) -> None:
        if self.n_texts < 1:
            raise BadInput("There are no texts to count how rare words are; give a file or a list with texts.")

    def idf(self, form: str) -> float:
        """The inverse document frequency: ln((1 + N) / (1 + df)) + 1; 1 for a word of every text, more for rarer ones.

        Hou and Castañón weigh by "the inverse document frequency" and give no formula (corrections.md A1.10); this one
        is never 0 and knows what to do with a word that the texts do not have.
        """
        return math.log((1 + self.n_texts) / (1 + self.counts.get(form, 0))) + 1


def document_frequencies(texts: Iterable[Iterable[str]], unit: Counted = "word") -> DocumentFrequencies:
    """Counts from texts that are cut into words or tokens already; each text counts a word once."""
    counts: Counter[str] = Counter()
    n_texts = 0
    for n_texts, forms in enumerate(texts, 1):  # noqa: B007 (the number of the last text is what counts)
        counts.update(set(forms))
    return DocumentFrequencies(counts, n_texts, unit)


def word_form(word: str) -> str:
    """The form by which words are counted: casefolded, in Unicode's composed form."""
    return normalize("NFC", normalize("NFC", word).casefold())


def word_forms(example: Example) -> Iterable[str]:
    """The form of every word of an example's texts, in order."""
    for text in example.segments:
        for start, end in text_units(text, "word"):
            yield word_form(text[start:end])


# Lists of words a class: scores added up over the class's texts, and weighted by how rare a word is elsewhere.

# How many words the lists of classes share, and how many random lists and lists of the rarest words would share.
#
# Words that a classifier goes by should not speak for two classes at once. But a method that picks words which occur
# once shares none either, and says nothing (METHODS S1, criticism of counting): so every overlap stands beside two
# controls.


@dataclass(frozen=True)
class OverlapCurve:
    """The overlap of the classes' lists at k = 1, 2, ..., beside two controls; shares from 0 to 1.

    lists: of the words with the highest scores. random_mean, random_low, random_high: of lists drawn at random from the
    words of each class's texts, the mean of n_draws and the range of 95 % of them. rarest: of the rarest words of each
    class.
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

    The words that two lists share, added up over all pairs of C lists, divided by C (C - 1) / 2 · k. 1 where all lists
    have the same k words in any order; nan below two lists. Hou and Castañón (2023), section 4.2; corrections.md A1.11.

    Raises `BadSetting` for a k below 1.
    """
    at_least("k", k, 1)
    if len(lists) < 2:
        return float("nan")
    return float(shared_words(lists, k)[k - 1] / (comb(len(lists), 2) * k))


def shared_words(lists: Sequence[Sequence[str]], most: int) -> np.ndarray:
    """[most]: how many words the first 1, 2, ... words of lists share, added up over all pairs of lists.

    A word counts for a pair from the length at which both lists have it. So the j-th list that reaches a word shares it
    with the j - 1 lists before.
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

    vocabularies: for each list all words that it could have had, the rarest first. n_draws: random lists a class. seed:
    of the draws, which also depend on the words, and on nothing else.
    """
    at_least("n_draws", n_draws, 1)
    at_least("seed", seed, 0)
    most = min([most, *map(len, lists)]) if len(lists) > 1 else 0
    if most < 1:
        return OverlapCurve((), (), (), (), (), n_draws)
    whole = comb(len(lists), 2) * np.arange(1, most + 1)
    draws = np.stack([shared_words(draw, most) / whole for draw in _drawn(vocabularies, most, n_draws, seed)])
    low, high = np.quantile(draws, (0.025, 0.975), axis=0)
    return OverlapCurve(
        lists=tuple((shared_words(lists, most) / whole).tolist()),
        random_mean=tuple(draws.mean(0).tolist()),
        random_low=tuple(low.tolist()),
        random_high=tuple(high.tolist()),
        rarest=tuple((shared_words(vocabularies, most) / whole).tolist()),
        n_draws=n_draws,
    )


def _drawn(vocabularies: Sequence[Sequence[str]], most: int, n_draws: int, seed: int) -> list[list[list[str]]]:
    """[draw class word]: words of each class in random order."""
    content = "\n".join(f"{len(words)} {' '.join(words)}" for words in vocabularies)
    digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    generator = np.random.default_rng([seed, int.from_bytes(digest, "big")])
    return [
        [
            [words[index] for index in generator.choice(len(words), min(most, len(words)), replace=False)]
            for words in vocabularies
        ]
        for _ in range(n_draws)
    ]


if TYPE_CHECKING:
    import pandas

Sums = Literal["raw", "normalised"]
SUMS: tuple[Sums, ...] = ("raw", "normalised")
MOST = 50  # words of a list, as in the paper


@dataclass(frozen=True)
class WordSum:
    """How much one word counts for a class, over all its texts.

    word: its form; a word casefolded and in Unicode's composed form, a token as the model writes it. label: the class.
    raw: the sum over texts of the word's mean score in a text. normalised: the same with each text's scores divided by
    the sum of their sizes (L1), so that no text counts more than another. count, n_texts: how often the word occurs,
    and in how many texts of the class. idf: its inverse document frequency. idf_texts: in how many of the texts for it.
    is_stop_word: it is a function word or punctuation.
    """

    word: str
    label: str
    raw: float
    normalised: float
    count: int
    n_texts: int
    idf: float
    idf_texts: int
    is_stop_word: bool

    def score(self, sums: Sums = "raw") -> float:
        """The sum times the idf; sums: "raw" or "normalised"."""
        return self.idf * (self.raw if sums == "raw" else self.normalised)


@dataclass(frozen=True)
class WordLists:
    """The words of each class by their summed scores, times how rare they are in other texts.

    Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers", section 4.2. They add up raw scores;
    sums of normalised ones stand beside them (corrections.md A1.10). labels: the classes that are explained, which by
    default are those that the model predicts. words: of all classes. n_texts: label -> different texts. unit: what is
    counted, words or the model's own tokens. n_idf_texts: how many texts the idf is of.
    """

    labels: tuple[str, ...]
    words: tuple[WordSum, ...]
    n_texts: dict[str, int]
    unit: Counted
    n_idf_texts: int

    def top(self, label: str, k: int = MOST, sums: Sums = "raw") -> tuple[WordSum, ...]:
        """The k words of a class with the highest scores above 0, highest first; ties by the word.

        Raises `UnknownName` for a class that is not explained, `BadSetting` for another k or sum.
        """
        at_least("k", k, 1)
        return self._ranked(label, sums)[:k]

    def shared(self, first: str, second: str, k: int = MOST, sums: Sums = "raw") -> tuple[str, ...]:
        """The words that both classes have among their k first, those with the best places first; errors as in
        `top`.
        """
        places = [
            {word.word: place for place, word in enumerate(self.top(label, k, sums))} for label in (first, second)
        ]
        both = places[0].keys() & places[1].keys()
        return tuple(sorted(both, key=lambda word: (places[0][word] + places[1][word], word)))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All pairs of classes, in order."""
        return combinations(self.labels, 2)

    def overlap(self, k: int = MOST, sums: Sums = "raw") -> float:
        """The share of the classes' k first words that pairs of classes share, 0 to 1 (A1.11); nan for one class alone.

        A class with fewer than k words above 0 keeps its short list, so that the overlap is at most as high as that
        allows.
        """
        return overlap([[word.word for word in self.top(label, k, sums)] for label in self.labels], k)

    def overlap_curve(self, sums: Sums = "raw", most: int = MOST, n_draws: int = 200, seed: int = 0) -> OverlapCurve:
        """The overlap at k = 1 to `most` beside random lists and lists of the rarest words.

        It ends where the shortest list of a class ends; classes without a word above 0 are left out. n_draws: random
        lists. seed: of the draws. Raises `BadSetting` for a number that is too small.
        """
        at_least("most", most, 1)
        labels = [label for label in self.labels if self._ranked(label, sums)]
        lists = [[word.word for word in self._ranked(label, sums)] for label in labels]
        return overlap_curve(lists, [self._rarest(label) for label in labels], most, n_draws, seed)

    def data_frame(self) -> "pandas.DataFrame":
        """One row a class and word, highest raw score first; needs the package pandas."""
        fields = [*WordSum.__dataclass_fields__, "raw_idf", "normalised_idf"]
        return optional_package("pandas").DataFrame(self.rows(), columns=fields)

    def rows(self) -> list[dict[str, object]]:
        """The words as plain values, with both scores."""
        extra = ({"raw_idf": word.score("raw"), "normalised_idf": word.score("normalised")} for word in self.words)
        return [asdict(word) | scores for word, scores in zip(self.words, extra, strict=True)]

    def record(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "labels": list(self.labels),
            "words": self.rows(),
            "n_texts": dict(self.n_texts),
            "unit": self.unit,
            "n_idf_texts": self.n_idf_texts,
            "overlap": {sums: asdict(self.overlap_curve(sums)) for sums in SUMS},
        }

    def __repr__(self) -> str:
        return f"<WordLists: {len(self.words):,} words of {', '.join(self.labels)}, idf of {self.n_idf_texts:,} texts>"

    def _ranked(self, label: str, sums: Sums) -> tuple[WordSum, ...]:
        known("class of these words", label, self.labels)
        one_of("sums", sums, SUMS)
        positive = [word for word in self._by_label[label] if word.score(sums) > 0]
        return tuple(sorted(positive, key=lambda word: (-word.score(sums), word.word)))

    def _rarest(self, label: str) -> list[str]:
        """All words of a class: those of the fewest idf texts first, then those that the explained texts have least
        often.
        """
        count: dict[str, int] = {}
        for word in self.words:
            count[word.word] = count.get(word.word, 0) + word.count
        rarity = {word.word: (word.idf_texts, count[word.word], word.word) for word in self._by_label[label]}
        return sorted(rarity, key=rarity.__getitem__)

    @cached_property
    def _by_label(self) -> dict[str, list[WordSum]]:
        groups: dict[str, list[WordSum]] = {label: [] for label in self.labels}
        for word in self.words:
            groups[word.label].append(word)
        return groups
