"""Tests of attention that put other weights in the place of the model's own."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.attention import weight_search as several_classes
from pellucid.attention.weighed_texts import (
    AttentionCorpus,
    CorpusLine,
    WeighedText,
    changes_of_answer,
    fall_of_right_answers,
    permutations,
    weighed_texts,
)
from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.base.kinds import attention_tests
from pellucid.results.table import Interval
from pellucid.run.model import Model
from pellucid.run.readout import jensen_shannon, total_variation
from pellucid.text.example import Example


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    idle=0.0,
    meaning="The share of right answers that is lost when every unit of a text has the same weight.",
)
def uniform(text: WeighedText) -> Tensor:
    """[1]: right with the model's own weights less right with equal ones; near 0 where the weights decide nothing.

    How many right answers are lost when every unit of a text has the same weight.

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.2; over real units
    alone (corrections.md A4.3).
    """
    return fall_of_right_answers(text, torch.full_like(text.weights, 1 / len(text))[None])


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    random=True,
    idle=0.0,
    meaning="The share of right answers that is lost when the weights of each text change places at random.",
)
def permuted(text: WeighedText, *, n_permutations: int = 10, seed: int = 0) -> Tensor:
    """[permutation]: right with the model's own weights less right with permuted ones; 0 of equal weights.

    How many right answers are lost when the weights of a text change places at random.

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1; Tutek & Šnajder
    (2020), "Staying True to Your Word", table 1, take one permutation, we the mean of ten, and report
    their deviation (corrections.md A4.4).
    """
    at_least("n_permutations", n_permutations, 1)
    return fall_of_right_answers(text, permutations(text, n_permutations, seed, "permuted weights"))


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=math.log(2),
    meaning="How far other weights can lie from the model's own while the answer stays, in nats; at most 0.69.",
)
def farthest_weights(text: WeighedText, *, limit: float = 0.01) -> Tensor:
    """[1]: the largest Jensen-Shannon divergence from the model's own weights, in nats, of weights that keep the
    answer.

    How far can a text's weights move while its answer stays?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.2.2, whose answers may move
    by a total variation of .01.

    limit: by how much the answer may move, in total variation distance, .0001 to 1. Far weights that answer alike are
    another explanation; where they are far for most texts, the answer does not hang on the weights.
    """
    return torch.tensor([several_classes.farthest_weights(text, limit=limit).divergence], dtype=torch.float64)


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    needs="train",
    along="divergence_weight",
    meaning="How far the weights of a new model lie from the model's own, and how far its answers, for each λ.",
)
def imitation_adversary(
    corpus: AttentionCorpus, *, divergence_weights: Sequence[float] = (0.0, 0.01, 0.1, 1.0)
) -> list[CorpusLine]:
    """For each lambda the mean divergence of the weights, in nats, and the mean distance of the answers.

    Can a new model give the same answers with weights that lie elsewhere?

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4; Tutek & Šnajder
    (2020), "Staying True to Your Word", section 3.3 and figure 1 (corrections.md A4.1, A4.2).

    Each lambda is a training of one model, so the numbers have no intervals. divergence_weights: the lambdas, 0 or
    more.
    """
    assert corpus.imitator is not None  # the door made one
    points = imitation_curve(corpus.model, corpus.examples, corpus.imitator, divergence_weights)
    return [
        CorpusLine(part, Interval(value, math.nan, math.nan), point.texts, point.divergence_weight, directed=directed)
        for point in points
        for part, value, directed in (
            ("divergence of the weights", point.divergence, True),
            ("distance of the answers", point.distance, False),
        )
    ]


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="user_weights",
    idle=0.0,
    meaning="The share of right answers that is lost under the weights that you gave.",
)
def user_weights(text: WeighedText) -> Tensor:
    """[1]: right with the model's own weights less right with the given ones; nan of a text without any.

    How many right answers are lost under weights that the user gives.

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.4, put the weights
    of one model into another.
    """
    if text.user_weights is None:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    return fall_of_right_answers(text, text.user_weights[None])


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    random=True,
    idle=0.0,
    meaning="How far the answer's probabilities move when the weights of a text change places: the median of its "
    "permutations.",
)
def median_change(text: WeighedText, *, n_permutations: int = 100, seed: int = 0) -> Tensor:
    """[1]: the median distance of the answers with permuted weights from the model's own; 0 of equal weights.

    How far the answer moves when the weights of a text change places at random.

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1: the median of 100
    permutations, here as total variation distance (corrections.md A4.2), which for two classes is the
    change of the probability.
    """
    at_least("n_permutations", n_permutations, 1)
    moved = changes_of_answer(text, permutations(text, n_permutations, seed, "median change"))
    return moved.quantile(0.5)[None]  # of an even number the mean of the middle two, as usual


# The curve of imitation: how far can the weights of a new model lie from a model's own while both answer alike?
#
# Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4; Tutek & Šnajder (2020), "Staying True to
# Your Word", section 3.3 and figure 1. Divergence is mean Jensen-Shannon divergence of the weights, in nats, at most
# log 2; distance is mean total variation of the answers.
#
# What the curve does not say. A new model is trained to repeat the answers, mistakes included, and so is drawn to the
# same words: near weights are no proof that no others would do. Far weights may be another good explanation rather
# than a wrong one. Both numbers are means over texts of all lengths, and short texts leave less room to be far.

FEWEST = 2  # units: the weight of a single one is 1 in every model


@dataclass(frozen=True)
class ImitationPoint:
    """One trained model. divergence_weight: lambda, 0 or more.

    distance: of its answers, 0 to 1; divergence: of its weights, 0 to log 2; means over `texts` texts of two units or
    more.
    """

    divergence_weight: float
    distance: float
    divergence: float
    texts: int


def imitation_curve(
    base: Model,
    examples: Sequence[Example],
    imitator: Callable[[float], Model],
    divergence_weights: Sequence[float] = (0.0, 0.01, 0.1, 1.0),
) -> list[ImitationPoint]:
    """The points in the order of their lambdas; the examples are those of the test part.

    imitator: trains a model for a lambda, or loads it (`training/objectives/other_models.py`). Raises `BadInput` where
    no text has two units, or where a model cuts texts otherwise than the base model.
    """
    for weight in divergence_weights:
        at_least("divergence_weight", weight, 0)
    base_texts = weighed_texts(base, examples)
    if all(len(text) < FEWEST for text in base_texts):
        raise BadInput("Weights of texts with one unit cannot move, and no text has two; give longer texts.")
    points = []
    for weight in sorted(divergence_weights):
        model = imitator(weight)
        order = torch.tensor([model.labels.index(label) for label in base.labels])
        points.append(_point(weight, base_texts, weighed_texts(model, examples), order))
    return points


def _point(
    weight: float, base_texts: Sequence[WeighedText], others: Sequence[WeighedText], order: torch.Tensor
) -> ImitationPoint:
    """order: [class], the imitator's number of each class of the base model."""
    distances, divergences = [], []
    for base_text, new_text in zip(base_texts, others, strict=True):
        if len(base_text) != len(new_text):
            raise BadInput("The new model cuts texts into other units; give a model with the same tokenizer and unit.")
        if len(base_text) >= FEWEST:
            answers = [text.logits(text.weights[None])[0].softmax(-1) for text in (base_text, new_text)]
            distances.append(float(total_variation(answers[0], answers[1][order])))
            divergences.append(float(jensen_shannon(base_text.weights, new_text.weights)))
    count = len(distances)
    return ImitationPoint(weight, sum(distances) / count, sum(divergences) / count, count)
