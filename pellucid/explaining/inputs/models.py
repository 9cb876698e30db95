"""A model from whatever users have: a folder, a hub name, a pipeline, a fitted scikit-learn model, or one of ours."""

from functools import partial
from inspect import isfunction, signature
from pathlib import Path, PurePath
from typing import Any, cast

import torch

from pellucid.base.checks import one_of, quoted
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.explaining.inputs.loading import load, remember
from pellucid.explaining.inputs.pipelines import from_transformers
from pellucid.explaining.inputs.readings import ModelSource
from pellucid.explaining.inputs.scikit import column_transformer, from_pipeline
from pellucid.explaining.inputs.sentence_encoders import (
    encodes_sentences,
    from_cross_encoder,
    from_sentence_transformer,
    scores_pairs,
)
from pellucid.models.classifiers.in_memory import check_in_memory
from pellucid.models.composed.composed import encoder_model, is_encoder
from pellucid.models.folders.configuration import wrong_kind
from pellucid.models.language_heads.lens import CLASSIFIER, ENCODER
from pellucid.models.load import on_device
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.model import WRITING, Model, answers_for_places

OF_SCIKIT = ("predict_proba", "decision_function", "__sklearn_tags__")
OURS = ("encode", "trace", "plain_logits", "labels")  # what every model of ours has
WAYS = "give one from pellucid.load, a folder, a hub name, or a text-classification pipeline"


def is_model(candidate: Any) -> bool:
    """Whether something is a model as `load`, `train` and the `from_...` functions return it."""
    is_like = not isinstance(candidate, type) and all(hasattr(candidate, name) for name in OURS)
    return is_like and isinstance(candidate.labels, tuple)


def model_from(source: Any) -> Model:
    """As `any_model_from`, for doors that read classes of texts; raises `ModelCannot` for a model that writes, or that
    answers for places in a text, too.
    """
    model = any_model_from(source)
    if WRITING in model.capabilities:
        raise ModelCannot(
            f"{model.name} writes texts, and this works with classifiers alone; pellucid.explain explains the words it "
            f"writes."
        )
    check_whole_texts(model)
    return model


def check_whole_texts(model: Model) -> None:
    """Raises `ModelCannot` for a model that answers for places in a text: its entities, an answer, a masked word."""
    if answers_for_places(model):
        raise ModelCannot(
            f"{model.name} answers for places in a text, and this works with classifiers of whole texts alone; "
            f"pellucid.explain and pellucid.compare explain its answers."
        )


def any_model_from(source: Any) -> Model:
    """The model behind what a user has; raises `BadInput` or `ModelCannot` with the way to write what cannot be read.

    source: a model of ours, which is returned as it is; a folder or hub name, which is loaded; a pipeline of
        transformers for text classification, or its model with its tokenizer in a tuple; a `SentenceTransformer` or
        `CrossEncoder` of sentence-transformers; a fitted scikit-learn pipeline that reads texts; or a function without
        arguments that returns one of these. One that stands at the top of a module is called in each worker, too.
    """
    if is_model(source):
        return cast(Model, source)
    if isinstance(source, str | PurePath):
        return load(_possible_name(source))
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], torch.nn.Module):
        return load(source[0], source[1])
    if encodes_sentences(source):
        return from_sentence_transformer(source)
    if scores_pairs(source) and not hasattr(source, "task"):
        return from_cross_encoder(source)
    if isinstance(source, torch.nn.Module):
        raise _network_alone(source)
    if hasattr(source, "task") and isinstance(getattr(source, "model", None), torch.nn.Module):
        return from_transformers(source)
    if not isinstance(source, type) and any(hasattr(source, name) for name in OF_SCIKIT):
        return _from_scikit(source)
    if isfunction(source) and not signature(source).parameters:
        model = any_model_from(source())
        if "<" not in source.__qualname__:  # another process finds it by its name
            remember(model, partial(any_model_from, source))
        return model
    if callable(source) and not isinstance(source, type) and not hasattr(source, "encode"):  # a tokenizer has it
        raise BadInput(
            "The model came as a function of texts; say what its classes are called: pellucid.from_function(function, "
            "labels)."
        )
    raise BadInput(f"The model came as {_kind(source)}; {WAYS}.")


def _kind(source: Any) -> str:
    if source is None:
        return "None"
    return f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__


def _possible_name(source: str | PurePath) -> str | Path:
    """The name of a folder or of a model of the hub; raises `BadInput` for what can only be a text."""
    if isinstance(source, PurePath):
        return Path(source)
    if not source.strip() or (("\n" in source or source.count(" ") > 1) and not _exists(source)):
        raise BadInput(
            f"The model came as the text {quoted(source)}; the model stands first, the texts second. For a model "
            f"{WAYS}."
        )
    return source


def _exists(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def _network_alone(network: torch.nn.Module) -> Exception:
    """The error for a torch network without what it needs to read texts."""
    if type(network).__name__ == "SentenceTransformer":
        return ModelCannot(wrong_kind("SentenceTransformer", "turns texts into vectors (sentence embeddings)"))
    if type(network).__name__ == "CrossEncoder":
        return BadInput(
            "A CrossEncoder wraps a classifier of pairs and its tokenizer; give both: pellucid.load(encoder.model, "
            "encoder.tokenizer), and pairs of texts."
        )
    check_in_memory(network)
    return BadInput(
        f"{type(network).__name__} came without its tokenizer; write pellucid.load(model, tokenizer) and give what "
        f"that returns."
    )


def _from_scikit(fitted: Any) -> Model:
    """A fitted pipeline of scikit-learn; raises `BadInput` for a part of one that reads numbers."""
    if isinstance(getattr(fitted, "n_features_in_", None), int) and column_transformer(fitted) is None:
        raise BadInput(
            f"{type(fitted).__name__} reads numbers, not texts; give the whole pipeline, with what turns texts into "
            "numbers: make_pipeline(vectorizer, classifier)."
        )
    return from_pipeline(fitted)


# The model whose states a lens reads: a classifier, or an encoder before it is fine-tuned.

ON = ("encoder", "classifier")


def model_with_states(source: ModelSource, on: str | None, device: str | None) -> tuple[Model, str]:
    """The model, and what a lens of it says that it was trained on.

    on: "encoder", "classifier", or None for what the source plainly is. device: of what is loaded here. Raises
    `BadSetting` where these do not go together.
    """
    if on is not None:
        one_of("on", on, ON)
    if not isinstance(source, str | PurePath):
        if on == "encoder":
            raise BadSetting("The encoder before fine-tuning is loaded by its name or folder; give that as the model.")
        if device is not None:
            raise BadSetting("A model in memory is used as it is; move it first, and leave device= away.")
        return model_from(source), CLASSIFIER
    name = source if isinstance(source, str) else str(source)
    if on == "encoder" or (on is None and is_encoder(name)):
        return on_device(encoder_model(name), device or "cpu"), ENCODER
    if is_encoder(name):
        raise BadSetting(f"{name} is an encoder and no classifier; leave on='classifier' (--on classifier) away.")
    return model_from(load(name, device=device)), CLASSIFIER


# Translators from what the user gave: a model, a folder or a hub name.


def translator_from(model: ModelSource) -> WritingModel:
    """The translator that came, or of that folder or hub name; raises `ModelCannot` for a model that does not
    translate.
    """
    translator = any_model_from(model)
    if not isinstance(translator, WritingModel):
        raise ModelCannot(f"{translator.name} is a classifier and translates nothing; give a translator.")
    if not translator.has_encoder:
        raise ModelCannot(f"{translator.name} continues texts and does not translate; use `write`.")
    return translator
