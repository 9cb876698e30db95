"""The door `load`: a classifier from a folder, a hub name, or from memory."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import torch

from pellucid.base.checks import at_least, whole
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.torch_state import check_computes
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import wrap
from pellucid.models.families.probes import adapted_network
from pellucid.models.language_heads.lens_folder import language_head_for
from pellucid.models.load import AUTO, load_model, wrap_writing, writes
from pellucid.models.routing.route_choice import check_route
from pellucid.models.writing.continuing import Languages
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.diagnostics import EAGER
from pellucid.run.model import Model
from pellucid.run.target import LanguageHead, Problem


def load(
    source: str | Path | torch.nn.Module,
    tokenizer: Any = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    problem: Problem | None = None,
    max_length: int | None = None,
    language_head: str | Path | LanguageHead | None = None,
    route: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Classifier | WritingModel:
    """Load a classifier, a translator or a language model from a folder or a hub name, or wrap one of Hugging Face in
    memory.

    For other models see `from_network`, `from_function` and `from_pipeline`.

    source: a folder, a hub name, or a Hugging Face model.
    tokenizer: that of a model in memory; else not given.
    device: "cpu" (None means it too), "cuda" or "cuda:1"; a model in memory stays where it is.
    dtype: of weights and computation: "float32" (None means it too), "mixed_bfloat16", "bfloat16", "float16" or
        "float64"; "auto": mixed_bfloat16 where words keep their ranks in a trial of eight texts, else float32; a notice
        says which. A model in memory stays as it is.
    problem: how logits become probabilities: "single_label", "one_logit", "multi_label" or "regression"; None: as the
        model's configuration says.
    max_length: the most pieces to read at once, 8 or more, if fewer than the model can; longer texts are read in
        windows.
    language_head: what reads its hidden states back as words, for `decoded_saliency`: the folder or hub name of the
        checkpoint that it was fine-tuned from, with a masked-language-model head, or the folder of a lens.
    route: how passes are computed, a name that `routes` lists; "auto": the fastest one by a trial of some passes, once
        a model and machine, whose answers are those of "eager". None: what the environment variable PELLUCID_ROUTE
        says, else "eager", PyTorch's own operators.
    source_language, target_language: of a translator that knows many languages (NLLB, mBART), the codes of those that
        it reads and writes, such as "eng_Latn" and "deu_Latn"; None: as its tokenizer says.

    Returns the classifier, which every other door accepts; or a model that writes (Marian, BART, T5, GPT-2, Llama and
    their kin), whose words `explain` explains. Raises `BadFile` when there is nothing to load, `ModelCannot`
    when there is no classification head or no fitting language head, `BadInput` for a model in memory without its
    tokenizer, `BadSetting` for a value that is not possible.

    >>> model = pellucid.load("my-classifier", max_length=64)
    >>> model
    <Classifier my-classifier: negative, neutral, positive>
    >>> model.predict("A good film.")[0].label in model.labels
    True
    """
    settings: dict[str, Any] = {
        "device": device,
        "dtype": dtype,
        "problem": problem,
        "max_length": max_length,
        "language_head": language_head,
        "route": route,
        "source_language": source_language,
        "target_language": target_language,
    }
    model = _loaded(source, tokenizer, **settings)
    if isinstance(source, str | Path) and isinstance(language_head, str | Path | None):
        if dtype == AUTO:  # a process of its own shall not choose again
            settings["dtype"] = "float32" if getattr(model, "computes_in", None) is None else "mixed_bfloat16"
        remember(model, partial(load, source, **settings))
    return model


def _loaded(
    source: str | Path | torch.nn.Module,
    tokenizer: Any,
    *,
    device: str | None,
    dtype: str | None,
    problem: Problem | None,
    max_length: int | None,
    language_head: str | Path | LanguageHead | None,
    route: str | None,
    source_language: str | None,
    target_language: str | None,
) -> Classifier | WritingModel:
    check_computes()
    if max_length is not None:
        at_least("max_length", max_length, 8)
    languages = Languages(source_language, target_language)
    if isinstance(source, torch.nn.Module):
        if tokenizer is None:
            raise BadInput("To load a model that is in memory, give its tokenizer too: load(model, tokenizer).")
        if device is not None or dtype is not None:
            raise BadSetting("A model in memory is used as it is; move it first: model.to(device, dtype).")
        if writes(type(adapted_network(source)).__name__):
            model = wrap_writing(source, tokenizer, None, languages)
            return _plain(model, problem, max_length, language_head, route)
        _only_writing(languages)
        classifier = wrap(source, tokenizer, problem)
    elif not isinstance(source, str | Path):
        if hasattr(source, "task") and hasattr(source, "tokenizer"):
            raise BadInput("A pipeline came; explain, compare and the others take it as it is, without load.")
        raise BadInput(
            f"A model came as {type(source).__name__}; give a folder, a hub name, or a Hugging Face model with its "
            f"tokenizer."
        )
    else:
        loaded = load_model(
            source,
            device="cpu" if device is None else device,
            dtype="float32" if dtype is None else dtype,
            problem=problem,
            languages=languages,
        )
        if isinstance(loaded, WritingModel):
            return _plain(loaded, problem, max_length, language_head, route)
        _only_writing(languages)
        classifier = loaded
    classifier = replace(classifier, window=max_length, route=route_to_load(route))
    if language_head is None:
        return classifier
    return replace(classifier, language_head=language_head_for(classifier, language_head))


def _only_writing(languages: Languages) -> None:
    """Raises `BadSetting` for languages of a classifier."""
    if languages != Languages():
        raise BadSetting(
            "source_language= and target_language= belong to translators; leave them away for a classifier."
        )


def _plain(model: WritingModel, *settings: object) -> WritingModel:
    """The model; raises `BadSetting` for settings that belong to classifiers."""
    if any(setting is not None for setting in settings):
        raise BadSetting(
            f"{model.name} writes texts; problem=, max_length=, language_head= and route= belong to classifiers, leave "
            f"them away."
        )
    return model


# How another process gets the same model: those that were loaded from files are loaded there again.

MOST_WORKERS = 1_000
_ways: WeakKeyDictionary[Any, Callable[[], Model]] = WeakKeyDictionary()


def remember(model: Model, again: Callable[[], Model]) -> None:
    """Note how a model was loaded; again: a top-level function with its arguments, in a `partial`."""
    _ways[model] = again


def loading_for(workers: int, model: Model) -> Callable[[], Model] | None:
    """What loads the model in each worker; None for one worker, which is this process."""
    return loading_of(model) if whole("workers", workers, 1, MOST_WORKERS) > 1 else None


def loading_of(model: Model) -> Callable[[], Model]:
    """What loads the model in another process. Raises `ModelCannot` for a model that is only in this one."""
    again = _ways.get(model)
    if again is None:
        raise ModelCannot(
            f"{model.name} is only in the memory of this process, and workers load the model themselves: give its "
            f"folder, its name on the hub, or a function at the top of a module that makes it; or leave workers= away."
        )
    # A trial measures time: each process might take another route.
    route = getattr(model, "route_in_use", EAGER)
    return again if route == EAGER and getattr(model, "route", EAGER) == EAGER else partial(_by_route, again, route)


def _by_route(again: Callable[[], Model], route: str) -> Model:
    """The model that is loaded again, computed by the route that the first process uses; raises `ModelCannot` where it
    cannot be.
    """
    model: Any = again()
    model = replace(model, route=route)
    if model.route_in_use != route:
        raise ModelCannot(
            f"A worker cannot compute by the route {route}, as this process does: {model.route_choice.why}; give "
            f"route='eager', or leave workers= away."
        )
    return cast(Model, model)


# The route that a model is loaded with: the one that was named, else the environment's, else eager.

VARIABLE = "PELLUCID_ROUTE"


def route_to_load(route: str | None) -> str:
    """A route's name or "auto"; raises `UnknownName` for others."""
    name = route or os.environ.get(VARIABLE) or EAGER
    check_route(name)
    return name


# Names of several models in one analysis.


def distinct_names(models: Sequence[Model]) -> list[str]:
    """The models' own names, with a number where one was used before."""
    names: list[str] = []
    for model in models:
        count, name = 2, model.name
        while name in names:
            name, count = f"{model.name} ({count})", count + 1
        names.append(name)
    return names
