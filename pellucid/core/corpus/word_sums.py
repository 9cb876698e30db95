"""Adds up the scores of words over the texts of each explained class, and weighs the sums by document frequencies."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from pellucid.core.corpus.document_frequencies import Counted, DocumentFrequencies, word_form
from pellucid.core.corpus.word_lists import WordLists, WordSum
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.content_words import is_content_word
from pellucid.core.text.units import Spans

Texts = Sequence[tuple[str, Explanation]]  # the explained class of each different text, and its first row


def word_lists(texts: Texts, labels: Sequence[str], frequencies: DocumentFrequencies) -> WordLists:
    """The lists of words of each class.

    texts: different texts with their class; of explanations with several rows the first. labels: the classes in order.
    frequencies: of the texts that say how rare words are; its unit is what is counted. A word's score in a text is the mean of
    its occurrences', so that a text counts it once: decoded saliency scores types, not places (corrections.md A1.6).

    Raises `BadSetting` where tokens are to be counted and the scores are not of tokens.
    """
    sums: dict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    n_texts = dict.fromkeys(labels, 0)
    for label, one in texts:
        n_texts[label] += 1
        for form, in_text in _sums_of_text(one, frequencies.unit).items():
            sums[label, form].append(in_text)
    order = {label: number for number, label in enumerate(labels)}
    words = [_word_sum(form, label, in_texts, frequencies) for (label, form), in_texts in sums.items()]
    words.sort(key=lambda word: (order[word.label], -word.score(), word.word))
    return WordLists(tuple(labels), tuple(words), n_texts, frequencies.unit, frequencies.n_texts)


def _sums_of_text(one: Explanation, unit: Counted) -> dict[str, tuple[float, float, int]]:
    """Each form of a text -> its mean score, its mean share of the sizes of all scores, and its occurrences."""
    scores: dict[str, list[float]] = defaultdict(list)
    for form, score in _scored_forms(one, unit):
        scores[form].append(score)
    total = math.fsum(abs(score) for of_form in scores.values() for score in of_form)
    means = {form: math.fsum(of_form) / len(of_form) for form, of_form in scores.items()}
    return {
        form: (mean, mean / total if total > 0 else 0.0, len(scores[form])) for form, mean in means.items()
    }


def _scored_forms(one: Explanation, unit: Counted) -> Iterator[tuple[str, float]]:
    """(form, score) of a text's words or tokens, special tokens left out."""
    if unit == "word":
        yield from ((word_form(word), score) for word, score in one.as_iterated().above_rounding())
        return
    if isinstance(one.units, Spans) or one.units.kind != "piece":
        raise BadSetting(
            f"unit='piece' is not possible: the scores of {one.method} belong to {one.units.kind}s; give unit='word'."
        )
    scores = one.above_rounding().scores
    for index in one.units.content:
        yield one.units.labels[index], float(scores[index])


def _word_sum(
    form: str, label: str, texts: list[tuple[float, float, int]], frequencies: DocumentFrequencies
) -> WordSum:
    raw, normalised, counts = zip(*texts, strict=True)
    return WordSum(
        word=form,
        label=label,
        raw=math.fsum(raw),
        normalised=math.fsum(normalised),
        count=sum(counts),
        n_texts=len(texts),
        idf=frequencies.idf(form),
        idf_texts=frequencies.counts.get(form, 0),
        is_stop_word=not is_content_word(form),
    )
