"""What a span model's heaviest spans do: read alone, and left out, beside random spans of the same length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import heaviest, texts_of
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.packing import scheduler_for
from pellucid.run.read_alone import disjoint_alike, only, without
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_probabilities
from pellucid.text.example import Example
from pellucid.text.lexicon import words_with_content
from pellucid.text.units import Spans
from studies.shared.units import Numbers

N_SPANS = 2  # of a text: as many as the recipe draws
RANDOM = 5  # random choices of spans of the same lengths


@dataclass(frozen=True)
class Falls:
    """Of each text: whether the chosen words alone get its class, and how far its probability falls with them alone and
    without them.
    """

    agrees: list[bool]
    alone: list[float]
    without: list[float]


def heaviest_of(explanations: Sequence[Explanation], count: int = N_SPANS) -> list[list[range]]:
    """For each text its heaviest spans as ranges of words, which share no word."""
    return [heaviest(one, "word", count)[1] for one in explanations]


def words_of(ranges: Sequence[Sequence[range]]) -> list[list[int]]:
    """For each text the words of its ranges, in order."""
    return [sorted({word for one in of_text for word in one}) for of_text in ranges]


def falls(model: Classifier, batch: Batch, words: Sequence[Sequence[int]], whole: Tensor) -> Falls:
    """What happens to each text's class. words: for each text the numbers of the words that are chosen. whole: from
    `answers`.
    """
    rows: list[Row] = []
    for number, of_text in enumerate(words):
        pieces = batch.pieces_of(number, "word")
        rows += [only(batch, number, pieces, of_text), without(batch, number, pieces, of_text)]
    cut = answers(model, rows).reshape(len(words), 2, -1)
    value, classes = whole.max(-1)
    values = cut.gather(2, classes[:, None, None].expand(-1, 2, 1))[..., 0]
    return Falls(
        (cut[:, 0].argmax(-1) == classes).tolist(),
        (value - values[:, 0]).tolist(),
        (value - values[:, 1]).tolist(),
    )


def random_words(
    batch: Batch, ranges: Sequence[Sequence[range]], explanations: Sequence[Explanation]
) -> list[list[list[int]]]:
    """For each of some random choices, of each text the words of ranges that are as long as its own and share no word.

    The choices can be the spans themselves: in short texts there may be no other, and where a draw leaves no room they
    stand for it.
    """
    drawn: list[list[list[int]]] = [[] for _ in range(RANDOM)]
    for number, (own, explanation) in enumerate(zip(ranges, explanations, strict=True)):
        texts, generator = _texts(explanation), generator_for(batch.rows[number], "believable_spans", 0)
        for of_draw in drawn:
            of_draw.append(words_of([disjoint_alike(own, texts, generator) or own])[0])
    return drawn


def evidence_numbers(model: Classifier, examples: Sequence[Example], explanations: Sequence[Explanation]) -> Numbers:
    """Everything about the spans of some texts, text by text."""
    batch, ranges = model.encode(examples), heaviest_of(explanations)
    words = words_of(ranges)
    whole = answers(model, batch.rows)
    own = falls(model, batch, words, whole)
    by_chance = [falls(model, batch, of_draw, whole) for of_draw in random_words(batch, ranges, explanations)]
    return {
        "spans": [round(one.diagnostics["entropy_spans"], 4) for one in explanations],
        "words": words,
        "n_words": [len(_texts(one)) for one in explanations],
        "agrees": own.agrees,
        "random_agrees": np.mean([one.agrees for one in by_chance], axis=0).round(4).tolist(),
        "alone": _rounded(own.alone),
        "without": _rounded(own.without),
        "random_without": np.mean([one.without for one in by_chance], axis=0).round(5).tolist(),
        "content": [_has_content(one) for one in explanations],
    }


def _has_content(explanation: Explanation) -> bool:
    """Whether the heaviest span has a content word; True of a text without spans, which has nothing to blame."""
    units = explanation.units
    assert isinstance(units, Spans)
    if not len(units):
        return True
    segment, start, end = units.characters(int(np.argmax(explanation.scores)))
    return words_with_content(explanation.example.segments[segment], start, end)


def _texts(explanation: Explanation) -> list[int]:
    units = explanation.units
    return texts_of(units.parts if isinstance(units, Spans) else units)


def answers(model: Classifier, rows: Sequence[Row]) -> Tensor:
    """[row class]: probabilities."""
    logits = evaluate_rows(model, scheduler_for(model), rows).double()
    return class_probabilities(logits, model.problem).to(torch.float64)


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 5) for value in values]
