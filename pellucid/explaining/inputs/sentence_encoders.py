"""Objects of sentence-transformers as they are, recognised by what they offer; the package is not imported."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import ModelCannot
from pellucid.explaining.inputs.loading import load
from pellucid.explaining.inputs.pipelines import TRIALS, compare_answers, named_numbers
from pellucid.models.classifiers.bi_encoder import Encoding, Similarity, of_encoder
from pellucid.models.classifiers.in_memory import check_in_memory
from pellucid.models.classifiers.several_readings import SeveralReadings
from pellucid.models.classifiers.tokens import Tokenizer, TokenizerAsCalled
from pellucid.run.model import Model
from pellucid.run.target import Problem

PAIRS = tuple(zip(TRIALS, TRIALS[::-1], strict=True))
IMITATED = "explain it as a function of pairs: pellucid.from_function(function, ['similarity'], problem='regression')"


def encodes_sentences(source: Any) -> bool:
    """Whether something offers what a `SentenceTransformer` does."""
    sizes = ("similarity", "get_sentence_embedding_dimension")  # the second in old versions
    offers = callable(getattr(source, "encode", None)) and any(hasattr(source, name) for name in sizes)
    return offers and isinstance(source, torch.nn.Module)


def scores_pairs(source: Any) -> bool:
    """Whether something offers what a `CrossEncoder` does."""
    is_wrapper = isinstance(getattr(source, "model", None), torch.nn.Module) and hasattr(source, "tokenizer")
    activates = hasattr(source, "activation_fn") or hasattr(source, "default_activation_function")
    return is_wrapper and activates and callable(getattr(source, "predict", None))


def from_sentence_transformer(model: Any) -> SeveralReadings:
    """A `SentenceTransformer` as a model of pairs: the similarity that its `encode` and its similarity function give.

    Raises `ModelCannot` for parts and settings that cannot be followed, by name.
    """
    name = type(model).__name__
    _refuse_prompt(model, name)
    function = str(getattr(model, "similarity_fn_name", None) or "cosine")
    if function not in ("cosine", "dot"):
        raise ModelCannot(f"{name} compares by {function!r}, and cosine and dot can be followed; {IMITATED}.")
    first = next(iter(model.children()), None)
    encoder, tokenizer = getattr(first, "auto_model", None), getattr(first, "tokenizer", None)
    if not isinstance(encoder, torch.nn.Module) or tokenizer is None:
        raise ModelCannot(
            f"{name} begins with {type(first).__name__}, which has no transformer (auto_model) with a tokenizer to "
            f"look into; {IMITATED}."
        )
    network = Encoding(model, encoder, getattr(model, "truncate_dim", None))
    title, longest = getattr(encoder.config, "name_or_path", "") or name, getattr(model, "max_seq_length", None)

    def vector(text: str) -> Tensor:
        return torch.as_tensor(np.asarray(model.encode([text]))[0], device=wrapped.device)

    wrapped = of_encoder(network, tokenizer, cast(Similarity, function), title, vector, longest)
    theirs = partial(_own_similarity, model, function, wrapped.labels[0])
    compare_answers(name, theirs, lambda pair: named_numbers(wrapped.predict([pair])[0], True), network, PAIRS)
    return wrapped


def _own_similarity(model: Any, function: str, label: str, pair: Sequence[str]) -> dict[str, float]:
    """The similarity of a pair by an object's own `encode`, under its label."""
    first, second = np.asarray(model.encode(list(pair)), dtype=np.float64)
    lengths = np.linalg.norm(first) * np.linalg.norm(second) if function == "cosine" else 1.0
    return {label: float(first @ second / lengths)}


def _refuse_prompt(model: Any, name: str) -> None:
    """Raise `ModelCannot` where an object puts a prompt before each text."""
    prompt = getattr(model, "default_prompt_name", None)
    if prompt is not None and (getattr(model, "prompts", None) or {}).get(prompt):
        raise ModelCannot(
            f"{name} puts its prompt {quoted(prompt)} before each text (default_prompt_name), which cannot be "
            f"followed; set that to None and write the prompt into the texts."
        )


def from_cross_encoder(encoder: Any) -> Model:
    """A `CrossEncoder` as a model of pairs whose answer is that of its `predict`.

    Raises `ModelCannot` for an activation that is neither identity, sigmoid nor softmax, for a model that is no
    classifier, and for steps of its own.
    """
    name, network = type(encoder).__name__, encoder.model
    check_in_memory(network)
    _refuse_prompt(encoder, name)
    longest = getattr(encoder, "max_seq_length" if hasattr(encoder, "max_seq_length") else "max_length", None)
    settings: dict[str, object] = {"truncation": "longest_first"}
    if longest not in (None, encoder.tokenizer.model_max_length):  # which the tokenizer knows by itself
        settings["max_length"] = longest
    function = _activation(encoder, name)
    is_single = network.config.num_labels == 1
    problem = _problem_of_pairs(function, is_single)
    tokenizer = TokenizerAsCalled(cast(Tokenizer, encoder.tokenizer), settings)
    model: Any = load(network, tokenizer, problem=problem)
    if is_single and network.config.id2label[0] == "LABEL_0":  # a name that says nothing
        model = replace(model, labels=("relevance",) if problem == "regression" else ("not relevant", "relevant"))

    def answers(pair: tuple[str, str]) -> dict[str, float]:
        numbers = np.asarray(encoder.predict([pair]), dtype=np.float64).reshape(-1)
        return dict(zip(model.labels[-len(numbers) :], numbers.tolist(), strict=True))

    compare_answers(
        name, answers, lambda pair: named_numbers(model.predict([pair])[0], function == "identity"), network, PAIRS
    )
    return cast(Model, model)


def _problem_of_pairs(function: str, is_single: bool) -> Problem:
    """What logits mean that a cross-encoder's activation makes its numbers of."""
    if function == "sigmoid":
        return "one_logit" if is_single else "multi_label"
    return "regression" if is_single and function == "identity" else "single_label"


def _activation(encoder: Any, name: str) -> str:
    """What a cross-encoder's activation does to logits, by trying it: "identity", "sigmoid" or "softmax"."""
    activation = getattr(encoder, "activation_fn", None) or getattr(encoder, "default_activation_function", None)
    trial = torch.tensor([[-1.5, 0.25, 2.0]])
    with torch.no_grad():
        result = trial if activation is None else activation(trial)
    known = {"identity": trial, "sigmoid": trial.sigmoid(), "softmax": trial.softmax(-1)}
    for function, expected in known.items():
        if torch.allclose(result, expected, atol=1e-6):
            return function
    raise ModelCannot(
        f"{name} makes its numbers by {type(activation).__name__}, and identity, sigmoid and softmax can be followed; "
        f"explain it as a function: pellucid.from_function(encoder.predict, ['relevance'], problem='regression')."
    )
