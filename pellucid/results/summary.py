"""What many explanations have in common: answers, mistakes, strongest words and cautions, counted."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from pellucid.base.kinds import renderers
from pellucid.results.bootstrap import share
from pellucid.results.class_words import ClassWords, class_words
from pellucid.results.explanation import Explanation
from pellucid.results.table import Interval
from pellucid.text.label_map import label_names
from pellucid.text.reading import CANNOT, IN_PART, SOME_AS_BYTES, SOME_IN_PART, UnreadTexts, unread_texts


@dataclass(frozen=True, repr=False)
class Summary:
    """Counts over texts; a text that several methods explain counts once.

    n_texts, n_distinct: how many texts, and how many different ones. methods, model: what made the explanations.
    predicted: class -> texts. n_labelled: texts whose label is one of the model's classes. accuracy: over these, with a
    95 % Wilson interval; None without them. confusion: (label, predicted class) -> texts. unmatched_labels: labels that
    are no class of the model -> texts. values: the lowest, the mean and the highest value of a model that gives one;
    else None. Where a text can have several classes (`gives_several`) it counts for each, and none is right or wrong.
    words: those of each class; None where several methods are mixed. cautions: sentence -> the ids of the texts that it
    is about, one an explanation. seconds: how long it took, where it is known. unread: the texts with words that the
    model cannot read, the worst first.
    """

    n_texts: int
    n_distinct: int
    methods: tuple[str, ...]
    model: str
    predicted: Mapping[str, int]
    n_labelled: int
    accuracy: Interval | None
    confusion: Mapping[tuple[str, str], int]
    unmatched_labels: Mapping[str, int]
    words: ClassWords | None
    cautions: Mapping[str, tuple[str, ...]]
    seconds: float | None = None
    values: tuple[float, float, float] | None = None
    gives_several: bool = False
    unread: UnreadTexts = field(default_factory=lambda: UnreadTexts(0))

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_summary").make(self)

    def __repr__(self) -> str:
        texts = f"{self.n_texts:,} text{'' if self.n_texts == 1 else 's'}"
        return f"<Summary: {texts}{'' if self.accuracy is None else f', {self.accuracy.mean:.0%} right'}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_summary").make(self)


def summary_of(explanations: Sequence[Explanation], seconds: float | None = None) -> Summary:
    """The summary of explanations; see `Results.summary`."""
    texts = one_a_text(explanations)
    labelled = [explanation for explanation in texts if explanation.is_correct is not None]
    methods = tuple(dict.fromkeys(explanation.method for explanation in explanations))
    labels = dict.fromkeys(label for explanation in texts for label in explanation.prediction.labels)
    predicted = Counter(name for explanation in texts for name in explanation.prediction.names)
    values = [explanation.predicted_value for explanation in texts if explanation.predicted_value is not None]
    return Summary(
        n_texts=len(texts),
        n_distinct=len({explanation.example.segments for explanation in texts}),
        methods=methods,
        model=", ".join(dict.fromkeys(explanation.model for explanation in explanations)),
        predicted={} if values else {label: predicted[label] for label in labels},
        n_labelled=len(labelled),
        accuracy=_accuracy(labelled),
        confusion=Counter((str(explanation.example.label), explanation.prediction.label) for explanation in labelled),
        unmatched_labels=Counter(label for explanation in texts for label in _unmatched(explanation)),
        words=class_words(explanations) if len(methods) == 1 else None,
        cautions=_cautions(explanations, texts),
        seconds=seconds,
        values=(min(values), mean(values), max(values)) if values else None,
        gives_several=any(explanation.prediction.gives_several for explanation in texts),
        unread=_unread(texts),
    )


def _unread(explanations: Sequence[Explanation]) -> UnreadTexts:
    return unread_texts((shown.example.id, shown.diagnostics.get("unread_words", 0.0)) for shown in explanations)


def _cautions(explanations: Sequence[Explanation], texts: Sequence[Explanation]) -> dict[str, tuple[str, ...]]:
    """Each sentence with the ids of its texts. What the model cannot read is other words in each text, so one sentence
    counts these texts.
    """
    sentence, worst = _unread(texts).in_words, tuple(id_ for id_, _ in _unread(explanations).worst)
    joined = joined_cautions(
        (SOME_IN_PART if caveat.startswith(IN_PART) else caveat, explanation.example.id)
        for explanation in explanations
        for caveat in explanation.caveats
        if not caveat.startswith(CANNOT)
    )
    as_bytes = tuple(shown.example.id for shown in explanations if "words_as_bytes" in shown.diagnostics)
    counted = {sentence: worst, **joined, SOME_AS_BYTES: as_bytes}
    return {caution: ids for caution, ids in counted.items() if ids}


def _unmatched(explanation: Explanation) -> list[str]:
    """What the text's label names and the model does not; the label of a value is a number, which names nothing."""
    if explanation.predicted_value is not None:
        return []
    names = label_names(explanation.example.label, explanation.prediction.gives_several)
    return [name for name in names if name not in explanation.prediction.labels]


def one_a_text(explanations: Sequence[Explanation]) -> list[Explanation]:
    """One explanation a text, where several methods explain the same texts; equal texts of one method stay several."""
    seen: dict[str, Counter[Hashable]] = defaultdict(Counter)  # method -> text -> how often
    first: dict[Hashable, Explanation] = {}
    for explanation in explanations:
        text = (explanation.example.id, explanation.example.segments, explanation.example.label, explanation.model_hash)
        seen[explanation.method][text] += 1
        first.setdefault((text, seen[explanation.method][text]), explanation)
    return list(first.values())


def _accuracy(labelled: Sequence[Explanation]) -> Interval | None:
    """The share of right answers with its interval; None where no text has a label of the model."""
    right = sum(bool(explanation.is_correct) for explanation in labelled)
    return share(right, len(labelled)) if labelled else None


# Cautions of many texts, joined: sentences that differ in one number alone become one sentence with its range.

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
Caution = tuple[str, str]  # the sentence, and the id of its text


def joined_cautions(cautions: Iterable[Caution]) -> Mapping[str, tuple[str, ...]]:
    """Sentence -> the ids of the texts that it is about, in the order of first sight.

    Sentences that differ in one number alone are joined, as "misses 6.4 to 76.2% of the rise".
    """
    alike: dict[tuple[str, ...], list[Caution]] = defaultdict(list)
    for sentence, text_id in cautions:
        alike[tuple(NUMBER.split(sentence))].append((sentence, text_id))
    return {sentence: ids for similar in alike.values() for sentence, ids in _joined(similar).items()}


def _joined(cautions: Sequence[Caution]) -> Mapping[str, tuple[str, ...]]:
    """Sentences with the same words, joined where only one of their numbers differs."""
    sentences, ids = zip(*cautions, strict=True)
    numbers = list(zip(*(NUMBER.findall(sentence) for sentence in sentences), strict=True))
    differing = [place for place, values in enumerate(numbers) if len(set(values)) > 1]
    if len(differing) != 1:
        return {
            sentence: tuple(text_id for other_sentence, text_id in cautions if other_sentence == sentence)
            for sentence in dict.fromkeys(sentences)
        }
    (place,) = differing
    low, *_, high = sorted(set(numbers[place]), key=lambda digits: float(digits.replace(",", "")))
    start, end = list(NUMBER.finditer(sentences[0]))[place].span()
    return {f"{sentences[0][:start]}{low} to {high}{sentences[0][end:]}": ids}
