"""A map of concepts: partners of the best matching, links beyond chance, chains on page and terminal, and refusals."""

from itertools import permutations

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.discovery.layer_map import ConceptLink, ConceptMap
from pellucid.discovery.states import sampled_states, state_question
from pellucid.text.example import distinct_texts
from tests.hostile.command_line import run
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier

TEXTS = [example.text for example in pellucid.examples("pocket", "train")[:50]]
HOW = {"n": 4, "n_texts": 4, "method": "svd", "progress": False}


@pytest.fixture(scope="module")
def model():
    return tiny_classifier("bert", LABELS)


@pytest.fixture(scope="module")
def concept_map(model):
    return pellucid.concept_map(model, TEXTS, [3, 1, 0], **HOW)


def activations(model, learnt):
    """[word concept], of all words of the texts."""
    examples = distinct_texts([pellucid.Example((text,), id=str(n)) for n, text in enumerate(TEXTS)])
    sample = sampled_states(state_question(model, examples, learnt.layer, "word", 30_000, 0), None, lambda *_: None)
    return learnt.dictionary.activations(sample.states)


def test_partners_are_those_of_the_best_of_all_matchings_of_the_same_words(model, concept_map):
    assert [learnt.layer for learnt in concept_map.layers] == [0, 1, 3]
    for first, second in zip(concept_map.layers, concept_map.layers[1:], strict=False):
        r = np.corrcoef(activations(model, first).T, activations(model, second).T)[:4, 4:]
        best = max(sum(r[row][column] for row, column in enumerate(order)) for order in permutations(range(4)))
        links = concept_map.links_from(first.layer)
        assert sum(link.r for link in links) == pytest.approx(best, abs=1e-6)
        for link in links:
            assert link.r == pytest.approx(r[link.concept - 1, link.partner - 1], abs=1e-6)
            assert (link.next_layer, link.goes_on) == (second.layer, link.r > link.limit)
        assert {link.partner for link in links} == {1, 2, 3, 4}


def test_a_layer_goes_on_in_itself_and_random_numbers_do_not(model, concept_map):
    from pellucid.discovery.layer_map import _linked  # the doors refuse one layer twice

    learnt = concept_map.layers[1]
    examples = distinct_texts([pellucid.Example((text,), id=str(n)) for n, text in enumerate(TEXTS)])
    sample = sampled_states(state_question(model, examples, 1, "word", 30_000, 0), None, lambda *_: None)
    same = _linked(learnt, sample, learnt, sample, 0)
    assert all(link.concept == link.partner and link.r == pytest.approx(1) and link.goes_on for link in same)
    shuffled = type(sample)(np.random.default_rng(0).permutation(sample.states), sample.places, sample.n_all)
    assert not any(link.r > 0.3 for link in _linked(learnt, sample, learnt, shuffled, 0))


def test_chains_follow_links_that_go_on_and_every_concept_stands_in_one(concept_map):
    layers = concept_map.layers
    links = (ConceptLink(0, 2, 1, 3, 0.9, 0.1), ConceptLink(1, 3, 3, 1, 0.8, 0.1), ConceptLink(1, 1, 3, 2, 0.1, 0.5))
    chains = ConceptMap(layers, links).chains()
    assert {layer: concept.id for layer, concept in chains[0].items()} == {0: 2, 1: 3, 3: 1}
    assert sum(map(len, chains)) == 12 and sum(len(chain) > 1 for chain in chains) == 1


def test_page_and_terminal_show_the_chains(concept_map, tmp_path):
    page = pellucid.report(concept_map, path=tmp_path / "map.html").read_text(encoding="utf-8")
    assert page.count("<th") >= 3 and "Concepts from layer to layer" in page
    for link in concept_map.links:
        if link.goes_on:
            assert " → " in str(concept_map) and "r = " in page
    assert len(concept_map.record()["links"]) == 8


def test_the_command_draws_a_map_of_several_layers_and_keeps_a_folder_of_each(tmp_path):
    save_tiny(tmp_path / "model", labels=LABELS)
    command = ["concepts", "find", str(tmp_path / "model"), "pocket", "--n", "3", "--n-texts", "3", "--method", "svd"]
    command += ["--limit", "20"]
    status, printed, err = run([*command, "--layer", "1", "--layer", "3", "--out", str(tmp_path / "out")])
    assert status == 0 and "Layers 1, 3" in printed, err
    assert pellucid.read(tmp_path / "out" / "layer-3").layer == 3
    for more, sentence in (
        (["--layer", "1", "--layer", "9"], "from 0 to 3"),
        (["--layer", "one"], "--layer"),
        (["--layer", "all", "--save", str(tmp_path / "a.parquet")], "one --layer"),
    ):
        status, _, err = run([*command, *more])
        assert status == 2 and sentence in " ".join(err.split())


def test_what_is_no_list_of_layers_is_refused(model):
    for layers in ([1], [1, 1], [1, 99], "most", 3, [1, "2"], [True, 2], None):
        with pytest.raises(BadSetting, match="layers="):
            pellucid.concept_map(model, TEXTS, layers, **HOW)
    function = pellucid.from_function(lambda batch: [[0.0, 1.0]] * len(batch), ["a", "b"])
    with pytest.raises(ModelCannot, match="shows no hidden states"):
        pellucid.concept_map(function, TEXTS, **HOW)
