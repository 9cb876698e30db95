"""Pipelines as they are: of transformers, whose settings are followed or refused by name, and of scikit-learn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import lil_matrix

from pellucid.base.checks import clipped, every, listed, of_class, quoted, reason
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, notify
from pellucid.explaining.inputs.loading import load
from pellucid.models.classifiers.function import PROBES, FunctionClassifier, from_function
from pellucid.models.classifiers.readable import LinearPipeline, n_features, reads_texts, vocabulary_reader
from pellucid.models.classifiers.tokens import Tokenizer, TokenizerAsCalled
from pellucid.models.folders.configuration import TASKS, WRAP, wrong_kind
from pellucid.run.model import Model
from pellucid.run.target import Problem, class_probabilities

# What a network that answers for pieces is asked -> the tasks of its pipelines.
OF_PIECES = {"tag": ("token-classification", "ner"), "answer": ("question-answering",), "word": ("fill-mask",)}
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
    if any(task in tasks for tasks in OF_PIECES.values()):
        return _of_pieces(pipeline)
    if task not in ("text-classification", "sentiment-analysis"):
        does = TASKS.get(task, f"is for the task {quoted(task)}")
        raise ModelCannot(wrong_kind(f"The pipeline ({type(pipeline).__name__})", does, WRAP))
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
                f"steps of its own that cannot be followed; {AS_A_FUNCTION}."
            )


def _flat(answers: Any) -> list[dict[str, Any]]:
    """The answers to a text, whichever version of the library gave them."""
    return _flat(answers[0]) if isinstance(answers[0], list) else list(answers)


# Fitted pipelines of scikit-learn, and objects of other libraries with the same functions.

SAME, N_TRIALS = 1e-9, 8  # of an answer, between a linear model's own and what its coefficients give; rows that show it


def from_pipeline(
    pipeline: Any,
    *,
    name: str | None = None,
    columns: Sequence[str] = (),
    text: str | None = None,
    background: Any = None,
    draws: int = 64,
) -> FunctionClassifier:
    """A fitted scikit-learn pipeline that reads texts as a model that can be explained, judged and compared.

    pipeline: its probabilities are used, or its decision function where it has none; of a regressor its value. Of a
        vectorizer with a linear model the logits are the decision function, of which the probabilities are made. One
        that predicts several labels a text counts as multi-label. Other objects with `predict_proba` and `labels`, such
        as SetFit's, are read too.
    name: what results call the model; None: the pipeline's class.
    background, draws: of a pipeline that reads data frames of a text and numbers, as in `from_function`.
    columns, text: the frame's feature columns, and the column of the text; read off a `ColumnTransformer` at the
        beginning of the pipeline where they are not named.

    Returns the classifier. Raises `BadInput` for a pipeline that is not fitted, does not classify or has several
    outputs with classes of their own.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    >>> fitted = pipeline.fit(["good film", "good book", "dull film", "dull book"], ["+", "+", "-", "-"])
    >>> pellucid.from_pipeline(fitted, name="words").predict(["A good evening"])[0]
    <Prediction + 0.66>
    """
    of_class("The name", name, str | NoneType, "give a string")
    of_class("text", text, str | NoneType, "give the name of the text's column")
    columns = every("columns", columns, str, "give a list of names")
    settings: dict[str, Any] = {"name": name or type(pipeline).__name__}
    if columns or background is not None or column_transformer(pipeline) is not None:
        text, columns = _columns(pipeline, text, columns)
        settings |= {"text": text, "columns": columns, "background": background, "draws": draws}
    linear = None if columns else linear_pipeline(pipeline)
    if _is_regressor(pipeline):
        model = from_function(pipeline.predict, ["value"], problem="regression", **settings)
    else:
        model = _classifier(pipeline, settings, linear is not None)
    return replace(model, reader=vocabulary_reader(pipeline), linear=linear)


def _classifier(pipeline: Any, settings: dict[str, Any], is_linear: bool) -> FunctionClassifier:
    classes, title = getattr(pipeline, "classes_", getattr(pipeline, "labels", None)), clipped(settings["name"])
    if not isinstance(classes, Iterable) or isinstance(classes, str):
        raise BadInput(
            f"The pipeline {title} has no classes_: fit it first, and give a classifier; or name the classes "
            f"yourself: pellucid.from_function(pipeline.predict_proba, labels)."
        )
    if any(np.ndim(label) for label in classes):
        raise BadInput(
            f"The pipeline {title} has several outputs, each with classes of its own; give from_function a "
            f"function of one of them."
        )
    labels = [str(label) for label in classes]
    problem: Problem = "multi_label" if _gives_several_labels(pipeline, len(labels)) else "single_label"
    if hasattr(pipeline, "predict_proba") and not is_linear:
        return from_function(pipeline.predict_proba, labels, problem=problem, **settings)
    if hasattr(pipeline, "decision_function"):
        if problem == "single_label" and len(labels) == 2:
            problem = "one_logit"
        return from_function(pipeline.decision_function, labels, gives="logits", problem=problem, **settings)
    raise BadInput(f"The pipeline {title} has neither predict_proba nor decision_function; give a classifier.")


def _is_regressor(pipeline: object) -> bool:
    """Whether a fitted model of scikit-learn gives a value, as its own tags say."""
    tags = getattr(pipeline, "__sklearn_tags__", None)
    try:
        return tags is not None and tags().estimator_type == "regressor"
    except Exception:  # a model of another library that is built like one of scikit-learn
        return False


def _gives_several_labels(pipeline: object, count: int) -> bool:
    """Whether a pipeline says of each label whether a text has it; count: of labels."""
    predict = getattr(pipeline, "predict", None)
    try:
        return predict is not None and np.shape(predict([PROBES[0]])) == (1, count) and count > 1
    except Exception:  # anything can happen in a user's pipeline; explaining says what
        return False


# Pipelines of data frames: which of their columns is the text.


def column_transformer(pipeline: Any) -> Any:
    """The `ColumnTransformer` that a pipeline begins with; None where it begins with something else."""
    first: Any = getattr(pipeline, "best_estimator_", pipeline)
    while isinstance(steps := getattr(first, "steps", None), list) and steps:
        first = steps[0][1]
    is_fitted = isinstance(getattr(first, "transformers_", None), list) and hasattr(first, "feature_names_in_")
    return first if is_fitted else None


def _columns(pipeline: Any, text: str | None, columns: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The column of the text and the feature columns; those that are not named are read off the pipeline.

    Raises `BadSetting` where it reads no column as texts, or several.
    """
    first = column_transformer(pipeline)
    if first is None:
        return text or "text", columns
    parts = [(part, places) for _, part, places in first.transformers_ if not isinstance(part, str) or part != "drop"]
    read = [(part, _names(first, places)) for part, places in parts]
    texts = list(dict.fromkeys(name for part, names in read if reads_texts(part) for name in names))
    if text is None and len(texts) != 1:
        raise BadSetting(
            f"The pipeline reads {len(texts)} columns as texts ({listed(texts) or 'none'}); name the text's with text=."
        )
    text = texts[0] if text is None else text
    there = dict.fromkeys(name for _, names in read for name in names)
    return text, columns or [name for name in there if name != text]


def _names(transformer: Any, places: Any) -> list[str]:
    """The columns that a part of a `ColumnTransformer` reads, which may name them, number them or mark them."""
    members: Any = places if isinstance(places, slice) else [places] if isinstance(places, str | int) else list(places)
    if isinstance(members, list) and all(isinstance(name, str) for name in members):
        return members
    return [str(name) for name in np.array(transformer.feature_names_in_)[members]]


# Linear models of n-grams.


def linear_pipeline(pipeline: Any) -> LinearPipeline | None:
    """A vectorizer and a linear model; None for a pipeline that is no such thing, or answers by something else as well.

    Its logits are the decision function, and where it has probabilities, they are softmax or sigmoid of that.
    """
    best = getattr(pipeline, "best_estimator_", pipeline)
    steps = getattr(best, "steps", None)
    model: Any = steps[-1][1] if isinstance(steps, list) and len(steps) > 1 else None
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return None
    reader = best[:-1]
    dense = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    weights = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    if weights.shape[1] != n_features(reader):
        return None
    constants = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(weights))
    return LinearPipeline(reader, weights, constants) if _answers_by(model, weights, constants) else None


def _answers_by(model: Any, weights: np.ndarray, constants: np.ndarray) -> bool:
    """Whether a model's answers to some rows of features are the sums that its coefficients give."""
    generator, width = np.random.default_rng(0), weights.shape[1]
    places = [generator.choice(width, min(width, N_TRIALS), replace=False) for _ in range(N_TRIALS)]
    rows = lil_matrix((N_TRIALS, width))
    for index, columns in enumerate(places):
        rows[index, columns] = generator.random(len(columns))
    rows = rows.tocsr()
    expected = rows @ weights.T + constants
    try:
        answers = (model.predict if _is_regressor(model) else model.decision_function)(rows)
        chances = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    except Exception:  # a model of another library that is built like one of scikit-learn
        return False
    problem: Problem = "one_logit" if len(weights) == 1 else "single_label"
    if np.size(answers) != expected.size or not np.allclose(
        answers, np.reshape(expected, np.shape(answers)), SAME, SAME
    ):
        return False
    softmax = class_probabilities(torch.from_numpy(expected), problem)
    return chances is None or np.allclose(chances, softmax, SAME, SAME)
