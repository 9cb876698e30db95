"""The door `plant`, texts whose label has one known reason; and whether a model has learnt the reason that was
planted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from pellucid.base.checks import whole
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.files import possible_path
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import reasons
from pellucid.base.output_folder import OutputFolder, check_unwritten, is_damaged
from pellucid.data.plant import PARTS, carrier_parts
from pellucid.data.plant import plant as plant_in
from pellucid.explaining.inputs.examples import examples_from
from pellucid.explaining.inputs.readings import Data
from pellucid.results.bootstrap import accuracy_interval, paired_difference
from pellucid.results.extraction import Extraction
from pellucid.results.table import Interval
from pellucid.run.blank import HIGHEST_SEED
from pellucid.text.example import Example

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from sklearn.pipeline import Pipeline

FILES = {part: f"{part}.jsonl" for part in PARTS}
MOST_TEXTS = 1_000_000  # all of them are in memory


def plant(
    reason: str,
    on: Data = "pocket",
    *,
    out: str | Path | None = None,
    n: int = 1000,
    distractor: float | None = 0.9,
    seed: int = 0,
    **settings: Any,
) -> dict[str, list[Example]]:
    """Make texts whose label has one known reason, from texts of yours.

    reason: "token", "token_pair", "order", "position", "span" or "lexicon".
    on: the texts to plant in: a data set's name, a file, a folder, a list of texts, or a data frame.
    out: a folder to write the parts to, as JSON lines; None: they are only returned.
    n: how many train texts to make, 10 or more; dev and test have a fifth each.
    distractor: how often, in train, a decoy word occurs with its label, 0 to 1; None plants no decoys.
    seed: a whole number; the seed of all draws.
    settings: the reason's own.

    Returns the parts: "train", "dev" and "test". Raises `BadFile` where a file of the folder exists already, unless the
    same call wrote it and others of its files are damaged, which are made again; `UnknownName` for a reason or setting
    that does not exist, `BadSetting` for a value that is not possible, `BadInput` for texts that nothing can be planted
    in.

    >>> parts = pellucid.plant("token", n=100, out="planted")
    >>> {name: len(part) for name, part in parts.items()}
    {'train': 100, 'dev': 20, 'test': 20}
    >>> example = parts["train"][0]
    >>> mark = example.rationales[0]
    >>> example.segments[0][mark.start : mark.end], example.label
    ('blicket', 'no')
    """
    call = reasons.calls([(reason, settings)])[0]
    whole("n", n, 10, MOST_TEXTS)
    folder = None if out is None else possible_path(out)
    if folder is not None and not is_damaged(folder):
        check_unwritten(folder / name for name in FILES.values())
    whole("seed", seed, 0, HIGHEST_SEED)
    carriers = str(possible_path(on)) if isinstance(on, str | Path) else examples_from(on)
    parts = plant_in(carrier_parts(carriers), call, n=n, distractor=distractor, seed=seed)
    if folder is not None:
        _write(parts, folder)
    return parts


def _write(parts: dict[str, list[Example]], folder: Path) -> None:
    """Write all parts to a new folder; to a damaged one of the same call, those that are damaged."""
    from pellucid.data.exports.json_lines import as_line, write_json_lines  # Arrow takes a tenth of a second to import

    lines = {part: [as_line(example) for example in examples] for part, examples in parts.items()}
    files = OutputFolder(folder, "plant", json_digest(lines), list(FILES.values()))
    state = files.begin()
    if not state.damaged:
        check_unwritten(folder / name for name in FILES.values())
    for part, name in FILES.items():
        if not (folder / name).exists():
            write_json_lines(parts[part], folder / name)
    files.end(state)


# Has a model learnt the reason that was planted, and do texts leak their label?

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


# Label leak: can the label be predicted from the number, lengths and places of the spans, without reading their
# words?
#
# Jethani et al. (2021), "Have We Learned to Explain?": an extractor that knows the label can write it into the length
# and the place of its spans, and a model trained on the spans can read it there. The probe sees only these features.

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


def label_leak(train: Sequence[Extraction], test: Sequence[Extraction], *, resamples: int = 2000) -> LabelLeak:
    """Fit a logistic regression to the spans of train texts, and test it on those of test texts.

    Its features, for each text of an example: the number of spans and of their words, where the first begins and the
    last ends, and how often each punctuation mark is in them. Raises `BadInput` where labels are missing or all the
    same.
    """
    labels = [[extraction.example.label for extraction in part] for part in (train, test)]
    if None in labels[0] + labels[1] or len(set(labels[0])) < 2 or not test:
        raise BadInput("The probe needs labelled train and test texts, and two labels or more in train.")
    fitted = _probe().fit([features(extraction) for extraction in train], labels[0])
    truth = np.array(labels[1])
    right = fitted.predict([features(extraction) for extraction in test]) == truth
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
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(DictVectorizer(sparse=False), StandardScaler(), LogisticRegression(max_iter=1000))
