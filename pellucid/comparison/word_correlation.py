"""Pearson's correlation of two sides' scores of words, over word types or over tokens, with intervals over texts.

Wu & Ong (2021), section 4.3 and tables 1 and 2; Wu, Ong and their code (corrections.md A2.10 and A2.11). Each text's
scores are divided by the largest size among them; the score of a type is the mean over its occurrences.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np
from scipy.sparse import csr_matrix

from pellucid.base.errors import BadFile
from pellucid.comparison.check_case import TextIntervals
from pellucid.comparison.scored_text import ScoredText
from pellucid.results.bootstrap import percentile_interval, tallies
from pellucid.results.interval import Interval
from pellucid.results.word_lists import word_form
from pellucid.run.blank import derived_seed
from pellucid.text.example import Example
from pellucid.text.inflection import likeliest_synonym
from pellucid.text.lexicon import is_content_word
from pellucid.text.units import text_units
from pellucid.text.wordnet import WordNet

AT_ONCE = 64  # bootstrap draws in memory together
Type = tuple[str, str]  # the explained class, and the form of a word


@dataclass(frozen=True)
class TypeSums:
    """[text type]: sums of the relative scores of each type's occurrences, and how many there are."""

    sums: csr_matrix
    counts: csr_matrix


def type_correlation(
    ones: Sequence[ScoredText], others: Sequence[ScoredText], intervals: TextIntervals
) -> tuple[Interval, int]:
    """The correlation over word types that both sides have, and how many they are; both sides are of the same texts.

    A type is a form under the class that is explained, since a word that speaks for one class may speak against
    another.
    """
    common = sorted(_types(ones) & _types(others))
    column_of = {word_type: index for index, word_type in enumerate(common)}
    a, b = type_sums(ones, column_of), type_sums(others, column_of)

    def correlations() -> Iterator[np.ndarray]:
        for weights in _weights(intervals, len(ones)):
            yield correlation(_means(a, weights), _means(b, weights))

    whole = np.ones((1, len(ones)))
    value = float(correlation(_means(a, whole), _means(b, whole))[0])
    return _interval(value, correlations(), len(ones)), len(common)


def common_correlation(
    ones: Sequence[ScoredText], others: Sequence[ScoredText], forms: Sequence[str], intervals: TextIntervals
) -> Interval:
    """The correlation over these forms of sizes of scores, for two different sets of texts, each of which is drawn by
    itself.

    Classes differ between data sets, and with them what a sign means; so sizes are correlated, whatever is explained.
    """
    column_of = {("", form): index for index, form in enumerate(forms)}
    a, b = (type_sums([_size(text) for text in texts], column_of) for texts in (ones, others))
    second = replace(intervals, seed=intervals.seed + 1)  # draws of its own
    streams = zip(_weights(intervals, len(ones)), _weights(second, len(others)), strict=True)
    drawn = (
        correlation(_means(a, first_weights), _means(b, second_weights)) for first_weights, second_weights in streams
    )
    value = correlation(_means(a, np.ones((1, len(ones)))), _means(b, np.ones((1, len(others)))))
    return _interval(float(value[0]), drawn, min(len(ones), len(others)))


def _size(text: ScoredText) -> ScoredText:
    return replace(text, scores=np.abs(text.scores), label="")


def token_correlation(
    ones: Sequence[ScoredText], others: Sequence[ScoredText], intervals: TextIntervals
) -> tuple[Interval, int]:
    """The correlation over all tokens, and how many they are; both sides are of the same texts and words."""
    pairs = [(first.relative, second.relative) for first, second in zip(ones, others, strict=True)]
    sums = np.array([[len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y] for x, y in pairs], dtype=np.float64).reshape(
        -1, 6
    )
    drawn = (_of_sums(weights @ sums) for weights in _weights(intervals, len(ones)))
    value = float(_of_sums(sums.sum(0)[None])[0])
    return _interval(value, drawn, len(ones)), int(sums[:, 0].sum())


def type_sums(texts: Sequence[ScoredText], column_of: dict[Type, int]) -> TypeSums:
    """The sums of each type in each text; column_of: type -> its column; other types are left out."""
    entries = [
        (row, column_of[text.label, word_form(word)], score)
        for row, text in enumerate(texts)
        for word, score in zip(text.words, text.relative.tolist(), strict=True)
        if (text.label, word_form(word)) in column_of
    ]
    rows, columns, scores = zip(*entries, strict=True) if entries else ((), (), ())
    shape = (len(texts), len(column_of))
    return TypeSums(
        csr_matrix((scores, (rows, columns)), shape), csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
    )


def correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[draw type], [draw type] -> [draw]: Pearson's correlation over the types that both sides have (no nan)."""
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = np.where(both, a, 0.0), np.where(both, b, 0.0)
    columns = [both.sum(1), a.sum(1), b.sum(1), (a * a).sum(1), (b * b).sum(1), (a * b).sum(1)]
    return _of_sums(np.stack(columns, 1).astype(np.float64))


def _of_sums(sums: np.ndarray) -> np.ndarray:
    """[draw 6] -> [draw]: the correlation of n, sum x, sum y, sum x², sum y², sum xy; nan where one side is
    constant.
    """
    n, x, y, xx, yy, xy = sums.T
    over = n * xy - x * y
    spread = (n * xx - x * x) * (n * yy - y * y)
    is_spread = spread > 1e-18 * np.maximum(n * xx, n * yy) ** 2  # rounding is no spread
    result = np.full(len(sums), np.nan)
    return np.divide(over, np.sqrt(np.where(is_spread, spread, 1.0)), out=result, where=is_spread).clip(-1, 1)


def _means(sums: TypeSums, weights: np.ndarray) -> np.ndarray:
    """[draw type]: each type's mean score where texts count by these weights [draw text]; nan where it does not
    occur.
    """
    total, count = weights @ sums.sums, weights @ sums.counts
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def _types(texts: Sequence[ScoredText]) -> set[Type]:
    return {(text.label, word_form(word)) for text in texts for word in text.words}


def _weights(intervals: TextIntervals, count: int) -> Iterator[np.ndarray]:
    """Parts of [draw text]: how often each text is drawn."""
    generator = np.random.default_rng(intervals.seed)
    for first in range(0, intervals.resamples, AT_ONCE):
        yield from tallies(generator, count, min(AT_ONCE, intervals.resamples - first))


def _interval(value: float, drawn: Iterator[np.ndarray], n_texts: int) -> Interval:
    if np.isnan(value) or n_texts < 2:
        return Interval(value, float("nan"), float("nan"))
    resampled = np.concatenate(list(drawn))
    return percentile_interval(value, resampled[~np.isnan(resampled)], n_texts)


# Edits of texts that change neither their words' number nor, as a rule, their meaning: case, blanks, one synonym.

EDITS = ("case", "blanks", "synonyms")
Edit = Callable[[str], str]


def edit_named(name: str, seed: int) -> Edit | None:
    """The edit of that name; None for synonyms where WordNet is not installed. seed: which word gets a synonym."""
    if name == "case":
        return other_case
    if name == "blanks":
        return more_blanks
    try:
        wordnet = WordNet()
    except BadFile:
        return None
    return lambda text: with_synonym(text, wordnet, seed)


def edited(examples: Sequence[Example], edit: Edit) -> list[Example]:
    """The examples with edited texts, without marks; an example that an edit leaves as it was stays."""
    return [replace(example, segments=tuple(map(edit, example.segments)), rationales=()) for example in examples]


def other_case(text: str) -> str:
    """The text in lower case, or in capitals where it is in lower case."""
    return text.lower() if text != text.lower() else text.upper()


def more_blanks(text: str) -> str:
    """The text with two blanks for each."""
    return text.replace(" ", "  ")


def with_synonym(text: str, wordnet: WordNet, seed: int) -> str:
    """The text with one content word replaced by its most frequent synonym of one word; as it was where no word has
    one.

    Which word it is depends on the text and the seed alone. Its part of speech is the likeliest, since nothing here
    tags texts.
    """
    return next(_synonym_texts(text, wordnet, seed), text)


def synonym_examples(example: Example, most: int, wordnet: WordNet, seed: int) -> list[Example]:
    """At most so many copies of an example, without marks, each with one other word replaced as in `with_synonym`; of a
    pair's texts in turn.
    """
    of_texts = [_with_segment(example, index, wordnet, seed) for index in range(len(example.segments))]
    in_turn = (segments for group in zip_longest(*of_texts) for segments in group if segments is not None)
    return [replace(example, segments=segments, rationales=()) for segments in islice(in_turn, most)]


def _with_segment(example: Example, index: int, wordnet: WordNet, seed: int) -> Iterator[tuple[str, ...]]:
    """The texts of an example, with one word of this one replaced."""
    before, after = example.segments[:index], example.segments[index + 1 :]
    for text in _synonym_texts(example.segments[index], wordnet, seed):
        yield (*before, text, *after)


def _synonym_texts(text: str, wordnet: WordNet, seed: int) -> Iterator[str]:
    """The text with one word replaced, a word at a time, in an order that depends on the text and the seed alone."""
    places = [(start, end) for start, end in text_units(text, "word") if is_content_word(text[start:end])]
    for place in np.random.default_rng(derived_seed(seed, "synonym", text)).permutation(len(places)).tolist():
        start, end = places[place]
        if synonym := likeliest_synonym(text[start:end], wordnet):
            yield text[:start] + synonym + text[end:]
