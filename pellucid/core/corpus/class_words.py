"""The words that speak for and against each class, over many texts."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

import numpy as np

from pellucid.core.foundation.checks import at_least, known, one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.json_text import nan_as_none
from pellucid.core.foundation.kinds import renderers
from pellucid.core.foundation.optional_package import optional_package
from pellucid.core.results.explanation import Explained, Explanation
from pellucid.core.text.content_words import is_content_word

if TYPE_CHECKING:
    import pandas

Sign = Literal["for", "against"]
MIN_TEXTS = 3  # a word of fewer texts says more about those texts than about the class


@dataclass(frozen=True)
class WordScore:
    """How much one word speaks for a class, over the texts in which that class is explained.

    word: its form, in lower case (casefolded, NFC). label: the class, or "A against B". mean: the mean over texts of its
    mean score in a text. low, high: the 95 % t-interval over texts (nan below two texts). count: how often it occurs.
    n_texts: in how many different texts. is_stop_word: it is a function word or punctuation.
    """

    word: str
    label: str
    mean: float
    low: float
    high: float
    count: int
    n_texts: int
    is_stop_word: bool

    @property
    def nearer_bound(self) -> float:
        """The bound of the interval that is nearer to zero: low of a word for the class, high of one against it."""
        return self.low if self.mean > 0 else self.high


@dataclass(frozen=True)
class ClassWords:
    """The words of each class, by label in order, and there from the strongest for it to the strongest against it.

    labels: the classes that are explained. method: of all scores. caveats: sentences.
    """

    labels: tuple[str, ...]
    words: tuple[WordScore, ...]
    method: str
    caveats: tuple[str, ...] = ()

    def strongest(self, label: str, k: int = 10, sign: Sign = "for") -> tuple[WordScore, ...]:
        """The k words that speak most surely for a class, or against it, by the nearer bound of their intervals.

        Words that no interval could be given for come last. Raises `UnknownName` for a class that is not explained.
        """
        known("class of these words", label, self.labels)
        one_of("sign", sign, ("for", "against"))
        at_least("k", k, 1)
        of_label = [word for word in self.words if word.label == label]
        if sign == "for":
            return tuple(word for word in of_label if word.mean > 0)[:k]
        return tuple(word for word in reversed(of_label) if word.mean < 0)[:k]

    def data_frame(self) -> "pandas.DataFrame":
        """One row a word, in order; needs the package pandas."""
        fields = list(WordScore.__dataclass_fields__)
        rows = [asdict(word) for word in self.words]
        return optional_package("pandas").DataFrame(rows, columns=fields)

    def record(self) -> dict[str, Any]:
        """Plain values for JSON, None where there is no number."""
        return {
            "method": self.method,
            "labels": list(self.labels),
            "words": [nan_as_none(asdict(word)) for word in self.words],
            "caveats": list(self.caveats),
        }

    def __repr__(self) -> str:
        return f"<ClassWords: {len(self.words):,} words of {', '.join(self.labels)} by {self.method}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_class_words").make(self)


def class_words(explanations: Sequence[Explanation], *, min_texts: int = MIN_TEXTS) -> ClassWords:
    """The words of each explained class; see `Results.words`."""
    at_least("min_texts", min_texts, 1)
    methods = dict.fromkeys(one.method for one in explanations)
    if len(methods) > 1:
        raise BadSetting(
            f"Scores of several methods cannot be averaged: {', '.join(methods)}. Choose one with "
            f"results.where(method={next(iter(methods))!r})."
        )
    distinct = {
        (one.example.segments, class_of(one.target), one.model_hash): one for one in reversed(explanations)
    }
    scores: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for one in distinct.values():
        for form, of_form in _by_form(one).items():
            scores[class_of(one.target), form].append(of_form)
    labels = tuple(dict.fromkeys(class_of(one.target) for one in explanations))
    words = [
        _word_score(form, label, texts) for (label, form), texts in scores.items() if len(texts) >= min_texts
    ]
    return ClassWords(
        labels,
        tuple(sorted(words, key=lambda word: (labels.index(word.label), *_strength(word)))),
        next(iter(methods), ""),
    )


def class_of(target: Explained) -> str:
    """The class that a target explains; of a contrast, both."""
    return target.label if target.against is None else f"{target.label} against {target.against}"


def word_form(word: str) -> str:
    """The form by which words are counted: casefolded, in Unicode's composed form."""
    return normalize("NFC", normalize("NFC", word).casefold())


def _by_form(explanation: Explanation) -> dict[str, list[float]]:
    """Each word form of a text -> the scores of its occurrences."""
    scores: dict[str, list[float]] = defaultdict(list)
    for word, score in explanation:
        scores[word_form(word)].append(score)
    return scores


def _word_score(form: str, label: str, texts: list[list[float]]) -> WordScore:
    means = np.array([math.fsum(scores) / len(scores) for scores in texts])
    mean = float(means.mean())
    half = _half_width(means)
    count = sum(map(len, texts))
    return WordScore(
        form, label, mean, mean - half, mean + half, count, len(texts), not is_content_word(form)
    )


def _half_width(values: np.ndarray) -> float:
    """Half of the 95 % t-interval of a mean; nan below two values."""
    if len(values) < 2:
        return math.nan
    from scipy.special import stdtrit  # takes a tenth of a second to import, and few callers need it

    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / math.sqrt(len(values)))


def _strength(word: WordScore) -> tuple[float, float, float, str]:
    """Sorts from the strongest word for a class to the strongest against it; words without interval nearest the middle."""
    unsure = math.isnan(word.low)
    if word.mean > 0:
        return (0, unsure, -(word.mean if unsure else word.low), word.word)
    return (1, not unsure, -(word.mean if unsure else word.high), word.word)
