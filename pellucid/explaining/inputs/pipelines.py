"""Pipelines of transformers as they are: their settings are followed, or refused by name."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch

from pellucid.base.checks import listed, quoted, reason
from pellucid.base.errors import ModelCannot, notify
from pellucid.explaining.inputs.loading import load
from pellucid.models.classifiers.tokens import Tokenizer, TokenizerAsCalled
from pellucid.models.folders.configuration import TASKS, way_for, wrong_kind
from pellucid.run.model import Model
from pellucid.run.target import Problem

FOLLOWED = ("truncation", "max_length", "add_special_tokens", "truncation_side")
WITHOUT_EFFECT = ("padding", "pad_to_multiple_of", "padding_side", "return_tensors", "verbose")  # on a text alone
TRIALS = ("A good film.", "The staff were kind, but the room was loud and dear, and we left early. " * 3)
TOLERANCE, COARSE = 1e-3, 3e-2  # of probabilities and numbers; in sixteen bits
AS_A_FUNCTION = "explain it as a function from texts to probabilities: pellucid.from_function(predict, labels)"


def from_transformers(pipeline: Any) -> Model:
    """The classifier in a pipeline of transformers, with the pipeline's own settings.

    Raises `ModelCannot` for pipelines of other tasks, and for settings, pre- and postprocessing that cannot be
    followed.
    """
    task = str(pipeline.task)
    if task == "zero-shot-classification":
        raise ModelCannot(
            "A zero-shot pipeline asks its model whether a sentence with the label follows from the text; explain that "
            "pair: pellucid.explain((pipeline.model, pipeline.tokenizer), [(text, 'This example is sport.')], "
            "target=('entailment', 'contradiction'))."
        )
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
    short = any(weights.dtype in (torch.bfloat16, torch.float16) for weights in pipeline.model.parameters())
    room = COARSE if short else TOLERANCE
    plain: Any = model
    for text in TRIALS:
        prediction = plain.predict([text])[0]
        ours = prediction.logits if function == "none" or model.problem == "regression" else prediction.probabilities
        answers = dict(zip(model.labels, ours, strict=False))
        try:
            theirs = {str(answer["label"]): float(answer["score"]) for answer in _flat(pipeline(text, top_k=None))}
        except Exception as error:  # of the pipeline's own code
            raise ModelCannot(f"The pipeline fails on {quoted(text)}: {reason(error)}.") from error
        if any(not np.isclose(answers.get(label, np.nan), score, 0, room) for label, score in theirs.items()):
            raise ModelCannot(
                f"The pipeline answers {theirs} to {quoted(text)}, and its network by its settings {answers}: it has "
                f"steps of its own that cannot be followed; explain the network without them, pellucid.load("
                f"pipeline.model, pipeline.tokenizer), or {AS_A_FUNCTION}."
            )


def _flat(answers: Any) -> list[dict[str, Any]]:
    """The answers to a text, whichever version of the library gave them."""
    return _flat(answers[0]) if isinstance(answers[0], list) else list(answers)
