"""Fitted pipelines of scikit-learn, and objects of other libraries with the same functions, as models."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np
import torch
from scipy.sparse import lil_matrix

from pellucid.base.checks import clipped, every, listed, of_class
from pellucid.base.errors import BadInput, BadSetting
from pellucid.models.classifiers.function import PROBES, FunctionClassifier, from_function
from pellucid.models.classifiers.linear_grams import LinearPipeline, n_features
from pellucid.models.classifiers.readable import reads_texts, vocabulary_reader
from pellucid.run.target import Problem, class_probabilities

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
    reader = vocabulary_reader(pipeline)
    return replace(model, reader=reader, linear=linear, reads_single_texts=reads_texts(pipeline))


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
