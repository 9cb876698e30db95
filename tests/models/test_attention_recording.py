"""Attention maps are those the network computes, whatever way it computes them."""

import copy

import pytest
import torch

from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.tiny import FAMILIES

OPEN_ONLY = {"mpnet", "deberta_v2", "deberta_v3"}  # they know no fused attention


def with_implementation(classifier, name):
    """A copy of the classifier that computes its attention in this way."""
    twin = copy.deepcopy(classifier)
    if twin.network.config._attn_implementation != name:
        twin.network.set_attn_implementation(name)
    assert twin.network.config._attn_implementation == name
    return twin


def recorded(classifier, rows):
    with torch.no_grad():
        return classifier.trace(rows, Want(attention=True))


def classifier_padding(classifier):
    """What the network's own call needs for batches."""
    named = classifier.network.config.pad_token_id
    return 0 if named is None else named


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("together", (True, False), ids=("padded", "alone"))
def test_fused_and_open_attention_give_the_models_own_maps(family, together, models, texts):
    rows = models[family].encode(as_examples(texts)).rows
    open_way = with_implementation(models[family], "eager")
    fused = open_way if family in OPEN_ONLY else with_implementation(models[family], "sdpa")
    for group in [rows] if together else [[row] for row in rows]:
        open_way.network.config.pad_token_id = classifier_padding(open_way)
        with torch.no_grad():
            own = open_way.network(**open_way.place(group), output_attentions=True).attentions
        real = torch.tensor([[place < len(row) for place in range(max(map(len, group)))] for row in group])
        for classifier in (open_way, fused, models[family]):
            trace = recorded(classifier, group)
            assert len(trace.attention) == classifier.n_layers == len(own)
            for layer, expected in zip(trace.attention, own, strict=True):
                assert layer.shape == expected.shape
                attended = real[:, None, :, None].expand_as(layer)  # a padded query's row means nothing
                torch.testing.assert_close(layer[attended], expected[attended], rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", (*FAMILIES, "span", "first_token"))
def test_recording_changes_no_logit(family, models, texts):
    rows = models[family].encode(as_examples(texts)).rows
    with torch.no_grad():
        plain = models[family].trace(rows).logits
    torch.testing.assert_close(recorded(models[family], rows).logits, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", (*FAMILIES, "span"))
def test_weights_sum_to_one_over_real_pieces_and_padding_gets_none(family, models, texts):
    rows = models[family].encode(as_examples(texts)).rows
    for layer in recorded(models[family], rows).attention:
        for number, row in enumerate(rows):
            weights = layer[number, :, : len(row)]
            torch.testing.assert_close(weights[..., : len(row)].sum(-1), torch.ones(weights.shape[:-1]))
            assert not weights[..., len(row) :].any()


def test_the_implementation_is_as_before(bert, texts):
    before = bert.network.config._attn_implementation
    recorded(bert, bert.encode(as_examples(texts)).rows)
    assert bert.network.config._attn_implementation == before
