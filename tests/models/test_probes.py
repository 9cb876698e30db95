"""What is guessed about families by a name holds for the families that each probe says it was tried on."""

import pytest
import torch
from transformers import T5Config, XLNetConfig

from pellucid.models.families.probes import (
    attention_modules,
    bert_layers,
    end_id,
    first_position,
    knows_token_types,
    layer_counts,
    most_pieces,
    named_embedding,
    parameter_names,
    set_dropout,
    text_configs,
    without_cache,
)
from tests.shared.families import family_network
from tests.shared.tiny import DECODERS, FAMILIES, tiny_classifier, tiny_network

ALL = tuple(dict.fromkeys([*FAMILIES, *DECODERS]))
OF_BERT = {"bert", "roberta", "xlm_roberta", "electra"}
FROM_PADDING = {"roberta", "xlm_roberta", "mpnet"}
TWO_TYPES = {"bert", "electra", "albert", "deberta_v2"}


@pytest.fixture(scope="module", params=ALL)
def family(request):
    return request.param, tiny_classifier(request.param)


def test_there_are_sixteen():
    assert len(ALL) == 16


def test_names_in_modules_mean_what_they_say(family):
    name, classifier = family
    assert all(attention_modules(block) for block in classifier.blocks)
    assert len(bert_layers(classifier.network)) == (3 if name in OF_BERT else 0)
    assert named_embedding(classifier.network) is classifier.embedding
    assert bool(first_position(classifier.network)) == (name in FROM_PADDING)
    assert first_position(classifier.network) == classifier.structure.first_position


def test_names_in_configurations_mean_what_they_say(family):
    name, classifier = family
    config = classifier.network.config
    assert text_configs(config) == [config]
    assert layer_counts(config) == {classifier.n_layers}
    assert most_pieces(config, 0) == (130 if name in FROM_PADDING else 128)
    assert knows_token_types(config) == (name in TWO_TYPES)
    assert end_id(config) is None
    assert bool(without_cache(parameter_names(classifier.network))) == (name in DECODERS)


def test_without_dropout_two_runs_in_training_mode_are_equal(family):
    name, _ = family
    network = tiny_network(name).train()
    ids = torch.arange(5, 12)[None]
    with torch.random.fork_rng(), torch.no_grad():
        set_dropout(network, 0.5)
        assert not torch.equal(*(network(input_ids=ids).logits for _ in range(2)))
        set_dropout(network, 0.0)
        assert torch.equal(*(network(input_ids=ids).logits for _ in range(2)))


def test_families_of_other_kinds():
    assert all(isinstance(end_id(family_network(name).config), int) for name in ("bart", "mbart", "t5"))
    assert most_pieces(family_network("mpt").config, 0) == 2048
    assert most_pieces(family_network("t5").config, 0) is None
    assert most_pieces(T5Config(n_positions=512)) is None  # its places are distances
    assert most_pieces(XLNetConfig()) is None  # it says -1
    assert named_embedding(family_network("canine")) is None
    assert len(text_configs(family_network("gemma3").config)) == 2
    assert len(text_configs(family_network("t5gemma").config)) == 3
