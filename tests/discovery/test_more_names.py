"""Names beside words: a person's own concepts and what a direction decodes to, each only beyond what chance gives."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadFile
from pellucid.discovery.concept import LearntConcept
from pellucid.discovery.decoding import DecodedWord, likelier_words
from pellucid.discovery.dictionaries import Dictionary
from pellucid.discovery.naming import NearConcept, nearest
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.states import StateSample
from pellucid.text.lexicon import Concept
from tests.hostile.command_line import run
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier, with_tiny_head

COUNT, N = 3000, 20


def words_of_states():
    """Three thousand states, each of a word and a text, and whose activations are noise but for the first concept."""
    rng = np.random.default_rng(0)
    numbers = rng.geometric(0.02, COUNT)
    words = [[f"word{number}"] for number in numbers]
    places = np.stack([np.arange(COUNT) // 5, *np.zeros((3, COUNT), int)], axis=1)
    by_word = rng.normal(size=(numbers.max() + 1, N))  # equal words have much in common, in whatever concept
    activations = by_word[numbers] + 0.5 * rng.normal(size=(COUNT, N))
    activations[np.isin(numbers, [3, 8, 20, 31]), 0] += 3
    return activations, StateSample(np.zeros((COUNT, 1)), places, COUNT), words, numbers


LISTS = [Concept("time", ("Word3", "word8", "word20", "word31")), Concept("people", ("word5", "word9", "word40"))]


def test_a_learnt_concept_is_near_to_its_own_list_by_pearsons_r_and_noise_is_near_to_none():
    activations, sample, words, numbers = words_of_states()
    near = nearest(activations, sample, words, [*LISTS, Concept("absent", ("nowhere",))], 0)
    assert [concept.name for concept in near[0]] == ["time"]
    is_member = np.isin(numbers, [3, 8, 20, 31])
    assert near[0][0].r == pytest.approx(np.corrcoef(is_member, activations[:, 0])[0, 1])
    assert near[0][0].texts == len(np.unique(sample.places[is_member, 0]))
    assert sum(map(bool, near[1:])) <= 4  # of nineteen; one in twenty by chance


def reading(width=16, count=200):
    """Words with vectors of their own, and a head that multiplies with them."""
    vectors = torch.randn(count, width, generator=torch.Generator().manual_seed(0))
    return [f"word{index}" for index in range(count)], vectors, lambda states: (states @ vectors.T).log_softmax(-1)


def test_a_direction_decodes_to_its_word_beyond_random_directions_and_random_ones_to_nothing():
    words, vectors, read = reading()
    rng = np.random.default_rng(0)
    states = rng.normal(size=(500, 16)).astype(np.float32)
    atoms = np.vstack([2 * vectors[7].numpy(), rng.normal(size=(N, 16))]).astype(np.float32)
    dictionary = Dictionary(atoms, np.zeros(16, np.float32), atoms, "linear")
    activations = rng.exponential(size=(500, N + 1)).astype(np.float32)
    first, *others = likelier_words(read, words, states, dictionary, activations, 0)
    assert first[0].word == "word7" and first[0].rise > first[0].limit
    assert sum(map(bool, others)) <= 4
    unused = replace(dictionary, atoms=0 * atoms)
    assert not any(likelier_words(read, words, states, unused, activations, 0))


def test_a_model_with_a_head_and_a_persons_lists_gives_both_names_in_every_view(tmp_path, monkeypatch):
    monkeypatch.setattr("pellucid.discovery.naming.LEVEL", 0.05)  # so that a random model has such names
    monkeypatch.setattr("pellucid.discovery.decoding.LEVEL", 0.05)
    model = with_tiny_head(tiny_classifier("bert"))
    texts = [example.text for example in pellucid.examples("pocket", "train")[:60]]
    lists = {"praise": ["good", "lovely", "fine"], "small words": ["the", "a", "of", "and", "it"]}
    how = {"n": 4, "n_texts": 4, "method": "svd", "progress": False}
    concepts = pellucid.find_concepts(model, texts, 1, beside=lists, out=tmp_path / "out", **how)
    assert LearntConcepts.read(tmp_path / "out") == concepts
    assert "small words" in {near.name for concept in concepts.concepts for near in concept.near}
    assert any(concept.decoded for concept in concepts.concepts)
    page = pellucid.report(concepts, path=tmp_path / "page.html").read_text(encoding="utf-8")
    for drawn in (page, str(concepts)):
        assert "near to" in drawn and "decodes to" in drawn
    plain = pellucid.find_concepts(tiny_classifier("bert"), texts, 1, **how)
    assert not any(concept.near or concept.decoded for concept in plain.concepts)
    with pytest.raises(BadFile, match="another search"):
        pellucid.find_concepts(model, texts, 1, out=tmp_path / "out", **how)


def test_a_concept_without_words_is_called_by_its_list_then_by_what_it_decodes_to_else_by_nothing():
    plain = LearntConcept(1, (), (), 3.0, 0.5, 0.5, (), None, ())
    decoded = tuple(DecodedWord(word, 2.0, 1.0) for word in ("account", "profile"))
    concept = replace(plain, near=(NearConcept("time", 0.5, 0.1, 9),), decoded=decoded)
    assert concept.name == "time"
    assert replace(concept, near=()).name == "account · profile"
    assert plain.name == "no name"


def test_the_command_takes_lists_and_refuses_a_file_that_is_none(tmp_path):
    save_tiny(tmp_path / "model", labels=LABELS)
    (tmp_path / "lists.txt").write_text("praise: good, lovely\n", encoding="utf-8")
    command = ["concepts", "find", str(tmp_path / "model"), "pocket", "--layer", "1", "--n", "3", "--n-texts", "3"]
    command += ["--method", "svd", "--limit", "40", "--beside"]
    status, _, err = run([*command, str(tmp_path / "lists.txt")])
    assert status == 0, err
    status, _, err = run([*command, str(tmp_path / "none.txt")])
    assert status == 2 and "no file or folder" in err
