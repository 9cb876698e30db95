"""Planted concepts: both are found in synthetic states in nine of ten seeds, random directions find none, and the page says so."""

from functools import partial

import numpy as np
import pytest

from pellucid.base.kinds import discoveries
from pellucid.discovery.dictionaries import random_dictionary
from pellucid.discovery.naming import NearConcept, nearest
from pellucid.discovery.states import StateSample
from studies.planted_concepts.page import as_page, summarise
from studies.planted_concepts.study import discovered_by, planted_among, two_reasons

WIDTH, TEXTS, COUNT = 32, 300, 8
FEWEST = {"svd": 4, "semi_nmf": 1}
# tests/discovery/test_dictionaries.py holds them to their literal forms.
SLOW = ("semi_nmf", "sae", "sae_batch_top_k", "sae_jump_relu")
METHODS = [pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in discoveries.names()]


def planted_states(words, seed):
    """Ten words a text, two of which are planted; each word has a direction, and planted ones have the longest."""
    rng = np.random.default_rng(seed)
    usual = [f"word{number}" for number in range(60)]
    planted = rng.integers(2, size=(TEXTS, 2))
    texts = [[*rng.choice(usual, 8), words[first].words[0], words[2 + second].words[0]] for first, second in planted]
    names = [word for text in texts for word in text]
    vectors = {word: rng.normal(size=WIDTH) * (1 if word in usual else 2) for word in dict.fromkeys(names)}
    states = np.array([vectors[name] + 0.5 * rng.normal(size=WIDTH) for name in names], np.float32)
    places = np.stack([np.repeat(np.arange(TEXTS), 10), *np.zeros((3, 10 * TEXTS), int)], axis=1)
    return StateSample(states, places, len(states)), [[name] for name in names]


@pytest.mark.parametrize("method", [*METHODS, "chance"])
def test_searches_hold_both_planted_reasons_in_nine_of_ten_seeds_and_seldom_by_chance(method):
    """Directions of svd stand at right angles, so they may mix two words that do not; those of semi_nmf are held by no
    sign, so they mix most. Autoencoders take long: three seeds.
    """
    _, words = two_reasons(10, 0)
    search = random_dictionary if method == "chance" else partial(discovered_by, method)
    both, seeds = 0, 3 if method.startswith("sae") else 10
    for seed in range(seeds):
        sample, own = planted_states(words, seed)
        activations = search(sample.states, COUNT, seed).activations(sample.states)
        both += planted_among(nearest(activations, sample, own, words, seed), words)["both"]
    assert both <= 2 if method == "chance" else both >= FEWEST.get(method, 0.9 * seeds)


def test_one_concept_for_both_reasons_is_not_enough():
    _, words = two_reasons(10, 0)
    each = [NearConcept(f"{reason} no", 0.8, 0.1, 9) for reason in ("first", "second")]
    assert not planted_among([each, []], words)["both"]
    assert planted_among([each[:1], each[1:]], words)["both"]
    assert not planted_among([[NearConcept("first no", 0.6, 0.1, 9)], each[1:]], words)["both"]


def test_each_label_names_the_words_that_stand_in_its_texts():
    parts, words = two_reasons(40, 0)
    of_label = {word.name: word.words[0] for word in words}
    for example in parts["train"]:
        first, second = str(example.label).split()
        there = example.text.split()
        assert of_label[f"first {first}"] in there and of_label[f"second {second}"] in there
        assert of_label["first yes" if first == "no" else "first no"] not in there
    assert len({example.label for example in parts["train"]}) == 4


def test_the_page_counts_seeds_and_names_those_that_are_missing():
    both_there = {"r": {"first no": 0.9, "second no": 0.6}, "both": True}
    lost = {"r": {"first no": 0.9, "second no": 0.0}, "both": False}
    runs = [{"seed": n, "accuracy": 1.0, "layers": {"3": {"nmf": each}}} for n, each in enumerate([both_there, lost])]
    about = {"texts": 9, "epochs": 1, "layers": [3], "concepts": 4, "seeds": 3, "enough": 0.6}
    page = as_page(summarise(about, runs))
    assert "| nmf, layer 3 | 1 of 2 | 1 of 2 | 0.750 |" in page and "seed 2" in page
