"""Pipelines of transformers as they are: what cannot be followed is refused by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from pellucid.base.checks import listed, quoted, reason
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, ParityBroken, notify
from pellucid.explaining.inputs.loading import load, remember
from pellucid.models.classifiers.buffer_copies import reading
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.running import class_names
from pellucid.models.classifiers.several_readings import Hypotheses, SeveralReadings
from pellucid.models.classifiers.tokens import Tokenizer, TokenizerAsCalled
from pellucid.models.folders.configuration import TASKS, way_for, wrong_kind
from pellucid.run.model import Model
from pellucid.run.target import Problem

# What a network that answers for pieces is asked -> the tasks of its pipelines.
OF_PIECES = {"tag": ("token-classification", "ner"), "answer": ("question-answering",), "word": ("fill-mask",)}
FOLLOWED = ("truncation", "max_length", "add_special_tokens", "truncation_side")
WITHOUT_EFFECT = ("padding", "pad_to_multiple_of", "padding_side", "return_tensors", "verbose")  # on a text alone
TRIALS = ("A good film.", "The staff were kind, but the room was loud and dear, and we left early. " * 3)
TOLERANCE, COARSE = 1e-3, 3e-2  # of probabilities and numbers; in sixteen bits
ZERO_SHOT, TEMPLATE = "zero-shot-classification", "This example is {}."
AS_A_FUNCTION = "explain it as a function from texts to probabilities: pellucid.from_function(predict, labels)"


def from_transformers(pipeline: Any) -> Model:
    """The classifier in a pipeline of transformers, with the pipeline's own settings.

    Raises `ModelCannot` for pipelines of other tasks, and for settings, pre- and postprocessing that cannot be
    followed.
    """
    task = str(pipeline.task)
    if task == ZERO_SHOT:
        return zero_shot(pipeline)
    if any(task in tasks for tasks in OF_PIECES.values()):
        return _of_pieces(pipeline)
    if task not in ("text-classification", "sentiment-analysis"):
        does = TASKS.get(task, f"is for the task {quoted(task)}")
        raise ModelCannot(wrong_kind(f"The pipeline ({type(pipeline).__name__})", does, way_for(does)))
    function = _function(pipeline)
    tokenizer: Any = pipeline.tokenizer
    if settings := _settings(pipeline):
        tokenizer = TokenizerAsCalled(cast(Tokenizer, tokenizer), settings)
    model = load(pipeline.model, tokenizer, problem=_problem(pipeline, function))
    _check_answers(pipeline, model, function)
    return model


def _of_pieces(pipeline: Any) -> Model:
    """The tagger, reader or guesser of words in a pipeline; of a tagger, by whose own steps entities are joined."""
    settings = {name: value for name, value in getattr(pipeline, "_preprocess_params", {}).items() if value}
    if settings:
        raise ModelCannot(
            f"The pipeline is called with {listed(sorted(settings))}, which cannot be followed; leave that away and "
            f"give whole texts as strings."
        )
    model: Any = load(pipeline.model, pipeline.tokenizer)
    if model.piece_answers is None or pipeline.task not in OF_PIECES[model.piece_answers.kind]:
        raise ModelCannot(f"The pipeline is for {pipeline.task}, and its model, {model.name}, is of another kind.")
    return cast(Model, replace(model, piece_answers=replace(model.piece_answers, pipeline=pipeline)))


def _settings(pipeline: Any) -> dict[str, Any]:
    """How the pipeline calls its tokenizer, beside what has no effect on a text alone."""
    settings: Mapping[str, Any] = getattr(pipeline, "_preprocess_params", {})
    unknown = [name for name in settings if name not in (*FOLLOWED, *WITHOUT_EFFECT)]
    if unknown:
        raise ModelCannot(
            f"The pipeline calls its tokenizer with {listed(unknown)}, which cannot be followed; leave that away, or "
            f"{AS_A_FUNCTION}."
        )
    return {name: value for name, value in settings.items() if name in FOLLOWED}


def _function(pipeline: Any) -> str:
    """What the pipeline makes of logits: "softmax", "sigmoid", "none", or "" for what the configuration says."""
    function = getattr(pipeline, "_postprocess_params", {}).get("function_to_apply")
    return "" if function is None else str(getattr(function, "name", function)).lower()


def _problem(pipeline: Any, function: str) -> Problem | None:
    """How logits become probabilities in this pipeline; None: as the configuration says."""
    is_single = pipeline.model.config.num_labels == 1
    if function == "sigmoid":
        return "one_logit" if is_single else "multi_label"
    if function == "softmax" and is_single:
        raise ModelCannot(
            "The pipeline applies a softmax to a single logit, which is always 1; leave function_to_apply away."
        )
    if function == "none":
        if not is_single:
            notify(
                "The pipeline gives raw logits (function_to_apply='none'); they are what is explained, and the "
                "probabilities shown beside them are their softmax."
            )
        return "regression" if is_single else "single_label"
    return "single_label" if function == "softmax" else None


def _check_answers(pipeline: Any, model: Model, function: str) -> None:
    """Raise `ModelCannot` where the pipeline answers otherwise than its network does by these settings."""

    def answers(text: str) -> dict[str, float]:
        return {str(answer["label"]): float(answer["score"]) for answer in _flat(pipeline(text, top_k=None))}

    plain: Any = model
    values = function == "none" or model.problem == "regression"
    compare_answers("pipeline", answers, lambda text: named_numbers(plain.predict([text])[0], values), pipeline.model)


def named_numbers(prediction: Any, values: bool) -> dict[str, float]:
    """The classes' probabilities, or their logits."""
    return dict(zip(prediction.labels, prediction.logits if values else prediction.probabilities, strict=False))


def compare_answers(
    what: str,
    theirs: Callable[[Any], Mapping[str, float]],
    ours: Callable[[Any], Mapping[str, float]],
    network: torch.nn.Module,
    trials: Sequence[Any] = TRIALS,
) -> None:
    """Raise `ModelCannot` where an object's own answers to the trials are none of those that would be explained.

    what: the object. theirs, ours: a trial -> its answers by name; all of theirs must be among ours.
    """
    short = any(weights.dtype in (torch.bfloat16, torch.float16) for weights in network.parameters())
    room = COARSE if short else TOLERANCE
    for trial in trials:
        try:
            with reading(network):  # some objects leave it in evaluation mode
                expected = theirs(trial)
        except Exception as error:  # of the object's own code
            raise ModelCannot(f"The {what} fails on {quoted(trial)}: {reason(error)}.") from error
        try:
            answers = ours(trial)
        except ParityBroken:  # where the guard asks the object itself
            answers = {}
        if any(not np.isclose(answers.get(name, np.nan), value, 0, room) for name, value in expected.items()):
            others = f"{dict(answers)}" if answers else "otherwise"
            plain = "explain the network without them, pellucid.load(pipeline.model, pipeline.tokenizer), or "
            raise ModelCannot(
                f"The {what} answers {dict(expected)} to {quoted(trial)}, and its network by its settings {others}: it "
                f"has steps of its own that cannot be followed; {plain if what == 'pipeline' else ''}{AS_A_FUNCTION}."
            )


def _flat(answers: Any) -> list[dict[str, Any]]:
    """The answers to a text, whichever version of the library gave them."""
    return _flat(answers[0]) if isinstance(answers[0], list) else list(answers)


# Zero-shot classification: a label's number is the entailment of a sentence with the label by the text.


def zero_shot(
    model: Any,
    labels: Sequence[str] | None = None,
    *,
    hypothesis_template: str | None = None,
    multi_label: bool | None = None,
) -> SeveralReadings:
    """A zero-shot pipeline, or a classifier of entailment, with its labels as a model of texts.

    Each label's number is the network's entailment logit for (text, hypothesis), as the pipeline computes it. Source:
    Yin, Hay & Roth (2019), "Benchmarking Zero-shot Text Classification", section 4.

    model: a pipeline of transformers for zero-shot classification; or a model and its tokenizer in a tuple, a folder, a
        hub name, or a classifier from `load`, whose classes name the entailment.
    labels: the candidates; None: those that the pipeline was made with.
    hypothesis_template: the sentence with {} for the label; None: the pipeline's own, else "This example is {}.".
    multi_label: False: labels exclude one another, and their probabilities are a softmax over all entailments. True,
        and where there is one label: each stands alone, and its logit is the entailment less the contradiction. None:
        as the pipeline was made, else False.

    Returns a model that every door accepts. Raises `BadSetting` for no labels, the same label twice or a template
    without {}, `ModelCannot` for a model without an entailment class, or where a pipeline answers otherwise.

    >>> model = pellucid.zero_shot("my-nli-model", labels=["sport", "politics"])
    >>> results = pellucid.explain(model, "Snow fell on the harbour.", target=("sport", "politics"))
    >>> print(results[0].target)
    logit of sport against politics
    """
    is_pipeline = hasattr(model, "task")
    named = {"candidate_labels": labels, "hypothesis_template": hypothesis_template, "multi_label": multi_label}
    settings = {"hypothesis_template": TEMPLATE, "multi_label": False, **(_own_settings(model) if is_pipeline else {})}
    settings |= {name: value for name, value in named.items() if value is not None}
    if settings.get("candidate_labels") is None:
        raise BadInput(
            "A zero-shot pipeline needs its labels; name them: pellucid.zero_shot(pipeline, labels=['sport', "
            "'politics']), and explain what that returns."
        )
    settings["candidate_labels"] = list(class_names("labels", settings["candidate_labels"]))
    reader = _nli_classifier((model.model, model.tokenizer) if is_pipeline else model)
    wrapped = _of_labels(reader, **settings)
    if is_pipeline:
        _check_labels(model, wrapped, settings)
    elif isinstance(model, str | Path):
        remember(wrapped, partial(_zero_shot_again, model, settings))
    return wrapped


def _zero_shot_again(source: str | Path, settings: dict[str, Any]) -> SeveralReadings:
    """The same model in another process."""
    return _of_labels(_nli_classifier(source), **settings)


def _of_labels(
    reader: Classifier, candidate_labels: Sequence[str], hypothesis_template: object, multi_label: object
) -> SeveralReadings:
    """The model of these labels; one label alone counts as one of several that do not exclude one another."""
    names, n_classes = tuple(candidate_labels), len(reader.labels)
    hypotheses = _hypotheses(names, hypothesis_template)
    if not isinstance(multi_label, bool):
        raise BadSetting(f"multi_label={quoted(multi_label)} is not possible; give True or False.")
    entailment, exclude = _entailment(reader), not multi_label and len(names) > 1
    against = None if exclude else 0 if entailment else n_classes - 1  # the pipeline's contradiction
    form = Hypotheses(reader, hypotheses, entailment, against)
    if len(names) == 1:
        return SeveralReadings(reader, form, (f"not {names[0]}", names[0]), "one_logit", reader.name)
    return SeveralReadings(reader, form, names, "single_label" if exclude else "multi_label", reader.name)


def _own_settings(pipeline: Any) -> dict[str, Any]:
    """The settings that a zero-shot pipeline was made with; raises `ModelCannot` for a pipeline of another task."""
    if pipeline.task != ZERO_SHOT:
        raise ModelCannot(f"The pipeline is for {quoted(pipeline.task)}; give one for {ZERO_SHOT!r}.")
    every = {**getattr(pipeline, "_preprocess_params", {}), **getattr(pipeline, "_postprocess_params", {})}
    return {name: every[name] for name in ("candidate_labels", "hypothesis_template", "multi_label") if name in every}


def _hypotheses(labels: Sequence[str], template: object) -> tuple[str, ...]:
    """The template with each label; raises `BadSetting` for no labels, one twice, or a template without a place."""
    if not labels or len(set(labels)) < len(labels) or not all(label.strip() for label in labels):
        raise BadSetting(f"labels must be different names; {', '.join(map(quoted, labels)) or 'none'} came.")
    try:
        sentences = tuple(str(template).format(label) for label in labels)
    except (LookupError, ValueError, AttributeError):
        sentences = (str(template),)
    if not isinstance(template, str) or sentences[0] == template:
        raise BadSetting(
            f"hypothesis_template={quoted(template)} must have one place for the label; write {{}} once: 'This text "
            f"is about {{}}.'"
        )
    return sentences


def _nli_classifier(source: Any) -> Classifier:
    """The classifier behind a network with its tokenizer, a folder or a hub name."""
    if isinstance(source, str | Path):
        source = load(source)
    elif isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], torch.nn.Module):
        source = load(*source)
    if not isinstance(source, Classifier):
        raise BadInput(
            f"The model came as {type(source).__name__}; give a zero-shot pipeline, a folder, a hub name, or a model "
            f"with its tokenizer in a tuple."
        )
    return source


def _entailment(reader: Classifier) -> int:
    """The number of the class of entailment, as the pipeline finds it; raises `ModelCannot` where there is none."""
    names = [label.lower() for label in reader.labels]
    entailing = [place for place, name in enumerate(names) if name.startswith("entail")]
    if not entailing or reader.problem in ("one_logit", "regression"):
        raise ModelCannot(
            f"{reader.name} has the classes {listed(list(reader.labels))} and none of entailment; give a model that "
            f"was trained on natural language inference, and name that class in its id2label."
        )
    return entailing[0]


def _check_labels(pipeline: Any, model: SeveralReadings, settings: Mapping[str, Any]) -> None:
    """Raise `ModelCannot` where the pipeline gives other probabilities than the model."""

    def answers(text: str) -> dict[str, float]:
        answer = pipeline(text, **settings)
        return dict(zip(answer["labels"], answer["scores"], strict=True))

    compare_answers("pipeline", answers, lambda text: named_numbers(model.predict([text])[0], False), pipeline.model)
