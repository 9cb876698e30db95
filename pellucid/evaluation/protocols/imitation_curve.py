"""The curve of imitation: how far can the weights of a new model lie from a model's own while both answer alike?

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4; Tutek & Šnajder (2020), "Staying True to Your Word",
section 3.3 and figure 1. Divergence is mean Jensen-Shannon divergence of the weights, in nats, at most log 2; distance is mean
total variation of the answers.

What the curve does not say. A new model is trained to repeat the answers, mistakes included, and so is drawn to the same words:
near weights are no proof that no others would do. Far weights may be another good explanation rather than a wrong one. Both
numbers are means over texts of all lengths, and short texts leave less room to be far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.evaluation.shared.weighed_texts import WeighedText, weighed_texts
from pellucid.run.model import Model
from pellucid.run.readout import jensen_shannon, total_variation
from pellucid.text.example import Example

FEWEST = 2  # units: the weight of a single one is 1 in every model


@dataclass(frozen=True)
class ImitationPoint:
    """One trained model. divergence_weight: lambda, 0 or more.

    distance: of its answers, 0 to 1; divergence: of its weights, 0 to log 2; means over `texts` texts of two units or more.
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

    imitator: trains a model for a lambda, or loads it (`training/imitators.py`). Raises `BadInput` where no text has two units,
    or where a model cuts texts otherwise than the base model.
    """
    for weight in divergence_weights:
        at_least("divergence_weight", weight, 0)
    own = weighed_texts(base, examples)
    if all(len(text) < FEWEST for text in own):
        raise BadInput("Weights of texts with one unit cannot move, and no text has two; give longer texts.")
    points = []
    for weight in sorted(divergence_weights):
        model = imitator(weight)
        order = torch.tensor([model.labels.index(label) for label in base.labels])
        points.append(_point(weight, own, weighed_texts(model, examples), order))
    return points


def _point(
    weight: float, own: Sequence[WeighedText], others: Sequence[WeighedText], order: torch.Tensor
) -> ImitationPoint:
    """order: [class], the imitator's number of each class of the base model."""
    distances, divergences = [], []
    for one, other in zip(own, others, strict=True):
        if len(one) != len(other):
            raise BadInput(
                "The new model cuts texts into other units; give a model with the same tokenizer and unit."
            )
        if len(one) >= FEWEST:
            answers = [text.logits(text.weights[None])[0].softmax(-1) for text in (one, other)]
            distances.append(float(total_variation(answers[0], answers[1][order])))
            divergences.append(float(jensen_shannon(one.weights, other.weights)))
    count = len(distances)
    return ImitationPoint(weight, sum(distances) / count, sum(divergences) / count, count)
