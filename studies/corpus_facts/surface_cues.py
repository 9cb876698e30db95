"""Surface cues: how far do labels follow from words and marks alone, without reading the text?

After Gururangan et al. (2018), "Annotation Artifacts in Natural Language Inference Data": a classifier that sees
too little to know the label (the hypothesis without its premise, say) shows by its accuracy what gives labels away.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import regex
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from pellucid.results.bootstrap import accuracy_interval
from pellucid.results.table import Interval
from pellucid.text.example import Example, group_of
from pellucid.text.units import text_units

Cues = Callable[[Example], dict[str, float]]
FOLDS = 5
_SAYS = regex.compile(r"[\p{L}\p{N}]")
_MARKS = regex.compile(r"[^\p{L}\p{N}\s]")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, without punctuation and emoji."""
    spans = text_units(text, "word")
    return [text[start:end].lower() for start, end in spans if _SAYS.search(text[start:end])]


def all_words(example: Example) -> dict[str, float]:
    """Which words occur, separately in premise and hypothesis."""
    return {f"{segment} {word}": 1.0 for segment, text in enumerate(example.segments) for word in words_of(text)}


def words_outside_evidence(example: Example) -> dict[str, float]:
    """Which words occur in a single text after its marked parts are blanked."""
    text = example.segments[0]
    for mark in example.rationales:
        text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return dict.fromkeys(words_of(text), 1.0)


def length_and_marks(example: Example) -> dict[str, float]:
    """How many words, and how many of each mark of punctuation or emoji."""
    text = example.segments[0]
    return {"words": float(len(words_of(text)))} | dict(Counter(_MARKS.findall(text)))


def premise_words(example: Example) -> dict[str, float]:
    """Which words the premise has."""
    return dict.fromkeys(words_of(example.segments[0]), 1.0)


def hypothesis_words(example: Example) -> dict[str, float]:
    """Which words the hypothesis has."""
    return dict.fromkeys(words_of(example.segments[1]), 1.0)


def overlap(example: Example) -> dict[str, float]:
    """How long the hypothesis is, and the share of its words that the premise has too."""
    premise, hypothesis = (words_of(text) for text in example.segments)
    shared = sum(word in premise for word in hypothesis)
    return {"words": float(len(hypothesis)), "shared": shared / len(hypothesis)}


CUES: dict[str, dict[str, Cues]] = {
    "pocket": {
        "length and punctuation": length_and_marks,
        "words outside the evidence": words_outside_evidence,
        "all words": all_words,
    },
    "helpdesk": {
        "length and punctuation": length_and_marks,
        "words outside the evidence": words_outside_evidence,
        "all words": all_words,
    },
    "pocket_pairs": {
        "length and overlap": overlap,
        "premise only": premise_words,
        "hypothesis only": hypothesis_words,
        "words of both": all_words,
    },
}


def accuracy_on_dev(train: Sequence[Example], dev: Sequence[Example], cues: Cues) -> Interval:
    """Accuracy on dev of a logistic regression fitted to train, with its 95 % interval."""
    fitted = _classifier().fit([cues(example) for example in train], _labels(train))
    return accuracy_interval(fitted.predict([cues(example) for example in dev]) == _labels(dev))


def accuracy_in_folds(train: Sequence[Example], cues: Cues) -> Interval:
    """Accuracy on train in five folds that separate no group: more texts than dev, so a narrower interval."""
    predicted = cross_val_predict(
        _classifier(),
        [cues(example) for example in train],
        _labels(train),
        groups=[group_of(example) for example in train],
        cv=GroupKFold(FOLDS),
    )
    return accuracy_interval(predicted == _labels(train))


def _classifier() -> Pipeline:
    return make_pipeline(DictVectorizer(), MaxAbsScaler(), LogisticRegression(max_iter=1000, tol=1e-6))


def _labels(examples: Sequence[Example]) -> np.ndarray:
    return np.array([example.label for example in examples])
