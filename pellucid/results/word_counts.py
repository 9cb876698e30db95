"""Counts the words of each explained class: in every text the mean score of a word, then the mean over texts."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from pellucid.base.checks import at_least, listed
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.results.bootstrap import t_interval
from pellucid.results.class_words import ClassWords, WordScore
from pellucid.results.document_frequencies import Counted, DocumentFrequencies, word_form
from pellucid.results.explanation import Explained, Explanation
from pellucid.results.word_lists import WordLists, WordSum
from pellucid.text.lexicon import is_content_word
from pellucid.text.units import Spans

MIN_TEXTS = 3  # a word of fewer texts says more about those texts than about the class
NO_SIGN = (
    "These scores have no sign: they say how much a word counts, not whether it speaks for a class, so no word can "
    "speak against one."
)
NO_CLASS = "These scores are the same whatever class is explained: a word stands under the class of its texts."
RANDOM = "These scores are random, so these words mean nothing."


def class_words(
    explanations: Sequence[Explanation],
    *,
    min_texts: int = MIN_TEXTS,
    frequencies: DocumentFrequencies | None = None,
) -> ClassWords:
    """The words of each explained class, from explanations by one method; equal texts count once.

    min_texts: words that occur in fewer texts are left out. frequencies: where given, the result has lists of words
    weighted by them. Raises `BadSetting` where several methods are mixed.
    """
    at_least("min_texts", min_texts, 1)
    method = _one_method(explanations)
    texts = [one.shown_row() for one in distinct_texts(explanations)]
    scores: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for one in texts:
        for form, of_form in _by_form(one).items():
            scores[class_of(one.target), form].append(of_form)
    labels = classes_in_order(explanations)
    counted = {key: of_word for key, of_word in scores.items() if len(of_word) >= min_texts}
    words = [_word_score(form, label, of_word) for (label, form), of_word in counted.items()]
    return ClassWords(
        labels=labels,
        words=tuple(sorted(words, key=lambda word: (labels.index(word.label), *_strength(word)))),
        method=method,
        caveats=(
            *_caveats(method, explanations, len(texts)),
            *_function_words_alone(words, labels, min_texts),
        ),
        min_texts=min_texts,
        n_rare=len(scores) - len(counted),
        lists=None
        if frequencies is None
        else word_lists([(class_of(one.target), one) for one in texts], labels, frequencies),
    )


def class_of(target: Explained) -> str:
    """The class that a target explains; of a contrast, "A against B"."""
    return target.label if target.against is None else f"{target.label} against {target.against}"


def classes_in_order(explanations: Sequence[Explanation]) -> tuple[str, ...]:
    """The explained classes, in the model's order; others, such as contrasts, follow as they come."""
    explained = dict.fromkeys(class_of(one.target) for one in explanations)
    of_models = dict.fromkeys(label for one in explanations for label in one.prediction.labels)
    return tuple(dict.fromkeys([*(label for label in of_models if label in explained), *explained]))


def equal_texts(n_repeats: int, n_texts: int) -> str:
    """How many texts repeat others, in words."""
    repeat = "repeats another one" if n_repeats == 1 else "repeat others"
    return f"{n_repeats:,} of {n_texts:,} texts {repeat}; equal texts count once."


def distinct_texts(explanations: Sequence[Explanation]) -> list[Explanation]:
    """The first explanation of each text, class and model."""
    first: dict[tuple[tuple[str, ...], str, str], Explanation] = {}
    for one in explanations:
        first.setdefault((one.example.segments, class_of(one.target), one.model_hash), one)
    return list(first.values())


def _one_method(explanations: Sequence[Explanation]) -> str:
    """The method of all explanations; empty where there are none."""
    methods = list(dict.fromkeys(one.method for one in explanations))
    if len(methods) > 1:
        raise BadSetting(
            f"Scores of several methods cannot be averaged: {listed(methods)}. Take one with "
            f"results.where(method={methods[0]!r})."
        )
    return methods[0] if methods else ""


def _by_form(explanation: Explanation) -> dict[str, list[float]]:
    """Each word form of a text -> the scores of its occurrences."""
    scores: dict[str, list[float]] = defaultdict(list)
    for word, score in explanation.as_iterated().above_rounding():
        scores[word_form(word)].append(score)
    return scores


def _word_score(form: str, label: str, texts: list[list[float]]) -> WordScore:
    means = np.array([math.fsum(scores) / len(scores) for scores in texts])
    interval = t_interval(means)
    count = sum(map(len, texts))
    return WordScore(
        form, label, interval.mean, interval.low, interval.high, count, len(texts), not is_content_word(form)
    )


def _strength(word: WordScore) -> tuple[bool, float, float, str]:
    """Sorts from the surest word for a class to the surest against it; words without an interval stand in between."""
    unknown = math.isnan(word.low)
    if word.mean > 0:
        return False, float(unknown), -(word.mean if unknown else word.low), word.word
    return True, float(not unknown), -(word.mean if unknown else word.high), word.word


def _function_words_alone(words: Sequence[WordScore], labels: Sequence[str], min_texts: int) -> Iterator[str]:
    """The classes of which no content word occurs often enough."""
    of_classes = {label: [word for word in words if word.label == label] for label in labels}
    alone = [label for label, own in of_classes.items() if own and all(word.is_stop_word for word in own)]
    if alone:
        yield (
            f"Of {listed(alone)} only function words and punctuation occur in {min_texts} texts or more, and they say "
            "little of a class; explain more texts."
        )


def _caveats(method: str, explanations: Sequence[Explanation], n_distinct: int) -> Iterator[str]:
    """What to keep in mind of the method and of these texts."""
    name = method.partition("(")[0]
    facts = attributions.get(name).facts if name in attributions.names() else {}
    if facts.get("floor"):
        yield RANDOM
    elif facts and not facts["signed"] and not any((one.scores < 0).any() for one in explanations):
        yield NO_SIGN
    if facts and not facts["of_class"] and not facts["floor"]:
        yield NO_CLASS
    axes = Counter(axis for one in explanations for axis in one.rows)
    for kind, labels in axes:
        place, label = ("last", labels[-1]) if kind == "layer" else ("first", labels[0])  # as `shown_row` chooses
        yield f"Counted is the {place} {kind} of {len(labels)}: {label}."
    larger = {one.units.kind for one in explanations} & {"sentence", "paragraph"}
    if larger:
        kinds = " and ".join(f"{kind}s" for kind in sorted(larger))
        yield f"The scores belong to {kinds}, which are counted instead of words."
    models = dict.fromkeys(one.model for one in explanations)
    if len({one.model_hash for one in explanations}) > 1:
        yield f"Explanations of several models are counted together: {listed(models)}."
    if n_distinct < len(explanations):
        yield equal_texts(len(explanations) - n_distinct, len(explanations))


# Adds up the scores of words over the texts of each explained class, and weighs the sums by document
# frequencies.


Texts = Sequence[tuple[str, Explanation]]  # the explained class of each different text, and its first row


def word_lists(texts: Texts, labels: Sequence[str], frequencies: DocumentFrequencies) -> WordLists:
    """The lists of words of each class.

    texts: different texts with their class; of explanations with several rows the first. labels: the classes in order.
    frequencies: of the texts that say how rare words are; its unit is what is counted. A word's score in a text is the
    mean of its occurrences', so that a text counts it once: decoded saliency scores types, not places (corrections.md
    A1.6).

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
    return {form: (mean, mean / total if total > 0 else 0.0, len(scores[form])) for form, mean in means.items()}


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
