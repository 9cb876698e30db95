"""Mutual information of words and their states: its ends are known, and the sums are those of a literal loop."""

import math

import numpy as np
import pytest
import torch

from pellucid.attention.weight_tests.mutual_information import (
    WordStates,
    entropy_of,
    information_between,
    most_frequent,
    mutual_information,
    random_sample,
    word_states,
)
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.text.example import Example
from tests.reference import mutual_information as reference
from tests.shared.tiny import tiny_composed

TEXTS = ("A gripping, lovely film.", "Dull and long, and in the end not worth the evening.", "so so", "Fine")
GROUPINGS = ("separate", "joint", "identity")


def occurrences(noise, *, count=4000, words=40, width=8):
    """Words drawn by Zipf's law whose states are their vectors and noise."""
    generator = torch.Generator().manual_seed(0)
    numbers = torch.multinomial(1 / torch.arange(1.0, words + 1), count, replacement=True, generator=generator)
    vectors = torch.randn(words, width, generator=generator)
    states = vectors[numbers] + noise * torch.randn(count, width, generator=generator)
    return WordStates(numbers, vectors, states, "word")


def test_the_sums_are_those_of_a_loop():
    generator = np.random.default_rng(0)
    for groups in (1, 2, 7, 50):
        one, other = generator.integers(groups, size=300), generator.integers(5, size=300)
        information = reference.mutual_information(one.tolist(), other.tolist())
        assert information_between(one, other) == pytest.approx(information, abs=1e-9)
        assert entropy_of(one) == pytest.approx(reference.entropy(one.tolist()), abs=1e-9)


def test_a_grouping_says_all_of_itself_and_nothing_of_shuffled_pairs():
    groups = np.random.default_rng(0).integers(20, size=20_000)
    shuffled = np.random.default_rng(1).permutation(groups)
    assert information_between(groups, groups) == pytest.approx(entropy_of(groups))
    assert information_between(groups, shuffled) < 0.02


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_states_that_are_the_words_vectors_say_all(grouping):
    """As many groups as words, and every word is a group of its own."""
    result = mutual_information(occurrences(0.0), grouping=grouping, n_groups=40)
    assert result.information == pytest.approx(result.entropy, rel=0.05)
    assert result.information <= result.entropy + 1e-9


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("vocabulary", ("most_frequent", "random_sample"))
def test_noise_takes_information_away_within_bounds(grouping, vocabulary):
    results = [
        mutual_information(occurrences(noise), grouping=grouping, vocabulary=vocabulary, n_groups=30, n_words=30)
        for noise in (0.1, 1.0, 100.0)
    ]
    informations = [result.information for result in results]
    assert informations == sorted(informations, reverse=True)
    for result in results:
        assert 0 <= result.shuffled <= result.entropy and 0 <= result.share <= 1
        assert result.words == 30 and result.entropy <= math.log(30)
    assert results[-1].information == pytest.approx(results[-1].shuffled, abs=0.1)  # the estimate's own bias


def test_with_as_many_groups_as_words_separate_groups_are_the_words():
    sample = occurrences(0.5)
    separate, identity = (mutual_information(sample, grouping=name, n_groups=40) for name in ("separate", "identity"))
    few = mutual_information(sample, grouping="separate", n_groups=10)
    assert separate.information == pytest.approx(identity.information)
    assert few.information < separate.information


def test_the_same_seed_gives_the_same_numbers_and_another_draws_anew():
    sample = occurrences(0.5)
    settings = {"vocabulary": "random_sample", "n_words": 20, "n_groups": 20, "n_states": 1000}
    one, again, other = (mutual_information(sample, seed=seed, **settings) for seed in (0, 0, 1))
    assert one == again and one != other and one.states == 1000


def test_vocabularies():
    counts = torch.tensor([1, 50, 3, 50, 1000, 1])
    assert most_frequent(counts, 3).tolist() == [4, 1, 3]
    draws = [random_sample(counts, 3, seed).tolist() for seed in range(400)]
    assert all(len(set(draw)) == 3 for draw in draws)
    first = [draw[0] for draw in draws].count(4) / 400
    scaled = counts.double() ** 0.75
    assert first == pytest.approx(float(scaled[4] / scaled.sum()), abs=0.07)
    assert sorted(random_sample(counts, 99).tolist()) == list(range(6))


def test_what_cannot_be_compared_is_refused():
    sample = occurrences(0.5)
    with pytest.raises(BadInput, match="fewer than two different ones; give more texts"):
        mutual_information(sample.among(torch.tensor([3])))
    wide = WordStates(sample.words, sample.vectors, sample.states.repeat(1, 2), "word")
    assert mutual_information(wide, n_groups=20).information > 0
    with pytest.raises(BadSetting, match="of 8 numbers together with states of 16; give grouping='separate'"):
        mutual_information(wide, grouping="joint")


@pytest.mark.parametrize("pooler", ("additive", "span"))
def test_states_of_a_model_are_those_of_single_texts(pooler):
    model = tiny_composed(pooler)
    examples = [Example((text,)) for text in TEXTS]
    together = word_states(model, examples)
    alone = [word_states(model, [example]) for example in examples]
    assert len(together) == sum(map(len, alone)) and together.unit == ("word" if pooler == "additive" else "piece")
    torch.testing.assert_close(together.states, torch.cat([one.states for one in alone]), rtol=1e-4, atol=1e-5)
    vectors = torch.cat([one.vectors[one.words] for one in alone])
    torch.testing.assert_close(together.vectors[together.words], vectors)
    assert len(together.vectors) < len(together)  # "and" and "the" stand there twice


def test_words_vectors_and_states_are_means_of_pieces():
    """Of an additive pooler, which reads words."""
    model = tiny_composed("additive")
    [row] = model.encode([Example((TEXTS[1],))]).rows
    trace = model.trace([row])
    occurrence = word_states(model, [Example((TEXTS[1],))])
    for number, word in enumerate(dict.fromkeys(word for word in row.word_index if word >= 0)):
        pieces = [piece for piece, other in enumerate(row.word_index) if other == word]
        vector = sum(trace.embeddings[0, piece] for piece in pieces) / len(pieces)
        torch.testing.assert_close(occurrence.vectors[occurrence.words[number]], vector.detach())
        torch.testing.assert_close(occurrence.states[number], trace.units.states[0, number].detach())


def test_a_model_without_states_is_refused():
    model = tiny_composed("additive")
    blind = type("Blind", (), {"capabilities": frozenset(), "name": "a function"})()
    with pytest.raises(ModelCannot, match="a function shows no hidden states"):
        word_states(blind, [Example((TEXTS[0],))])
    assert word_states(model, [Example((TEXTS[0],))]).unit == "word"
