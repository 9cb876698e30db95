"""Copies of a model with random weights, shifted word vectors, or a word that they cannot read."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.function import FunctionClassifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.run.batch import Row
from pellucid.run.blank import derived_seed
from pellucid.run.model import Model
from pellucid.run.parity import residuals
from pellucid.run.rounding import TOLERANCE, tolerance
from pellucid.run.windows import rows_of
from pellucid.text.example import Example


def network_copy(model: Model, purpose: str) -> Classifier:
    """The classifier with a network of its own. purpose: ends the message for a model that has no network to copy."""
    if not isinstance(model, Classifier):
        raise ModelCannot(f"{model.name} is a function of texts; it has no weights {purpose}.")
    return replace(model, network=deepcopy(model.network))


# A classifier with a part of its weights in random order: what it learnt there is lost, the sizes stay.
#
# Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 3. They draw weights anew as a network begins; how
# it began is not known of a trained one, so ours are permuted, tensor by tensor.


def with_random_weights(model: Model, first: float, last: float, seed: int) -> Classifier:
    """The weights of the parts in this range in random order.

    first, last: shares of the parts, counted from the head (0) over the blocks, highest first, to the word vectors (1).
    seed: of the order, which for each tensor depends on its name too. Raises `ModelCannot` for a function of texts.
    """
    classifier = network_copy(model, "to randomise")
    parts = parts_from_the_head(classifier)
    begin, end = round(first * len(parts)), round(last * len(parts))
    with torch.no_grad():
        for part in parts[begin:end]:
            for name, parameter in part.items():
                parameter.copy_(_permuted(parameter, name, seed))
    return classifier


def parts_from_the_head(classifier: Classifier) -> list[dict[str, Tensor]]:
    """The network's parameters by part: what follows the last block, each block, and what stands before the first.

    A network that shows no blocks has a part for each of its parameters, the last one first.
    """
    parameters = dict(classifier.network.named_parameters())
    blocks = classifier.structure.blocks
    if blocks is None:
        return [{name: parameter} for name, parameter in reversed(parameters.items())]
    owner = {id(parameter): index for index, block in enumerate(blocks) for parameter in block.parameters()}
    groups: dict[int, dict[str, Tensor]] = {index: {} for index in range(-1, len(blocks) + 1)}
    reached = -1  # modules are listed in the order in which they were made
    for name, parameter in parameters.items():
        block_index = owner.get(id(parameter))
        reached = reached if block_index is None else max(reached, block_index)
        above = len(blocks) if reached == len(blocks) - 1 else -1
        groups[above if block_index is None else block_index][name] = parameter
    return [groups[index] for index in range(len(blocks), -2, -1) if groups[index]]


def _permuted(parameter: Tensor, name: str, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(derived_seed(seed, "random weights", name))
    order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
    return parameter.reshape(-1)[order].reshape(parameter.shape)


# A classifier whose word vectors are all shifted by one vector, and whose next table takes the shift back.
#
# Kindermans et al. (2019), "The (Un)reliability of Saliency Methods", section 2: the function of the text is the
# same, so its explanation has to be the same. They shift images and correct a bias; here a table that is added to the
# word vectors, of positions or of token types, is corrected. Which table is added is tried, not looked up.


def with_shifted_vectors(model: Model, size: float, seed: int) -> Classifier:
    """All word vectors shifted by one random vector. size: its deviation, in deviations of the word vectors.

    Raises `ModelCannot` for a function of texts, and for a network without a table that is added to the word vectors.
    """
    classifier = network_copy(model, "to shift")
    words = classifier.embedding
    weight = getattr(words, "weight", None)
    if weight is None:
        raise ModelCannot(f"{model.name} shows no table of word vectors to shift.")
    generator = torch.Generator().manual_seed(seed)
    shift = torch.randn(weight.shape[1], generator=generator).to(weight) * size * weight.detach().std()
    before = _logits(classifier)
    with torch.no_grad():
        weight += shift
        for table in _tables(classifier, weight):
            table.weight -= shift
            if _same(before, _logits(classifier)):
                return classifier
            table.weight += shift
    raise ModelCannot(
        f"{model.name} adds no table of positions or token types to its word vectors, so a shift of them cannot be "
        f"taken back."
    )


def _tables(classifier: Classifier, words: torch.Tensor) -> list[nn.Embedding]:
    """Other tables of vectors of the same width, the smallest first: few rows are read at every piece."""
    tables = [
        module
        for module in classifier.network.modules()
        if isinstance(module, nn.Embedding) and module.weight is not words and module.embedding_dim == words.shape[1]
    ]
    return sorted(tables, key=lambda table: table.num_embeddings)


def _logits(classifier: Classifier) -> torch.Tensor:
    with evaluating(classifier.network), torch.no_grad():
        return classifier.trace([classifier.facts.trial_row]).logits


def _same(first: torch.Tensor, second: torch.Tensor) -> bool:
    return bool((residuals(first.double(), second.double()) <= TOLERANCE[first.dtype]).all())


# A model that cannot read the first word of a text: hidden from a network, or cut away before a function sees the
# text.

WORD = "umbrella"  # any word will do, since nothing reads it
TRIED = 4  # texts on which it is seen that the word is not read


def without_first_word(model: Model, examples: Sequence[Example]) -> tuple[Model, list[Example]]:
    """A model that cannot read the first word, and the examples with such a word in front, without marks.

    Raises `ModelCannot` for a network that answers otherwise when that word is another one.
    """
    texts = [_with_word(example) for example in examples]
    if isinstance(model, FunctionClassifier):
        return replace(model, function=_without_word(model.function)), texts
    if not isinstance(model, Classifier):
        raise ModelCannot(f"{model.name} is no network or function whose first word could be hidden.")
    rows = model.encode(texts[:TRIED]).rows
    first = min(word for row in rows for word in row.word_index if word >= 0)
    blind = replace(model, unread_word=first)
    _check(blind, rows)
    return blind, texts


def _with_word(example: Example) -> Example:
    first, *others = example.segments
    return Example((f"{WORD} {first}", *others), example.label, id=example.id)


def _without_word(function: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def blind(texts: list[Any]) -> Any:  # texts and answers are those of the user's function
        return function([_cut(text) for text in texts])

    return blind


def _cut(text: Any) -> Any:
    if isinstance(text, tuple):
        return (_cut(text[0]), *text[1:])
    return text.removeprefix(WORD).lstrip() if text.startswith(WORD) else text


def _check(classifier: Classifier, rows: Sequence[Row]) -> None:
    """Raise `ModelCannot` where an answer changes with the word, or when it is taken out; of a long text its first
    window is read.
    """
    for row in (rows_of(whole)[0] for whole in rows):
        is_word = [word == classifier.unread_word for word in row.word_index]
        others = tuple(
            row.ids[-1] if is_unread else piece_id for piece_id, is_unread in zip(row.ids, is_word, strict=True)
        )
        without = row.keep([piece for piece, is_unread in enumerate(is_word) if not is_unread])
        with torch.no_grad():
            answers = [classifier.trace([each]).logits for each in (row, replace(row, ids=others), without)]
        if not all(_is_same(classifier, answers[0], answer) for answer in answers[1:]):
            raise ModelCannot(
                f"{classifier.name} reads words that are hidden from it, so no word of a text can be made one that it "
                f"cannot read."
            )


def _is_same(classifier: Classifier, first: Tensor, second: Tensor) -> bool:
    gap = (first.double() - second.double()).abs() / second.double().abs().clamp_min(1.0)
    return bool(gap.max() <= tolerance(classifier, first.dtype))
