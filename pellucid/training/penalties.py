"""Penalties: terms that training adds to the loss of the labels, a function each."""

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.kinds import penalties
from pellucid.run.rounding import widened
from pellucid.run.trace import GateTrace, SpanTrace, StateTrace, UnitTrace


@penalties.add(reads="weights")
def concentration(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -sum of alpha squared, from -1 (one span or unit) to -1/count (uniform); less is sharper.

    Reward weights that gather on few spans or units.

    Source: Sun et al. (2020), equation 7. The paper maximises log p + lambda sum alpha squared;
    minimised it is cross-entropy - lambda sum alpha squared (corrections.md A0.2), so a larger weight
    means sharper.
    """
    return -weights.concentration


@penalties.add(reads="weights")
def entropy(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -sum alpha log alpha in nats, from 0 (one span or unit) to log of their count (uniform).

    The other way to ask for sharp weights.

    Source: Sun et al. (2020), footnote 2; added to the loss, since less entropy is sharper
    (corrections.md A0.3).
    """
    return weights.entropy


@penalties.add(reads="weights")
def divergence(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -KL(alpha || uniform) in nats, from -log of the count (one span or unit) to 0 (uniform).

    What the paper calls "viewed as KL", with the sign it must have.

    Source: KL(alpha || uniform) = log spans - entropy (corrections.md A0.3); minimising its negative
    sharpens.
    """
    count = (~weights.scores.isinf()).flatten(1).sum(1).clamp_min(1)
    return weights.entropy - count.to(weights.entropy.dtype).log()


@penalties.add(reads="gates")
def sparsity(gates: GateTrace) -> Tensor:
    """[example]: the expected share of words that are read, 0 to 1.

    A price on every word that is read, for models that choose their words.

    Source: Lei, Barzilay and Jaakkola (2016), equation 3, first term; the expectation of Bastings, Aziz
    and Titov (2019), section 4.2. They add up words; a share keeps the weight's meaning for texts of
    any length, and is the coverage.
    """
    return gates.expected_coverage


@penalties.add(reads="gates")
def coherence(gates: GateTrace) -> Tensor:
    """[example]: expected changes between neighbouring words of one text, divided by its words; 0 to below 1.

    A price on every change between read and not read, so that the words that are read stand together.

    Source: Lei, Barzilay and Jaakkola (2016), equation 3, second term; the expectation of Bastings,
    Aziz and Titov (2019), section 4.2. They add up changes; a share keeps the weight's meaning for
    texts of any length.
    """
    return gates.expected_changes


@penalties.add(reads="states", same_width=True)
def tying(states: StateTrace) -> Tensor:
    """[example]: the mean over a text's pieces of ||h - e|| squared; 0 where states are the word vectors, else more.

    Keep each state near the word vector that it was made from, so that weights on states are weights on
    words.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", equation 4: squared distances, and a
    mean over real tokens (corrections.md A4.5).
    """
    return states.mean((widened(states.states) - widened(states.vectors)).square().sum(-1))


@penalties.add(reads="states", same_width=True)
def tying_unsquared(states: StateTrace) -> Tensor:
    """[example]: the mean over a text's pieces of ||h - e||; 0 where states are the word vectors, else more.

    The distance between each state and the word vector that it was made from.

    Source: As in code that the first author of Tutek & Šnajder (2020), "Staying True to Your Word",
    released later; that code counts padding, which we do not (corrections.md A4.5).
    """
    distances = torch.linalg.vector_norm(widened(states.states) - widened(states.vectors), dim=-1)
    return states.mean(distances)


@penalties.add(reads="states")
def conicity(states: StateTrace) -> Tensor:
    """[example]: the mean cosine of a text's states with their mean, -1 to 1; 1 where all point one way.

    A price on states that all point the same way, since weights on equal states say nothing.

    Source: Mohankumar et al. (2020), "Towards Transparent and Explainable Attention Models", equations
    4 and 5.
    """
    values = widened(states.states)
    return states.mean(F.cosine_similarity(values, states.mean(values)[:, None], dim=-1))
