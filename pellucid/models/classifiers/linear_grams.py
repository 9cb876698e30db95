"""What a linear model of scikit-learn makes of a text: each n-gram, where it stands, and its share of the answer.

scikit-learn says which n-grams a text has, but not where; so they are read again, with their places, and compared with
what the vectorizer itself reads.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.base.checks import quoted
from pellucid.base.errors import ModelCannot

Place = tuple[int, int]  # characters [start, end)
SAME_COLUMNS = ("TfidfTransformer", "Normalizer", "MaxAbsScaler", "StandardScaler")  # steps that change values alone


@dataclass(frozen=True)
class Gram:
    """An n-gram at a place of a text.

    label: as the vectorizer writes it. places: of its words or characters, which share its score equally. column: the
    number of its feature; sign: with which the feature counts it.
    """

    label: str
    places: tuple[Place, ...]
    column: int = 0
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class LinearPipeline:
    """A fitted vectorizer, with what stands between it and a linear model, and that model's numbers.

    steps: those before the model. coefficients: [logit feature]; intercept: [logit].
    """

    steps: Any
    coefficients: np.ndarray
    intercept: np.ndarray

    def contributions(self, text: str) -> tuple[list[Gram], np.ndarray]:
        """The n-grams of a text that are features, and [n-gram logit] the contribution of each to the answer.

        A feature's value times its coefficient, shared equally by the places of its n-grams; n-grams of one feature
        that count with different signs have shares of different signs. Raises `ModelCannot` where the places of
        n-grams cannot be known.
        """
        grams, _ = _grams(self.steps, text)
        signs = np.array([gram.sign for gram in grams])
        columns, index = np.unique([gram.column for gram in grams], return_inverse=True)
        totals = np.bincount(index, signs, len(columns))
        values = self.steps.transform([text])[:, columns.astype(np.int64)].toarray()[0].astype(np.float64)
        each = np.divide(values, totals, out=np.zeros_like(values), where=totals != 0)
        return grams, (each[index] * signs)[:, None] * self.coefficients[:, columns.astype(np.int64)][:, index].T


def n_features(step: Any) -> int | None:
    """How many features a fitted step makes of texts; None for a step whose n-grams cannot be followed."""
    if hasattr(step, "build_analyzer"):
        return len(step.vocabulary_) if hasattr(step, "vocabulary_") else getattr(step, "n_features", None)
    if hasattr(step, "transformer_list"):
        counts = [n_features(part) for _, part in step.transformer_list if part != "drop"]
        return None if None in counts else sum(counts)  # type: ignore[arg-type]
    if hasattr(step, "steps"):
        count = n_features(step.steps[0][1])
        for _, part in step.steps[1:]:
            count = None if count is None else _n_after(part, count)
        return count
    return None


def _n_after(step: Any, count: int) -> int | None:
    """How many of so many features there are after a step; None where it makes others of them."""
    if hasattr(step, "get_support"):
        return int(step.get_support().sum())
    return count if step in (None, "passthrough") or type(step).__name__ in SAME_COLUMNS else None


def _grams(step: Any, text: str) -> tuple[list[Gram], int]:
    """The n-grams of a text by a step that `n_features` knows, and the step's number of features."""
    if hasattr(step, "build_analyzer"):
        return _columned(step, vectorizer_grams(step, text)), n_features(step) or 0
    grams: list[Gram] = []
    if hasattr(step, "transformer_list"):
        before = 0
        for _, part in step.transformer_list:
            if part != "drop":
                of_part, count = _grams(part, text)
                grams += [replace(gram, column=gram.column + before) for gram in of_part]
                before += count
        return grams, before
    grams, count = _grams(step.steps[0][1], text)
    for _, part in step.steps[1:]:
        if hasattr(part, "get_support"):
            place = dict(zip(np.flatnonzero(part.get_support()).tolist(), range(count), strict=False))
            grams, count = [replace(g, column=place[g.column]) for g in grams if g.column in place], len(place)
    return grams, count


def _columned(vectorizer: Any, grams: Sequence[Gram]) -> list[Gram]:
    """The n-grams that are features, with their columns and signs."""
    if hasattr(vectorizer, "vocabulary_"):
        column_of = vectorizer.vocabulary_
        return [replace(gram, column=column_of[gram.label]) for gram in grams if gram.label in column_of]
    if not grams:
        return []
    settings = {**vectorizer.get_params(), "analyzer": lambda label: [label], "norm": None, "binary": False}
    hashes = type(vectorizer)(**settings).transform([gram.label for gram in grams]).tocsr()
    signs = np.ones(len(grams)) if vectorizer.binary else hashes.data
    return [
        replace(gram, column=int(column), sign=float(sign))
        for gram, column, sign in zip(grams, hashes.indices, signs, strict=True)
    ]


def vectorizer_grams(vectorizer: Any, text: str) -> list[Gram]:
    """All n-grams that a vectorizer reads in a text, with their places; raises `ModelCannot` where these differ from
    its own.
    """
    analyse = vectorizer.build_analyzer()
    expected = list(analyse(text))
    if callable(vectorizer.analyzer):
        grams = [Gram(label, (place,)) for label, place in _in_order(analyse, text)]
    else:
        prepared, places = _prepared(vectorizer, text)
        read = {"word": _word_grams, "char": _character_grams, "char_wb": _inner_grams}[vectorizer.analyzer]
        grams = read(vectorizer, prepared, places)
    if Counter(gram.label for gram in grams) != Counter(expected):
        raise ModelCannot(
            f"{type(vectorizer).__name__} reads n-grams whose places in the text are not known; explain it by "
            "occlusion."
        )
    return grams


def _prepared(vectorizer: Any, text: str) -> tuple[str, list[Place]]:
    """The text as the vectorizer's preprocessor leaves it, and for each of its characters the original one's place.

    Raises `ModelCannot` where the text is not what the preprocessor makes of its characters one by one. Lower-casing
    alone looks further: at the end of a word it writes the Greek sigma otherwise.
    """
    prepare = vectorizer.build_preprocessor()
    prepared = prepare(text)
    try:
        parts = [prepare(character) for character in text]
        is_aligned = "".join(parts).replace("ς", "σ") == prepared.replace("ς", "σ")
    except Exception:  # a user's own preprocessor may fail on a character alone, or make no string of it
        is_aligned = False
    if not is_aligned:
        raise ModelCannot(
            f"The preprocessor of {type(vectorizer).__name__} changes the text so that the places of its words are "
            f"not known; explain it by occlusion."
        )
    return prepared, [(index, index + 1) for index, part in enumerate(parts) for _ in part]


def _word_grams(vectorizer: Any, text: str, places: Sequence[Place]) -> list[Gram]:
    """N-grams of words, without stop words, as scikit-learn forms them."""
    stop_words = vectorizer.get_stop_words() or ()
    if vectorizer.tokenizer is None:
        group = re.compile(vectorizer.token_pattern).groups  # the pattern's only group, or the whole match
        matches = re.finditer(vectorizer.token_pattern, text)
        spans = [(match.group(group), match.span(group)) for match in matches]
    else:
        spans = _in_order(vectorizer.build_tokenizer(), text)
    tokens = [(token, _original(places[start:end])) for token, (start, end) in spans if token not in stop_words]
    least, most = vectorizer.ngram_range
    return [
        Gram(" ".join(token for token, _ in part), tuple(place for _, place in part))
        for size in range(least, most + 1)
        for first in range(len(tokens) - size + 1)
        if (part := tokens[first : first + size])
    ]


def _character_grams(vectorizer: Any, text: str, places: Sequence[Place]) -> list[Gram]:
    """N-grams of characters, where several blanks count as one."""
    text, places = _single_blanks(text, places)
    least, most = vectorizer.ngram_range
    return [
        Gram(text[first : first + size], tuple(places[first : first + size]))
        for size in range(least, most + 1)
        for first in range(len(text) - size + 1)
    ]


def _inner_grams(vectorizer: Any, text: str, places: Sequence[Place]) -> list[Gram]:
    """N-grams of characters inside words with a blank at each end; the word has the score of such a blank alone."""
    least, most = vectorizer.ngram_range
    grams = []
    for match in re.finditer(r"\S+", text):
        word, of_word = f" {match.group()} ", [None, *places[match.start() : match.end()], None]
        for size in range(least, most + 1):
            for first in range(max(1, len(word) - size + 1)):
                inside = [place for place in of_word[first : first + size] if place is not None]
                of_gram = tuple(inside) or tuple(places[match.start() : match.end()])
                grams.append(Gram(word[first : first + size], of_gram))
            if size >= len(word):
                break
    return grams


def _single_blanks(text: str, places: Sequence[Place]) -> tuple[str, list[Place]]:
    """The text with one blank for several, and the places of its characters."""
    united, end = [], 0
    for match in re.finditer(r"\s\s+", text):
        united += [*places[end : match.start()], _original(places[match.start() : match.end()])]
        end = match.end()
    return re.sub(r"\s\s+", " ", text), [*united, *places[end:]]


def _original(places: Sequence[Place]) -> Place:
    """The characters from the first place to the last."""
    return (places[0][0], places[-1][1]) if places else (0, 0)


WHOLE_WORD, PART_OF_WORD = r"(?<!\w)(?=({})(?!\w))", r"(?=({}))"  # patterns of a token, also where two overlap


def _in_order(read: Callable[[str], Any], text: str) -> list[tuple[str, Place]]:
    """Each token that is read in a text, with its place.

    Where reading each word alone gives the same tokens, each lies in its word, otherwise anywhere in the text; there
    its place is the only one that it can have. Raises `ModelCannot` where there is none, or several.
    """
    tokens = list(read(text))
    words = list(re.finditer(r"\S+", text))
    try:
        of_words = [list(read(word.group())) for word in words]
    except Exception:  # a user's own tokenizer may fail on a word alone
        of_words = []
    if [token for of_word in of_words for token in of_word] != tokens:
        return _only_places(tokens, text, 0)
    of_each = zip(words, of_words, strict=True)
    return [each for word, of_word in of_each for each in _only_places(of_word, word.group(), word.start())]


def _only_places(tokens: Sequence[Any], text: str, before: int) -> list[tuple[str, Place]]:
    """Each token with its place: the only places at which all of them stand in this order, as whole words or else as
    parts of words. before: characters before the text.
    """
    for pattern in (WHOLE_WORD, PART_OF_WORD):
        matches = {
            token: [match.span(1) for match in re.finditer(pattern.format(re.escape(token)), text)]
            for token in tokens
            if isinstance(token, str) and token
        }
        places = [matches.get(token, []) for token in tokens]
        first = _earliest(places)
        last = _earliest([[(-end, -start) for start, end in reversed(of_token)] for of_token in reversed(places)])
        if len(first) == len(tokens) and first == [(-end, -start) for start, end in reversed(last)]:
            return [(token, (before + start, before + end)) for token, (start, end) in zip(tokens, first, strict=True)]
    raise ModelCannot(
        f"The vectorizer reads {quoted(list(tokens)[:5])}, whose places in the text are not known, since its words do "
        "not stand so in the text, or more often than they are read. Explain it by occlusion."
    )


def _earliest(places: Sequence[Sequence[Place]]) -> list[Place]:
    """For each token its first place behind those before it; fewer where a token has none."""
    spans: list[Place] = []
    for of_token in places:
        end = spans[-1][1] if spans else -math.inf
        after = next((place for place in of_token if place[0] >= end), None)
        if after is None:
            break
        spans.append(after)
    return spans
