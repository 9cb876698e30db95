"""Upgrading a classifier: its encoder, labels and tokenizer stay; a new pooler and head are trained and compared with
the old.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from pellucid.base.checks import listed
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.base.files import possible_path, read_text, write_text
from pellucid.base.json_text import parsed
from pellucid.explaining.answers import class_logits_of
from pellucid.explaining.inputs.data_source import DataSource
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import is_composed, strips_final_full_stop
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.results.bootstrap import accuracy_interval, paired_interval
from pellucid.results.table import Interval
from pellucid.run.batch import Row
from pellucid.run.target import Problem
from pellucid.run.trace import Want
from pellucid.text.example import Example
from pellucid.training.recipes import TrainingTexts
from pellucid.training.training_loss import gold_numbers, right_answers

# Upgrade: how often a classifier was right before and after its encoder was given a new pooler and head.

FILE = "upgrade.json"


@dataclass(frozen=True)
class Change:
    """Accuracy on the same texts, 0 to 1. n: how many texts; difference: after - before, text by text."""

    n: int
    before: Interval
    after: Interval
    difference: Interval

    @property
    def verdict(self) -> str:
        """The difference in words, as far as its interval allows."""
        if not self.difference.excludes_zero:
            return "too close to tell apart"
        return "better than before" if self.difference.mean > 0 else "worse than before"


def change(before: Sequence[bool], after: Sequence[bool]) -> Change:
    """The change of accuracy between two models.

    before, after: [example], whether each model classified the example correctly; the same texts in the same order.
    """
    sides = [np.asarray(right, dtype=float) for right in (before, after)]
    was, now = (accuracy_interval(right) for right in sides)
    return Change(len(before), was, now, paired_interval(sides[1] - sides[0]))


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade changed, for each part of the data; `train(…, start_from=…)` writes it to the model's folder.

    started_from: the classifier whose encoder was used again. parts: part -> its change. left_out: part -> why it was
    not judged.

    >>> upgraded = pellucid.train("reviews.csv", start_from="my-classifier", out="my-upgraded-classifier", epochs=1)
    >>> upgrade = pellucid.Upgrade.read("my-upgraded-classifier")
    >>> upgrade.started_from, list(upgrade.parts)
    ('my-classifier', ['dev', 'test'])
    """

    started_from: str
    parts: Mapping[str, Change]
    left_out: Mapping[str, str]

    def in_words(self) -> list[str]:
        """One line for each part, accuracy in per cent and differences in points."""
        lines = [
            f"Accuracy on {part} ({change.n} texts): {_percent(change.before)} before, {_percent(change.after)} after; "
            f"{100 * change.difference.mean:+.1f} points [{100 * change.difference.low:+.1f}, "
            f"{100 * change.difference.high:+.1f}]: {change.verdict}."
            for part, change in self.parts.items()
        ]
        lines += [f"The {part} part was not judged: {why}" for part, why in self.left_out.items()]
        return [*lines, "The epoch was chosen on dev, which favours the new model there."]

    def save(self, folder: str | Path) -> Path:
        """Write upgrade.json to a model's folder."""
        path = Path(folder) / FILE
        write_text(path, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")
        return path

    @classmethod
    def read(cls, folder: str | Path) -> "Upgrade":
        """What `save` wrote; raises `BadFile` where there is no such file or it is broken."""
        path = Path(folder) / FILE
        try:
            record = parsed(read_text(path))
            parts = {part: _written_change(of_part) for part, of_part in record["parts"].items()}
            left_out = {str(part): str(why) for part, why in record["left_out"].items()}
            return cls(str(record["started_from"]), parts, left_out)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            raise BadFile(f"{path} is no record of an upgrade.") from None


def _written_change(record: Mapping) -> Change:
    intervals = {
        name: Interval(*(float(record[name][bound]) for bound in ("mean", "low", "high")))
        for name in ("before", "after", "difference")
    }
    return Change(int(record["n"]), **intervals)


def _percent(interval: Interval) -> str:
    return f"{100 * interval.mean:.1f} %"


def start(source: str | Path, encoder: object, problem: Problem | None, device: str) -> Classifier:
    """The classifier to upgrade; encoder and problem as in a call of `train`.

    Raises `ModelCannot` for decoders and regression, `BadSetting` for an encoder or another problem than its own,
    `BadFile` for what cannot be a folder or a name.
    """
    possible_path(source)
    if encoder is not None:
        raise BadSetting(f"The encoder is that of {source}; leave encoder= (--encoder) away.")
    classifier = load_classifier(source, device=device)
    if classifier.problem == "regression":
        raise ModelCannot(f"{source} is a regression model; only classifiers can be upgraded.")
    if problem is not None and problem != problem_of(classifier):
        raise BadSetting(f"{source} is {problem_of(classifier)}; leave problem= (--problem) away.")
    if not is_composed(Path(source)) and not reads_backwards(classifier):
        raise ModelCannot(
            f"{source} reads from left to right, so its states do not know what follows; upgrade an encoder (BERT, "
            "RoBERTa, DeBERTa, ModernBERT, …) instead."
        )
    return classifier


def problem_of(classifier: Classifier) -> Problem:
    """The problem of the upgraded model: one logit for two classes becomes two logits."""
    return "single_label" if classifier.problem == "one_logit" else classifier.problem


def plan_from(plan: Plan, old: Classifier, parts: Mapping[str, Sequence[Example]]) -> Plan:
    """The plan with what the old classifier decides: classes, problem, its digest, and whether full stops are
    skipped.
    """
    return replace(
        plan,
        labels=classes(old, parts),
        problem=problem_of(old),
        strip_final_full_stop=plan.strip_final_full_stop or strips_final_full_stop(old.tokenizer),
        started_from=old.hash,
    )


def classes(old: Classifier, parts: Mapping[str, Sequence[Example]]) -> tuple[str, ...]:
    """The old classifier's labels in their order; raises `BadInput` where the data have another label."""
    labels = {example.label for part in parts.values() for example in part if example.label is not None}
    if old.problem == "multi_label":
        labels = {name.strip() for label in labels for name in label.split(",")} - {""}
    strange = sorted(labels - set(old.labels))
    if strange:
        raise BadInput(
            f"The data have labels that {old.name} does not know: {listed(strange)}; it knows "
            f"{listed(old.labels)}. Name its classes so in id2label of its config.json, or rename the labels."
        )
    return old.labels


def judge(old: Classifier, new: Classifier, dev: Sequence[Example], test_source: DataSource | TrainingTexts) -> Upgrade:
    """Judge both models on the dev texts, and on the test part of the data as it is now.

    A test part that cannot be read, or has no labels, is left out with the reason.
    """
    changes, left_out = {"dev": _change(old, new, dev)}, {}
    try:
        test = test_source.training_part()
        if not test:
            raise BadInput("it has no examples.")
        gold_numbers(test, old.labels, old.problem)
        changes["test"] = _change(old, new, test)
    except (BadFile, BadInput, BadSetting) as error:
        left_out["test"] = str(error)
    return Upgrade(old.name, changes, left_out)


def _change(old: Classifier, new: Classifier, examples: Sequence[Example]) -> Change:
    return change(right(old, examples), right(new, examples))


def right(model: Classifier, examples: Sequence[Example]) -> list[bool]:
    """[example]: whether the model's prediction is the label."""
    predicted = class_logits_of(model, examples)
    gold = gold_numbers(examples, model.labels, model.problem)
    return right_answers(predicted, gold, model.problem).tolist()


# Whether a network reads a text in both directions: tried, not looked up in a list of names.


def reads_backwards(classifier: Classifier) -> bool:
    """Whether the first piece's last state knows the last of three pieces; a decoder's does not."""
    pieces = classifier.vocabulary.tolist()[:2]
    rows = [Row((pieces[0], pieces[0], last), (0,) * 3, (0, 1, 2), (0, 1, 2), (0,) * 3) for last in pieces]
    with torch.no_grad():
        first, second = classifier.trace(rows, Want(hidden=True)).hidden[-1][:, 0]
    return not torch.equal(first, second)
