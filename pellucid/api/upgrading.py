"""Upgrading a classifier: its encoder, labels and tokenizer are kept, a new pooler and head are trained and compared with the old."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pellucid.api.judging import answers
from pellucid.core.foundation.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.core.foundation.wording import listed
from pellucid.core.passes.target import Problem
from pellucid.core.text.example import Example
from pellucid.evaluation.protocols.upgrade import Change, Upgrade, change
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.reading_direction import reads_backwards
from pellucid.models.composed.composed import is_composed
from pellucid.models.composed.final_full_stop import strips_final_full_stop
from pellucid.models.composed.plan import Plan
from pellucid.models.load import load_classifier
from pellucid.training.objective import gold_numbers, right_answers


def start(source: str | Path, encoder: object, problem: Problem | None, device: str) -> Classifier:
    """The classifier to upgrade; encoder and problem as the caller of `train` gave them.

    Raises `ModelCannot` for decoders and regression, `BadSetting` for an encoder or another problem beside it.
    """
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


def continued(plan: Plan, started: Classifier, parts: Mapping[str, Sequence[Example]]) -> Plan:
    """The plan with what the classifier decides: classes, problem, its digest, and whether full stops are passed over."""
    return replace(
        plan,
        labels=classes(started, parts),
        problem=problem_of(started),
        strip_final_full_stop=plan.strip_final_full_stop or strips_final_full_stop(started.tokenizer),
        started_from=started.hash,
    )


def classes(started: Classifier, parts: Mapping[str, Sequence[Example]]) -> tuple[str, ...]:
    """The classifier's labels in their order; raises `BadInput` where the data have another one."""
    given = {example.label for part in parts.values() for example in part if example.label is not None}
    if started.problem == "multi_label":
        given = {name.strip() for label in given for name in label.split(",")} - {""}
    strange = sorted(given - set(started.labels))
    if strange:
        raise BadInput(
            f"The data have labels that {started.name} does not know: {listed(strange)}; it knows "
            f"{listed(started.labels)}. Name its classes so in id2label of its config.json, or rename the labels."
        )
    return started.labels


def judge(
    started: Classifier,
    model: Classifier,
    folder: Path,
    dev: Sequence[Example],
    load_test: Callable[[], list[Example]],
) -> Upgrade:
    """Judge both models on dev and on test as they are now, and keep the record in the new model's folder.

    load_test: gives the test part or raises; a part that cannot be read, or has no labels, is left out with the reason.
    """
    changes, left_out = {"dev": _change(started, model, dev)}, {}
    try:
        test = load_test()
        if not test:
            raise BadInput("it has no examples.")
        gold_numbers(test, started.labels, started.problem)
        changes["test"] = _change(started, model, test)
    except (BadFile, BadInput, BadSetting) as error:
        left_out["test"] = str(error)
    found = Upgrade(started.name, changes, left_out)
    found.save(folder)
    return found


def _change(started: Classifier, model: Classifier, examples: Sequence[Example]) -> Change:
    return change(right(started, examples), right(model, examples))


def right(model: Classifier, examples: Sequence[Example]) -> list[bool]:
    """[example]: whether the model's answer is the label."""
    given = answers(model, examples)
    gold = gold_numbers(examples, model.labels, model.problem)
    return right_answers(given, gold, model.problem).tolist()
