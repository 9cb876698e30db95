"""In how many texts of a collection each word occurs, and how much rarity makes a word weigh."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from pellucid.base.errors import BadInput
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
