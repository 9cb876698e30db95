"""Tests of a transformer's attention: other weights in its layers, and words that its readings name hidden.

A test that needs "layers" is a function of a part of the texts; it returns for each of its lines [text draw]. One that
needs "reading" is a function of one text under one reading of the weights, as those that need "explainer".
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from pellucid.attention.attended_texts import CHANGED, LEAST, RANDOM, READINGS, AttendedTexts, LayerPlace
from pellucid.attention.weighed_texts import WordReading, kendall_tau
from pellucid.base.checks import at_least
from pellucid.base.kinds import attention_tests
from pellucid.comparison.case import Case
from pellucid.comparison.removed_words import FRACTIONS, Removed, mean_fall
from pellucid.results.explanation import Explanation
from pellucid.run.readout import total_variation

MOVES = "How far the answer's probabilities move, 0 to 1, and the share of texts that get another class, "


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    needs="layers",
    idle=0.0,
    meaning=MOVES + "when every piece that a query may see has the same weight.",
)
def layers_uniform(texts: AttendedTexts, *, heads: bool = False) -> dict[str, Tensor]:
    """[text 1] for each place: the total variation distance of the answers with equal weights from the model's own.

    How far the answer moves when the weights of all layers, of one, or of one head are equal.

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.2, of the one attention of their
    models; here every query of every head, over what its mask lets it see.

    heads: also head by head, a pass each.
    """
    return _moved(texts, lambda place: [texts.with_equal(place)], heads)


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    needs="layers",
    random=True,
    idle=0.0,
    meaning=MOVES + "when the weights of each query change places, in each head by themselves.",
)
def layers_permuted(
    texts: AttendedTexts, *, n_permutations: int = 2, heads: bool = False, seed: int = 0
) -> dict[str, Tensor]:
    """[text permutation] for each place: the total variation distance of the answers from the model's own.

    How far the answer moves when the weights of all layers, of one, or of one head change places.

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1, of the one attention of their models
    and of words alone; here each query's weights over what its mask lets it see. "words alone" leaves special tokens
    theirs, on which much of a transformer's weight rests. They take the median of 100 permutations, we the mean of a
    few, since each takes a pass.

    heads: also head by head.
    """
    at_least("n_permutations", n_permutations, 1)
    draws = range(n_permutations)
    return _moved(texts, lambda place: [texts.with_permuted(place, draw, seed) for draw in draws], heads)


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    needs="layers",
    idle=0.0,
    meaning=MOVES + "when a text gets the weights of another one of the same or the nearest length.",
)
def layers_of_another_text(texts: AttendedTexts, *, heads: bool = False) -> dict[str, Tensor]:
    """[text 1] for each place: the total variation distance of the answers from the model's own; nan without a donor.

    How far the answer moves when all layers, one, or one head have the weights of another text.

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.4, who put the weights of one model
    into another one; here those of another text into the same model.

    The other text is drawn from those of the nearest length in pieces. Of another length, its weights are resampled:
    piece i of n gets those of piece i (m - 1) / (n - 1) of m, rounded, and each query's are divided by their sum. Texts
    of which no other length is there, and models whose texts cannot share a pass, are left out.
    """
    return _moved(texts, lambda place: [texts.with_another_texts(place)], heads)


def _moved(texts: AttendedTexts, answers: Callable[[LayerPlace], Sequence[Tensor]], heads: bool) -> dict[str, Tensor]:
    """For each place [text draw]: the distance of the answers from the model's own, and whether they are of another
    class.
    """
    own_answers = texts.own_answers
    lines: dict[str, Tensor] = {}
    for place in places(texts, heads):
        changed = torch.stack(list(answers(place)), 1)
        another = (changed.argmax(-1) != own_answers.argmax(-1)[:, None]).double()
        lines[str(place)] = total_variation(changed, own_answers[:, None])
        lines[f"{place}, {CHANGED}"] = another.masked_fill(changed.isnan().any(-1), torch.nan)
    return lines


def places(texts: AttendedTexts, heads: bool) -> list[LayerPlace]:
    """All layers, all layers but for special tokens, each layer, and each head."""
    layers = range(1, texts.model.n_layers + 1)
    single = [LayerPlace(layer, head) for layer in layers for head in range(1, texts.n_heads + 1)] if heads else []
    return [LayerPlace(), LayerPlace(words=True), *(LayerPlace(layer) for layer in layers), *single]


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="layers",
    meaning="How far the probability of the answer falls when the words with most attention are hidden, on average "
    "over shares of the text.",
)
def words_hidden(texts: AttendedTexts, *, fractions: Sequence[float] = FRACTIONS) -> dict[str, Tensor]:
    """[text 1] for each reading: the fall without its first words; the same less that without random words, and less
    that without its last ones.

    Does hiding the words with most attention move the answer more than hiding others?

    Source: Serrano & Smith (2019), "Is Attention Interpretable?", section 5, who take weights out of a sum; here words
    are hidden from the model, as in comprehensiveness of DeYoung et al. (2020), "ERASER".

    fractions: shares of the words, rounded up. Random words are those of ten random orders.
    """
    chance = texts.explained["chance"]
    labels = chance[0].rows[0][1]
    random_falls = np.mean(
        [_fall(texts, [text.row(label) for text in chance], _first, fractions) for label in labels], axis=0
    )
    lines = {"random words": random_falls}
    for name in READINGS:
        most, least = (_fall(texts, texts.explained[name], removed, fractions) for removed in (_first, _last))
        lines |= {name: most, f"{name}, {RANDOM}": most - random_falls, f"{name}, {LEAST}": most - least}
    return {name: torch.from_numpy(values)[:, None] for name, values in lines.items()}


def _fall(
    texts: AttendedTexts, explanations: Sequence[Explanation], removed: Removed, fractions: Sequence[float]
) -> np.ndarray:
    """[text]"""
    case = Case(texts.model, texts.batch, explanations, texts.scheduler)
    return mean_fall(case, removed, fractions=fractions, unit="word", operator="absent")


def _first(order: list[int], count: int) -> list[int]:
    return order[:count]


def _last(order: list[int], count: int) -> list[int]:
    return order[len(order) - count :]


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="reading",
    method="gradient_x_input",
    idle=0.0,
    meaning="Whether attention ranks the words of a text as the size of gradient × input does: 1 alike, 0 as chance, "
    "−1 the other way round.",
)
def tau_gradient_x_input(text: WordReading) -> Tensor:
    """[1]: Kendall's tau-b of the words' attention and the sizes of gradient x input; nan where either is constant.

    Kendall's tau of attention with gradient x input: do both rank the words of a text alike?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1, whose gradient is that
    by a word's place in the vocabulary, summed over its vector: the gradient times the input.
    """
    return kendall_tau(text, "gradient_x_input")
