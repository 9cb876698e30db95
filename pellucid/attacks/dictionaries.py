"""What candidates look words up in: WordNet, a tagger and pivot languages, opened when they are first used."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from torch import Tensor

from pellucid.attacks.apertium.tagged_words import (
    NameKind,
    Pivot,
    TaggedWord,
    Tagger,
    back_translations,
    dressed,
)
from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.text.example import Example
from pellucid.text.label_map import label_names
from pellucid.text.wordnet import PartOfSpeech, WordNet, content_digest, shared_wordnet, wordnet_folder

# How often names of people, places and organisations occur in the texts of each class.

KINDS: tuple[NameKind, ...] = (
    "person",
    "place",
    "organisation",
)  # "other" names have nothing else in common


@dataclass(frozen=True)
class NameCounts:
    """counts: (labels of texts, kind of name) -> name, as the texts write it -> how often it occurs."""

    counts: Mapping[tuple[tuple[str, ...], NameKind], Mapping[str, int]]

    @property
    def digest(self) -> str:
        """Of all counts."""
        return json_digest([[*key, *pair] for key in sorted(self.counts) for pair in sorted(self.counts[key].items())])

    def commonest(self, kind: NameKind, label: str) -> list[str]:
        """The names of a kind in the texts that have not this label, commonest first; of equal ones the first in the
        alphabet.
        """
        sums: Counter[str] = Counter()
        for (labels, of_kind), names in self.counts.items():
            if of_kind == kind and label not in labels:
                sums.update(names)
        return sorted(sums, key=lambda name: (-sums[name], name))


def name_counts(examples: Sequence[Example], tagger: Tagger, several: bool = False) -> NameCounts:
    """The names in labelled texts, as the tagger reads them. several: a text can have several labels, between
    commas.
    """
    texts = [(text, label_names(example.label, several)) for example in examples for text in example.segments]
    counts: dict[tuple[tuple[str, ...], NameKind], Counter[str]] = {}
    for (text, labels), words in zip(texts, tagger.words([text for text, _ in texts]), strict=True):
        for word in words:
            if word.name in KINDS:
                counts.setdefault((labels, word.name), Counter())[text[word.start : word.end]] += 1
    return NameCounts(counts)


PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = ("noun", "verb", "adjective", "adverb")
MOST_TEXTS = 4096  # whose words are remembered


class Meaning(Protocol):
    """What says how alike two texts are."""

    def similarity(self, first: str, second: str) -> float:
        """-1 to 1; 1 for equal texts."""
        ...

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The same for many pairs at once."""
        ...


class NearWords(Protocol):
    """What knows the vectors of words, and which are near."""

    @property
    def digest(self) -> str:
        """Of the vectors where the model's hash does not contain them; else ""."""
        ...

    def vector(self, word: str) -> Tensor | None:
        """[width]; None where it is not known."""
        ...

    def near(self, word: str) -> list[tuple[str, float]]:
        """(word, cosine) of the nearest words, nearest first."""
        ...


class TwoTranslators(Protocol):
    """Models that translate a text and its translations back."""

    @property
    def digest(self) -> str:
        """Of everything that the paraphrases depend on."""
        ...

    def paraphrases(self, text: str) -> list[str]:
        """What came back, the likeliest first."""
        ...


@dataclass(frozen=True, eq=False)
class Dictionaries:
    """wordnet_folder: Princeton's files. languages: pivots of back-translation. translators: models that do the same,
    or None. meaning: what compares texts, or None. words: what knows
    near words, or None. names: how often names occur in
    labelled texts, or None.
    """

    wordnet_folder: Path = field(default_factory=wordnet_folder)
    languages: tuple[str, ...] = ("spanish",)
    meaning: Meaning | None = None
    words: NearWords | None = None
    names: NameCounts | None = None
    translators: TwoTranslators | None = None

    def facts(self, translates: bool) -> dict[str, object]:
        """What they contain, in JSON's terms. translates: whether the languages are used."""
        facts: dict[str, object] = {"wordnet": content_digest(self.wordnet_folder)}
        if translates:
            facts["pivots"] = list(self.languages)
        if self.names is not None:
            facts["names"] = self.names.digest
        if self.words is not None and self.words.digest:
            facts["vectors"] = self.words.digest
        if self.translators is not None:
            facts["translators"] = self.translators.digest
        return facts

    def similarity(self, text: Sequence[str], edited: Sequence[str]) -> float:
        """How alike a text and its edited form are, -1 to 1, of a pair's texts the lower one; nan where nothing
        compares texts.
        """
        if self.meaning is None:
            return math.nan
        return min(self.meaning.similarity(*texts) for texts in zip(text, edited, strict=True))

    def similarities(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[float]:
        """The same for many texts and their edited forms, computed together."""
        if self.meaning is None:
            return [math.nan] * len(pairs)
        segments = [list(zip(text, edited, strict=True)) for text, edited in pairs]
        values = iter(self.meaning.similarities([texts for text in segments for texts in text]))
        return [min(next(values) for _ in text) for text in segments]

    def vector(self, word: str) -> Tensor | None:
        """[width]: a word's vector in the model; None where it is not known."""
        return None if self.words is None else self.words.vector(word)

    def near(self, word: str) -> list[tuple[str, float]]:
        """(word, cosine) of the words with the nearest vectors; raises `ModelCannot` where the model has no vectors of
        words.
        """
        if self.words is None:
            raise ModelCannot(
                "Neighbours of words need the vectors of a model that was loaded with its tokenizer; use the "
                "candidates synonyms or typos."
            )
        return self.words.near(word)

    def start_translating(self) -> None:
        """Start the programs of all pivots, if they do not run, without waiting for them; raises `BadFile` as `pivots`
        does.
        """
        for pivot in self.pivots:
            pivot.start()

    @cached_property
    def wordnet(self) -> WordNet:
        """Raises `BadFile`, which names the package and an attack that needs none, where there is none."""
        try:
            return shared_wordnet(self.wordnet_folder)
        except BadFile as error:
            raise BadFile(f"{str(error).removesuffix('.')}; the attack deepwordbug needs no dictionary.") from None

    @cached_property
    def tagger(self) -> Tagger | None:
        """None where it is not installed."""
        try:
            return Tagger()
        except BadFile:
            return None

    @cached_property
    def pivots(self) -> list[Pivot]:
        """Raises `BadFile`, which names the package, for a language that is not installed."""
        return [Pivot(language) for language in self.languages]

    def part_of_speech(self, text: str, start: int, end: int) -> TaggedWord | None:
        """The word at characters [start, end) as the tagger reads it; None where it reads another word there, or
        none.
        """
        return next((word for word in self._tagged(text) if (word.start, word.end) == (start, end)), None)

    def likeliest_part_of_speech(self, word: str) -> PartOfSpeech | None:
        """The part of speech in which WordNet's texts have the word most often; None for words that are not there."""
        counts: dict[PartOfSpeech, int] = {
            part: sum(self.wordnet.count(sense, word) for sense in self.wordnet.senses(word.lower(), part)) + 1
            for part in PARTS_OF_SPEECH
            if self.wordnet.senses(word.lower(), part)
        }
        ordered = sorted(counts, key=lambda part: -counts[part])
        return ordered[0] if ordered else None

    def paraphrases(self, text: str) -> tuple[str, ...]:
        """The text, translated to each language and back, by rules and then by models; without those that equal it."""
        return self._paraphrases(text)

    @cached_property
    def _tagged(self) -> Callable[[str], tuple[TaggedWord, ...]]:
        tagger = self.tagger
        return lru_cache(MOST_TEXTS)(lambda text: tagger.words([text])[0] if tagger is not None else ())

    @cached_property
    def _paraphrases(self) -> Callable[[str], tuple[str, ...]]:
        return lru_cache(MOST_TEXTS)(lambda text: tuple(dict.fromkeys((*self._by_rules(text), *self._by_models(text)))))

    def _by_rules(self, text: str) -> tuple[str, ...]:
        return back_translations([text], self.pivots)[0] if self.languages else ()

    def _by_models(self, text: str) -> list[str]:
        if self.translators is None:
            return []
        answers = [dressed(paraphrase, text) for paraphrase in self.translators.paraphrases(text)]
        return [answer for answer in answers if answer is not None and answer != text]
