"""Judges know true concepts from random directions, and each number is what a literal count gives."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from pellucid.base.kinds import concept_judges
from pellucid.discovery.dictionaries import discovered, random_dictionary
from pellucid.discovery.judges import JudgedCase, matched
from pellucid.discovery.measures import Effects, beside_chance
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.states import StateSample

N, WIDTH, TEXTS = 4, 24, 200


def case(dictionary=None, seed=0):
    """Texts of four words; four large directions among small ones, and the largest that is discovered decides the answer."""
    rng = np.random.default_rng(0)
    there = rng.exponential(size=(4 * TEXTS, 3 * N)) * (rng.random((4 * TEXTS, 3 * N)) < 0.4)
    atoms = rng.normal(size=(3 * N, WIDTH)) * np.repeat([1.5, 0.8], [N, 2 * N])[:, None]
    states = (there @ atoms + 0.5 * rng.normal(size=(4 * TEXTS, WIDTH))).astype(np.float32)
    text = np.repeat(np.arange(TEXTS), 4)
    sample = StateSample(states, np.stack([text, *np.zeros((3, 4 * TEXTS), int)], axis=1), 4 * TEXTS)
    true = discovered(states, "nmf", N, 0)
    sums = np.bincount(text, true.activations(states)[:, 0])
    answers = (sums > np.quantile(sums, 0.4)).astype(int)
    dictionary = true if dictionary is None else dictionary(states)
    moved, same = np.tile([0.9, 0.0, 0.0, 0.0], (20, 1)), np.r_[np.ones(18), np.zeros(2)]
    random = 0.1 + 0.01 * rng.random((20, N))
    effects = Effects(20, moved, random, np.zeros((20, N, 2)), same, 1 - same, ("no", "yes"))
    nothing, chance = beside_chance(same, same), random_dictionary(states, N, seed)
    facts = ("tiny", "hash", ("no", "yes"), 1, "word", "nmf", 0, {}, nothing, nothing)
    return JudgedCase(
        LearntConcepts((None,) * N, dictionary, np.zeros((1, 1)), *facts), sample, answers, effects, chance, seed
    )


@pytest.mark.parametrize("name", concept_judges.names())
def test_true_concepts_are_ahead_of_random_directions(name):
    entry = concept_judges.get(name)
    over = entry.make(case()).over
    if name == "share_that_matters":  # of four concepts no count is sure
        assert entry.make(case()).value.mean == 0.25
    else:
        assert over.low > 0 if entry.facts["better"] == "higher" else over.high < 0


@pytest.mark.parametrize("name", ["variance", "simulatability", "same_in_other_texts"])
def test_random_directions_are_not_ahead_of_themselves(name):
    entry = concept_judges.get(name)
    over = entry.make(case(lambda states: random_dictionary(states, N, 77))).over
    assert not (over.low > 0.1 if entry.facts["better"] == "higher" else over.high < -0.1)


def test_partners_are_those_of_the_best_of_all_matchings():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 5, 6))
    cosines = [[abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b) for b in second] for a in first]
    best = max(sum(cosines[row][column] for row, column in enumerate(order)) for order in permutations(range(5)))
    assert matched(first, second).sum() == pytest.approx(best)


def test_completeness_is_nothing_where_all_texts_have_one_answer_and_else_counts_from_the_commonest():
    usual = case()
    least = max(np.bincount(usual.answers)) / TEXTS
    value = concept_judges.get("completeness").make(usual).value.mean
    assert value == pytest.approx((0.9 - least) / (1 - least))
    same = replace(usual, answers=np.zeros(TEXTS, int))
    assert np.isnan(concept_judges.get("completeness").make(same).value.mean)
