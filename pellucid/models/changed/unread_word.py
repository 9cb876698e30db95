"""A model that cannot read the first word of a text: hidden from a network, or cut away before a function sees the text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.rounding import tolerance
from pellucid.core.passes.windows import rows_of
from pellucid.core.text.example import Example
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.function import FunctionClassifier

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
    """Raise `ModelCannot` where an answer changes with the word, or when it is taken out; of a long text its first window is read."""
    for row in (rows_of(whole)[0] for whole in rows):
        is_word = [word == classifier.unread_word for word in row.word_index]
        others = tuple(row.ids[-1] if own else number for number, own in zip(row.ids, is_word, strict=True))
        without = row.keep([piece for piece, own in enumerate(is_word) if not own])
        with torch.no_grad():
            answers = [classifier.trace([each]).logits for each in (row, replace(row, ids=others), without)]
        if not all(_is_same(classifier, answers[0], other) for other in answers[1:]):
            raise ModelCannot(
                f"{classifier.name} reads words that are hidden from it, so no word of a text can be made one that it cannot read."
            )


def _is_same(classifier: Classifier, one: Tensor, other: Tensor) -> bool:
    gap = (one.double() - other.double()).abs() / other.double().abs().clamp_min(1.0)
    return bool(gap.max() <= tolerance(classifier, one.dtype))
