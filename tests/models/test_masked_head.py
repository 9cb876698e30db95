"""The head on frozen word vectors: its decoder is the model's own table, and its normaliser is exact."""

import pytest
import torch

from pellucid.models.language_heads.masked_head import MaskedHead, word_vectors_of
from tests.shared.tiny import FAMILIES, tiny_classifier, tiny_on_vectors


def test_the_decoder_shares_the_frozen_table():
    model = tiny_classifier()
    head = MaskedHead(32, word_vectors_of(model))
    table = model.embedding.weight
    assert head.word_vectors.data_ptr() == table.data_ptr() and head.word_vectors.shape == table.shape
    assert not head.word_vectors.requires_grad and "word_vectors" not in head.state_dict()
    assert not any(parameter.shape == table.shape for parameter in head.parameters())
    before = table.detach().clone()
    head(torch.randn(3, 32)).sum().backward()
    assert table.grad is None and torch.equal(table, before)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_is_what_the_model_looks_up(family):
    model = tiny_classifier(family)
    vectors = word_vectors_of(model)
    ids = model.vocabulary
    assert torch.equal(vectors[ids], model.embed(ids).float()) and len(vectors) > int(ids.max())


def test_the_table_of_an_encoder_on_word_vectors_is_shared():
    model = tiny_on_vectors("bilstm")
    assert word_vectors_of(model).data_ptr() == model.network.get_input_embeddings().weight.data_ptr()


@pytest.mark.parametrize("numbers", (1, 7, 100, 1 << 23))
def test_slices_of_the_vocabulary_change_nothing(monkeypatch, numbers):
    monkeypatch.setattr("pellucid.models.language_heads.masked_head.NUMBERS", numbers)
    generator = torch.Generator().manual_seed(0)
    head = MaskedHead(6, 3 * torch.randn(11, 4, generator=generator))
    states = 5 * torch.randn(5, 6, generator=generator)
    with torch.no_grad():
        assert torch.equal(head.most_likely(states), head(states).argmax(-1))


def test_of_equal_logits_the_first_is_named(monkeypatch):
    monkeypatch.setattr("pellucid.models.language_heads.masked_head.NUMBERS", 2)
    head = MaskedHead(2, torch.zeros(7, 2))
    assert head.most_likely(torch.randn(2, 2)).tolist() == [0, 0]
