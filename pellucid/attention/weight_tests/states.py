"""Tests of attention that look at the states that weights are put on, and at what erasing units does."""

import math

import numpy as np
import torch
from torch import Tensor

from pellucid.attention.weighed_texts import AttentionCorpus, CorpusLine, WeighedText, kendall_tau
from pellucid.attention.weight_tests.mutual_information import (
    Grouping,
    MutualInformation,
    Vocabulary,
    word_states,
)
from pellucid.attention.weight_tests.mutual_information import mutual_information as information_of
from pellucid.base.checks import between
from pellucid.base.kinds import attention_tests
from pellucid.results.bootstrap import NOT_NEGATIVE, Range, t_interval
from pellucid.run.readout import jensen_shannon


@attention_tests.add(
    better="lower",
    lowest=1.0,
    highest=1e9,
    meaning="How many units of a text share the weight: 1 where one has all of it, the number of units where all are "
    "equal.",
)
def effective_units(text: WeighedText) -> Tensor:
    """[1]: 1 / sum of alpha squared, from 1 to the number of units.

    How many units share the weight, as 1 / sum of alpha squared.

    Source: Hill (1973), "Diversity and Evenness: A Unifying Notation and Its Consequences", number of
    order 2.
    """
    return (1 / text.weights.square().sum())[None]


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    meaning="The probability of the right answer by the state of one unit alone, mean over the units of a text: near "
    "the model's own, every state carries the whole text.",
)
def unit_probability(text: WeighedText) -> Tensor:
    """[1]: the mean over units of the predicted class's probability by the unit's state alone; nan where the answer is
    not right.

    The probability of the answer that each unit's state has alone, on right answers, text by text.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", section 5.3 and table 3; of the
    predicted class, first over the units of a text and then over texts (corrections.md A4.10).
    """
    if text.label != text.predicted:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    return mean_unit_probability(text)[None]


def mean_unit_probability(text: WeighedText) -> Tensor:
    """The mean over units of the predicted class's probability, were all weight on that unit; of right and wrong
    answers.
    """
    return text.unit_logits.softmax(-1)[:, text.predicted].mean()


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    average="units",
    meaning="The probability of the right answer by the state of one unit alone, mean over all units of all texts.",
)
def unit_probability_micro(text: WeighedText) -> Tensor:
    """[1]: as `unit_probability`; its outcome is the mean over the units of all texts.

    The same number, in which long texts count more.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", table 3, where the average is not
    stated (corrections.md A4.10).
    """
    return unit_probability(text)


@attention_tests.add(
    better="lower",
    lowest=-1.0,
    highest=1.0,
    meaning="How alike the states of a text are that the weights choose among: at 1 they all point one way, and no "
    "choice matters.",
)
def conicity(text: WeighedText) -> Tensor:
    """[1]: the mean cosine of the units' states to their mean; nan of a text without states.

    How alike the states of a text are that the weights choose among.

    Source: Mohankumar et al. (2020), "Towards Transparent and Explainable Attention Models", section
    3.1: the mean cosine of the states to their mean.
    """
    if text.states is None:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    states = text.states.double()
    mean = states.mean(0, keepdim=True)
    return torch.nn.functional.cosine_similarity(states, mean, dim=-1).mean().clamp(-1, 1)[None]


VOCABULARIES: dict[str, Vocabulary] = {
    "most frequent words": "most_frequent",
    "random words": "random_sample",
}
NATS = (
    "How much a state says of its word, in nats: 0 nothing, at most the words' entropy. Compare at equal numbers of "
    "states and groups."
)
SHARE = "The same as a share of the words' entropy, 0 to 1."
SHUFFLED = "The same for states of other words: what the estimate is too large by."
RANGES: dict[str, Range] = {NATS: NOT_NEGATIVE, SHARE: (0.0, 1.0), SHUFFLED: NOT_NEGATIVE}


@attention_tests.add(better="higher", lowest=0.0, highest=100.0, needs="states", meaning=NATS)
def mutual_information(
    corpus: AttentionCorpus,
    *,
    grouping: Grouping = "separate",
    n_words: int = 1000,
    n_groups: int = 1000,
    n_states: int = 200_000,
    n_seeds: int = 3,
) -> list[CorpusLine]:
    """Of each vocabulary the information, its share of the words' entropy, and that of shuffled pairs.

    Mutual information of words and the states that the weights choose among.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", section 3.4 and table 2 (corrections.md
    A4.9 and A4.15).

    The intervals are over n_seeds starts of the grouping. The other settings are those of
    `pellucid.attention.weight_tests.mutual_information`.
    """
    states = word_states(corpus.model, corpus.examples)
    sizes = {"n_words": n_words, "n_groups": n_groups, "n_states": n_states}
    lines: list[CorpusLine] = []
    for name, vocabulary in VOCABULARIES.items():
        seeds = range(corpus.seed, corpus.seed + max(1, n_seeds))
        runs = [information_of(states, vocabulary=vocabulary, grouping=grouping, seed=seed, **sizes) for seed in seeds]
        lines += _lines(name, runs)
    return lines


def _lines(name: str, runs: list[MutualInformation]) -> list[CorpusLine]:
    columns = {
        (name, NATS): [run.information for run in runs],
        (f"{name}, share", SHARE): [run.share for run in runs],
        (f"{name}, shuffled", SHUFFLED): [run.shuffled for run in runs],
    }
    n = runs[0].states
    return [
        CorpusLine(part, t_interval(values, RANGES[meaning]), n, meaning=meaning, directed=meaning != SHUFFLED)
        for (part, meaning), values in columns.items()
    ]


# Tests of attention that hold weights against what erasing, or a gradient, says of units.


@attention_tests.add(
    better="higher",
    lowest=-math.log(2),
    highest=math.log(2),
    idle=0.0,
    meaning="How much farther the answer moves when the heaviest unit loses its weight than when another one does, in "
    "nats.",
)
def heaviest_erased(text: WeighedText) -> Tensor:
    """[1]: divergence of the answers without the heaviest unit less that without another one, in nats; above 0 speaks
    for it.

    Does the answer move more when the heaviest unit loses its weight than when another one does?

    Source: Serrano & Smith (2019), "Is Attention Interpretable?", section 4.1: the difference of
    Jensen-Shannon divergences. They draw one other unit; we take the mean over all others, which is
    what the draw estimates.

    The other weights are divided by their sum; where one unit has all weight, the others share it equally.
    """
    own_answer = text.logits(text.weights[None]).softmax(-1)
    heaviest, count = int(text.weights.argmax()), len(text)
    moved = jensen_shannon(_without_each(text, heaviest).softmax(-1), own_answer.expand(count, -1))
    return (moved[heaviest] - (moved.sum() - moved[heaviest]) / (count - 1))[None]


def _without_each(text: WeighedText, heaviest: int) -> Tensor:
    """[erased unit, class]: the logits without each unit, (logits - alpha l) / (1 - alpha).

    Only the heaviest unit's alpha can be near 1, where that quotient is rounding: its others are summed instead.
    """
    alpha = text.weights[:, None]
    others = text.weights.clone()
    others[heaviest] = 0
    if others.sum() == 0:
        others = torch.ones_like(others)
        others[heaviest] = 0
    rest = 1 - alpha
    rest[heaviest] = 1
    logits = (text.logits(text.weights[None]) - alpha * text.unit_logits) / rest
    logits[heaviest] = text.logits(others[None] / others.sum())[0]
    return logits


HALF = 0.5  # of the farthest move: "order" and pairs of words decide together, and none of them alone is the one word


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="explainer",
    method="leave_one_out",
    idle=0.0,
    meaning="How much more often than a random word the heaviest one is among those without which the answer moves "
    "farthest.",
)
def heaviest_decides(text: WeighedText, *, least: float = 0.1) -> Tensor:
    """[1]: 1 where the answer moves without the heaviest word at least half as far as without any, less the share of
    such words.

    Is the heaviest word one of those that the answer depends on, more often than a word drawn at
    random?

    Source: The question of Serrano & Smith (2019), "Is Attention Interpretable?", put to the text in
    place of the weights: a word is left out of the text, not its state out of the sum. Weights that a
    state of a neighbour can stand in for (Pruthi et al. 2020, "Learning to Deceive with Attention-Based
    Explanations") pass tests of the sum, and fail here.

    0 on average of weights that have nothing to do with the answer. least: texts whose probability no single word moves
    so far are left out (nan): there is nothing to point at.
    """
    between("least", least, 0.0, 1.0)
    weights, moves = (np.abs(values) for values in text.rankings["leave_one_out"])
    if not len(moves) or moves.max() < least or moves.max() == 0:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    decides = moves >= HALF * moves.max()
    heaviest = weights == weights.max()  # equal weights point at all of them, and so at none more than chance
    return torch.tensor([decides[heaviest].mean() - decides.mean()], dtype=torch.float64)


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="explainer",
    method="leave_one_out",
    idle=0.0,
    meaning="Whether the weights rank the words of a text by how far the answer moves without each: 1 alike, 0 as "
    "chance, −1 the other way round.",
)
def tau_leave_one_out(text: WeighedText) -> Tensor:
    """[1]: Kendall's tau-b of the words' weights and how far the probability moves without them; nan where either is
    constant.

    Kendall's tau of the weights with leave-one-out: do the heavy words move the answer most when they
    are left out?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1.
    """
    return kendall_tau(text, "leave_one_out")


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="explainer",
    method="gradient",
    idle=0.0,
    meaning="Whether the weights rank the words of a text as the size of the gradient does: 1 alike, 0 as chance, −1 "
    "the other way round.",
)
def tau_gradient(text: WeighedText) -> Tensor:
    """[1]: Kendall's tau-b of the words' weights and the sizes of their gradients; nan where either is constant.

    Kendall's tau of the weights with the gradient: do both rank the words of a text alike?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1.
    """
    return kendall_tau(text, "gradient")
