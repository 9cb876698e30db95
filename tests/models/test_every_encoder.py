"""Every registered encoder keeps the promises that all share; a new file in encoders/ is tested because it exists."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from pellucid.base.kinds import encoders
from pellucid.models.composed.composed import as_classifier
from pellucid.models.composed.networks import Plan, composed_network
from pellucid.models.composed.word_vectors import build_encoder
from tests.models.composed_promises import (
    PAIR,
    SHORT,
    TEXTS,
    assert_alone_is_together,
    assert_reads_an_empty_text,
    assert_survives_a_folder,
    rows_of,
)
from tests.shared.tiny import LABELS, word_piece

NAMES = encoders.names()


def small(name):
    """A classifier on the encoder with its own defaults, but for vectors that need no download, under a mean."""
    tokenizer, entry = word_piece(), encoders.get(name)
    changed = {"vectors": "random"} if "vectors" in entry.defaults else {}
    plan = Plan(name, "mean", {}, LABELS, encoder_settings=changed)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        encoder = build_encoder(name, entry.settings(changed), len(tokenizer), tokenizer.pad_token_id)
        network = composed_network(encoder, plan).eval()
    return as_classifier(network, tokenizer, plan, f"tiny {name}"), plan


def check_alone_and_together(name):
    """Neighbours, padding and what stands in padding change nothing."""
    classifier, _ = small(name)
    pieces = classifier.place(rows_of(classifier, *TEXTS))["pieces"]
    with torch.no_grad():
        together = classifier.network(pieces).logits
        filled = replace(pieces, input_ids=pieces.input_ids.where(pieces.attention_mask.bool(), 7))
        assert torch.equal(classifier.network(filled).logits, together)
    assert_alone_is_together(classifier)


def check_states(name):
    """One state a piece, as wide as declared; word embeddings are one module, and blocks are a list."""
    classifier, _ = small(name)
    encoder = classifier.network.encoder
    rows = rows_of(classifier, SHORT, PAIR)
    states = classifier.network.states(classifier.place(rows)["pieces"])
    assert states.shape == (2, max(map(len, rows)), encoder.width) and states.isfinite().all()
    assert encoder.get_input_embeddings() is classifier.embedding
    assert isinstance(encoder.blocks, nn.ModuleList) and classifier.n_layers == len(encoder.blocks)
    assert {"gradient", "hidden_states"} <= classifier.capabilities


def check_empty_text(name):
    """A text of which nothing is left has finite logits, alone and beside others."""
    assert_reads_an_empty_text(small(name)[0])


def check_training(name):
    """Gradients are finite and reach the word vectors and every block; a second step can follow the first."""
    classifier, _ = small(name)
    network, arguments = classifier.network.train(), classifier.place(rows_of(classifier, *TEXTS))
    optimiser = torch.optim.SGD(network.parameters(), lr=1e-3)
    for _ in range(2):
        optimiser.zero_grad()
        network(**arguments).logits.square().mean().backward()
        gradients = [each.grad for each in network.encoder.parameters()]
        assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients)
        assert all(any(each.grad.any() for each in block.parameters()) for block in network.encoder.blocks)
        assert network.get_input_embeddings().weight.grad.any()
        optimiser.step()
    assert network.eval()(**arguments).logits.isfinite().all()


def check_folder(name, folder):
    """A saved model has the weights and the answers of the one that was saved."""
    assert_survives_a_folder(*small(name), folder)


def check_all(name, folder):
    """Every promise, for an encoder of any name."""
    for check in (check_alone_and_together, check_states, check_empty_text, check_training):
        check(name)
    check_folder(name, folder)


@pytest.mark.parametrize("name", NAMES)
def test_an_encoder_is_a_class_with_a_sentence(name):
    entry = encoders.get(name)
    assert isinstance(entry.make, type) and issubclass(entry.make, nn.Module)
    assert entry.make.__name__ != name and entry.summary
    assert entry.facts["sees"] in ("text", "neighbours") and 0 < entry.facts["learning_rate"] < 1


@pytest.mark.parametrize("name", NAMES)
def test_a_text_alone_and_in_a_batch_are_one(name):
    check_alone_and_together(name)


@pytest.mark.parametrize("name", NAMES)
def test_states_are_as_declared(name):
    check_states(name)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_text_has_logits(name):
    check_empty_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_trained_twice(name):
    check_training(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_a_folder(name, tmp_path):
    check_folder(name, tmp_path)
