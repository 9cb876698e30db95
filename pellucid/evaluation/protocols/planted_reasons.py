"""Has a model learnt the reason that was planted, and do texts leak their label?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.base.errors import BadInput, ModelCannot
from pellucid.evaluation.shared.summary import accuracy_interval, paired_difference
from pellucid.results.extraction import Extraction
from pellucid.results.table import Interval

ENOUGH = 0.95


@dataclass(frozen=True)
class FollowsPlantedReason:
    """Shares of texts that the model classifies correctly, with 95 % intervals: as they are, and edited.

    counterfactual: on texts whose reason was edited, so that the label is the other one. distractor: on texts of which
    only the decoy was edited, so that the label stays; None where no decoys were planted.
    """

    accuracy: Interval
    counterfactual: Interval
    distractor: Interval | None

    def holds(self, enough: float = ENOUGH) -> bool:
        """Whether every share is at least `enough`. A model that follows the decoy fails, or one that ignores edits."""
        shares = (self.accuracy, self.counterfactual, self.distractor)
        return all(share.mean >= enough for share in shares if share is not None)

    def check(self, enough: float = ENOUGH) -> None:
        """Raise `ModelCannot`, with the shares, unless it holds."""
        if not self.holds(enough):
            raise ModelCannot(
                f"The reason is not learnt, so nothing can be said about explainers: {self}; {enough} is needed. "
                "Train longer, on more texts, or with a weaker distractor."
            )

    def __str__(self) -> str:
        edited = "" if self.distractor is None else f", with another decoy {self.distractor}"
        return f"right on {self.accuracy} of texts, with the reason edited {self.counterfactual}{edited}"


# Label leak: can the label be predicted from the number, lengths and places of the spans, without reading
# their words?
#
# Jethani et al. (2021), "Have We Learned to Explain?": an extractor that knows the label can write it
# into the length and the place of its spans, and a model trained on the spans can read it there. The
# probe sees only these features.


_MARK = regex.compile(r"[^\p{L}\p{N}\s]")


@dataclass(frozen=True)
class LabelLeak:
    """accuracy: of the probe on test. majority: that of always predicting the most frequent label of train.

    over_majority: accuracy - majority, paired by text, with its 95 % interval.
    """

    accuracy: Interval
    majority: Interval
    over_majority: Interval

    @property
    def leaks(self) -> bool:
        """Whether the spans' positions predict the label better than always answering the most frequent one."""
        return self.over_majority.low > 0


def label_leak(
    train: Sequence[Extraction], test: Sequence[Extraction], *, resamples: int = 2000
) -> LabelLeak:
    """Fit a logistic regression to the spans of train texts, and test it on those of test texts.

    Its features, for each text of an example: the number of spans and of their words, where the first begins and the last
    ends, and how often each punctuation mark is in them. Raises `BadInput` where labels are missing or all the same.
    """
    labels = [[one.example.label for one in part] for part in (train, test)]
    if None in labels[0] + labels[1] or len(set(labels[0])) < 2 or not test:
        raise BadInput("The probe needs labelled train and test texts, and two labels or more in train.")
    fitted = _probe().fit([features(one) for one in train], labels[0])
    truth = np.array(labels[1])
    right = fitted.predict([features(one) for one in test]) == truth
    names, counts = np.unique(np.array(labels[0]), return_counts=True)
    usual = names[counts.argmax()] == truth
    return LabelLeak(
        accuracy_interval(right, resamples=resamples),
        accuracy_interval(usual, resamples=resamples),
        paired_difference(right.astype(float), usual.astype(float), resamples=resamples),
    )


def features(extraction: Extraction) -> dict[str, float]:
    """The probe's features of one example, without any of its words."""
    counts: dict[str, float] = {}
    for segment, text in enumerate(extraction.example.segments):
        spans = [span for span in extraction.spans if span.segment == segment]
        if not spans:
            continue
        counts[f"{segment} words"] = float(sum(len(span.words) for span in spans))
        counts[f"{segment} spans"] = float(len(spans))
        counts[f"{segment} first"] = spans[0].start / len(text)
        counts[f"{segment} last"] = spans[-1].end / len(text)
        for mark in _MARK.findall(" ".join(span.text for span in spans)):
            counts[f"{segment} {mark}"] = counts.get(f"{segment} {mark}", 0.0) + 1
    return counts


def _probe() -> Pipeline:
    return make_pipeline(DictVectorizer(sparse=False), StandardScaler(), LogisticRegression(max_iter=1000))
