"""The words that speak for and against each class: in every text the mean score of a word, then the mean over texts."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import numpy as np

from pellucid.base.checks import at_least, known, listed, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import attributions, renderers
from pellucid.base.packages import optional_package
from pellucid.results.bootstrap import t_interval
from pellucid.results.explanation import Explained, Explanation
from pellucid.results.word_lists import Counted, DocumentFrequencies, WordLists, WordSum, word_form
from pellucid.text.example import source_of, sources_in_words
from pellucid.text.lexicon import is_content_word
from pellucid.text.passages import place_of
from pellucid.text.units import Spans

if TYPE_CHECKING:
    import pandas

Sign = Literal["for", "against"]


@dataclass(frozen=True)
class WordScore:
    """How much one word speaks for a class, over the texts in which that class is explained.

    word: its form, in lower case (casefolded, NFC). label: the class, or "A against B". mean: the mean over texts of
    its mean score in a text. low, high: the 95 % t-interval over texts (nan below two texts). count: how often it
    occurs. n_texts: in how many different texts. is_stop_word: it is a function word or punctuation.
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
    def is_sure(self) -> bool:
        """Whether zero lies outside the interval; False where there is no interval."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class ClassWords:
    """The words of each class, by label in order, and there from the strongest for it to the strongest against it.

    labels: the classes that are explained. method: of all scores. caveats: sentences. min_texts: words of fewer texts
    are left out; n_rare: how many these are. model, n_texts, data: whose texts, how many different ones, and the data
    that their ids name. lists: every word's scores added up and weighted by its rarity elsewhere,
    with their overlap between classes; None where no texts were given for it. Each interval is computed for its word
    alone: of a hundred words that do not matter, about five have an interval without zero.
    """

    labels: tuple[str, ...]
    words: tuple[WordScore, ...]
    method: str
    caveats: tuple[str, ...] = ()
    min_texts: int = 1
    n_rare: int = 0
    lists: WordLists | None = None
    model: str = ""
    n_texts: int = 0
    data: str = ""

    def strongest(self, label: str, k: int = 10, sign: Sign = "for") -> tuple[WordScore, ...]:
        """The k words that speak most surely for a class, or against it, by the nearer bound of their intervals.

        label: the class. k: how many at most, 1 or more. sign: "for" or "against". Words that no interval could be
        given for come last. Raises `UnknownName` for a class that is not explained, `BadSetting` for another k or sign.

        >>> [(word.word, round(word.mean, 2), word.n_texts) for word in words.strongest("positive", k=1)]
        [('good', 1.5, 2)]
        """
        one_of("sign", sign, ("for", "against"))
        at_least("k", k, 1)
        of_label = self.only(label).words
        if sign == "for":
            return tuple(word for word in of_label if word.mean > 0)[:k]
        return tuple(word for word in reversed(of_label) if word.mean < 0)[:k]

    def content(self) -> "ClassWords":
        """Without function words and punctuation; all words where there are no others."""
        content = tuple(word for word in self.words if not word.is_stop_word)
        return replace(self, words=content) if content else self

    def only(self, label: str) -> "ClassWords":
        """The words of one class; raises `UnknownName` for a class that is not explained."""
        known("class of these words", label, self.labels)
        return replace(self, labels=(label,), words=tuple(word for word in self.words if word.label == label))

    def data_frame(self) -> "pandas.DataFrame":
        """One row a word, in order; needs the package pandas."""
        fields = list(WordScore.__dataclass_fields__)
        rows = [asdict(word) for word in self.words]
        return optional_package("pandas").DataFrame(rows, columns=fields)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, None where there is no number."""
        return {
            "method": self.method,
            "labels": list(self.labels),
            "words": [nan_as_none(asdict(word)) for word in self.words],
            "caveats": list(self.caveats),
            "min_texts": self.min_texts,
            "n_rare": self.n_rare,
            "model": self.model,
            "n_texts": self.n_texts,
            "data": self.data,
            **({} if self.lists is None else {"lists": self.lists.record()}),
        }

    def __repr__(self) -> str:
        return f"<ClassWords: {len(self.words):,} words of {', '.join(self.labels)} by {self.method}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_class_words").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_class_words").make(self)


# Counts the words of each explained class: in every text the mean score of a word, then the mean over texts.

MIN_TEXTS = 3  # a word of fewer texts says more about those texts than about the class
NO_SIGN = (
    "These scores have no sign: they say how much a word counts, not whether it speaks for a class, so no word can "
    "speak against one."
)
VALUE = "the value"  # in place of a class
NO_CLASS = "These scores are the same whatever class is explained: a word stands under the class of its texts."
RANDOM = "These scores are random, so these words mean nothing."


def class_words(
    explanations: Iterable[Explanation],
    *,
    min_texts: int = MIN_TEXTS,
    frequencies: DocumentFrequencies | None = None,
) -> ClassWords:
    """The words of each explained class, from explanations by one method, each read once; equal texts count once.

    min_texts: words that occur in fewer texts are left out. frequencies: where given, the result has lists of words
    weighted by them. Raises `BadSetting` where several methods are mixed.
    """
    at_least("min_texts", min_texts, 1)
    counting = _Counting(None if frequencies is None else ListSums(frequencies.unit))
    for explanation in explanations:
        counting.add(explanation)
    method, labels = _one_method(counting.methods), classes_in_order(counting.of_models, counting.explained)
    often = {key: means for key, means in counting.means.items() if len(means) >= min_texts}
    words = [_word_score(form, label, means, counting.counts[label, form]) for (label, form), means in often.items()]
    return ClassWords(
        labels=labels,
        words=tuple(sorted(words, key=lambda word: (labels.index(word.label), *_strength(word)))),
        method=method,
        caveats=(
            *_caveats(method, counting),
            *_function_words_alone(words, labels, min_texts),
        ),
        min_texts=min_texts,
        n_rare=len(counting.means) - len(often),
        lists=None if counting.lists is None or frequencies is None else counting.lists.lists(labels, frequencies),
        model=", ".join(counting.models),
        n_texts=len(counting.texts),
        data=sources_in_words(counting.sources),
    )


@dataclass
class _Counting:
    """What was counted of explanations so far: of a text 8 bytes a word and two digests, so that a million of them fit.

    lists: sums for lists of words; None where there are none. means: (class, form) -> its mean score in each text.
    counts: how often it occurs. seen, texts: digests of distinct explanations, and of their texts. explained,
    of_models: classes in order of appearance. axes: of scores with several rows.
    """

    lists: "ListSums | None"
    means: dict[tuple[str, str], "array[float]"] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: set[bytes] = field(default_factory=set)
    texts: set[bytes] = field(default_factory=set)
    methods: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    hashes: set[str] = field(default_factory=set)
    explained: dict[str, None] = field(default_factory=dict)
    of_models: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    axes: dict[tuple[str, tuple[str, ...]], None] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    n_explanations: int = 0
    has_negative: bool = False

    def add(self, explanation: Explanation) -> None:
        """Count one more."""
        label, text = explained_class(explanation), _subject(explanation)
        self.n_explanations += 1
        self.methods[explanation.method] = self.models[explanation.model] = self.explained[label] = None
        self.hashes.add(explanation.model_hash)
        self.kinds.add(explanation.units.kind)
        self.of_models |= dict.fromkeys(explanation.prediction.labels)
        self.axes |= dict.fromkeys(explanation.rows)
        self.has_negative = self.has_negative or bool((explanation.scores < 0).any())
        key = _digest((text, label, explanation.model_hash))
        if key in self.seen:
            return
        self.seen.add(key)
        self.texts.add(_digest(text))
        self.sources[source_of(explanation.example.id)] = None
        row = explanation.shown_row()
        for form, of_form in _by_form(row).items():
            self.means[label, form].append(math.fsum(of_form) / len(of_form))
            self.counts[label, form] += len(of_form)
        if self.lists is not None:
            self.lists.add(label, row)


def _digest(value: object) -> bytes:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _subject(explanation: Explanation) -> tuple[str, ...]:
    """The text, and the place in it that the answer is about, where it is about one."""
    place = place_of(explanation.example)
    return (*explanation.example.segments, *(() if place is None else (f"{place.start} {place.end}",)))


def explained_class(explanation: Explanation) -> str:
    """The class that is explained; of a contrast "A against B", of a model that gives values "the value"."""
    return VALUE if explanation.predicted_value is not None else class_of(explanation.target)


def class_of(target: Explained) -> str:
    """The class that a target explains; of a contrast, "A against B"."""
    return target.label if target.against is None else f"{target.label} against {target.against}"


def classes_in_order(of_models: Iterable[str], explained: Iterable[str]) -> tuple[str, ...]:
    """The explained classes, in the model's order; others, such as contrasts, follow as they come."""
    every = dict.fromkeys(explained)
    return tuple(dict.fromkeys([*(label for label in of_models if label in every), *every]))


def equal_texts(n_repeats: int, n_texts: int) -> str:
    """How many texts repeat others, in words."""
    repeat = "repeats another one" if n_repeats == 1 else "repeat others"
    return f"{n_repeats:,} of {n_texts:,} texts {repeat}; equal texts count once."


def distinct_texts(explanations: Sequence[Explanation]) -> list[Explanation]:
    """The first explanation of each text, class and model."""
    first: dict[tuple[tuple[str, ...], str, str], Explanation] = {}
    for explanation in explanations:
        first.setdefault((_subject(explanation), explained_class(explanation), explanation.model_hash), explanation)
    return list(first.values())


def _one_method(methods: Iterable[str]) -> str:
    """The method of all explanations; empty where there are none."""
    methods = list(methods)
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


def _word_score(form: str, label: str, means: "array[float]", count: int) -> WordScore:
    interval = t_interval(np.frombuffer(means))
    return WordScore(
        form, label, interval.mean, interval.low, interval.high, count, len(means), not is_content_word(form)
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
    alone = [
        label for label, of_class in of_classes.items() if of_class and all(word.is_stop_word for word in of_class)
    ]
    if alone:
        yield (
            f"Of {listed(alone)} only function words and punctuation occur in {min_texts} texts or more, and they say "
            "little of a class; explain more texts."
        )


def _caveats(method: str, counting: _Counting) -> Iterator[str]:
    """What to keep in mind of the method and of these texts."""
    name = method.partition("(")[0]
    facts = attributions.get(name).facts if name in attributions.names() else {}
    if facts.get("floor"):
        yield RANDOM
    elif facts and not facts["signed"] and not counting.has_negative:
        yield NO_SIGN
    if facts and not facts["of_class"] and not facts["floor"]:
        yield NO_CLASS
    for kind, labels in counting.axes:
        place, label = ("last", labels[-1]) if kind == "layer" else ("first", labels[0])  # as `shown_row` chooses
        yield f"Counted is the {place} {kind} of {len(labels)}: {label}."
    if larger := counting.kinds & {"sentence", "paragraph"}:
        kinds = " and ".join(f"{kind}s" for kind in sorted(larger))
        yield f"The scores belong to {kinds}, which are counted instead of words."
    if len(counting.hashes) > 1:
        yield f"Explanations of several models are counted together: {listed(counting.models)}."
    if repeats := counting.n_explanations - len(counting.seen):
        yield equal_texts(repeats, counting.n_explanations)


# Adds up the scores of words over the texts of each explained class, and weighs the sums by document frequencies.


@dataclass
class ListSums:
    """The words of each class with the sums of their scores, text by text; of explanations with several rows the first.

    unit: what is counted. raw, normalised: (class, form) -> in each text its mean score, and that as a share of the
    sizes of all scores. A word's score in a text is the mean of its occurrences', so that a text counts it once:
    decoded saliency scores types, not places (corrections.md A1.6).
    """

    unit: Counted
    raw: dict[tuple[str, str], "array[float]"] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    normalised: dict[tuple[str, str], "array[float]"] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    n_texts: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, text: Explanation) -> None:
        """Count one more text of a class; raises `BadSetting` where tokens are counted and scores are not of tokens."""
        self.n_texts[label] += 1
        for form, (mean, share, count) in _sums_of_text(text, self.unit).items():
            self.raw[label, form].append(mean)
            self.normalised[label, form].append(share)
            self.counts[label, form] += count

    def lists(self, labels: Sequence[str], frequencies: DocumentFrequencies) -> WordLists:
        """The lists of each class, in this order; frequencies: of the texts that say how rare words are."""
        order = {label: index for index, label in enumerate(labels)}
        words = [self._word_sum(label, form, frequencies) for label, form in self.raw]
        words.sort(key=lambda word: (order[word.label], -word.score(), word.word))
        n_texts = {label: self.n_texts[label] for label in labels}
        return WordLists(tuple(labels), tuple(words), n_texts, frequencies.unit, frequencies.n_texts)

    def _word_sum(self, label: str, form: str, frequencies: DocumentFrequencies) -> WordSum:
        return WordSum(
            word=form,
            label=label,
            raw=math.fsum(self.raw[label, form]),
            normalised=math.fsum(self.normalised[label, form]),
            count=self.counts[label, form],
            n_texts=len(self.raw[label, form]),
            idf=frequencies.idf(form),
            idf_texts=frequencies.counts.get(form, 0),
            is_stop_word=not is_content_word(form),
        )


def _sums_of_text(explanation: Explanation, unit: Counted) -> dict[str, tuple[float, float, int]]:
    """Each form of a text -> its mean score, its mean share of the sizes of all scores, and its occurrences."""
    scores: dict[str, list[float]] = defaultdict(list)
    for form, score in _scored_forms(explanation, unit):
        scores[form].append(score)
    total = math.fsum(abs(score) for of_form in scores.values() for score in of_form)
    means = {form: math.fsum(of_form) / len(of_form) for form, of_form in scores.items()}
    return {form: (mean, mean / total if total > 0 else 0.0, len(scores[form])) for form, mean in means.items()}


def _scored_forms(explanation: Explanation, unit: Counted) -> Iterator[tuple[str, float]]:
    """(form, score) of a text's words or tokens, special tokens left out."""
    if unit == "word":
        yield from ((word_form(word), score) for word, score in explanation.as_iterated().above_rounding())
        return
    if isinstance(explanation.units, Spans) or explanation.units.kind != "piece":
        raise BadSetting(
            f"unit='piece' is not possible: the scores of {explanation.method} belong to {explanation.units.kind}s; "
            f"give unit='word'."
        )
    scores = explanation.above_rounding().scores
    for index in explanation.units.content:
        yield explanation.units.labels[index], float(scores[index])
