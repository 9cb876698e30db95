"""The last block at the first position: same answers and gradients, whole where anything else is read or watched."""

from dataclasses import replace

import pytest
import torch

from pellucid.base.errors import RouteNotUsed
from pellucid.models.routing import linear_product, route_choice
from pellucid.models.routing.last_block import last_block
from pellucid.run.module_hooks import hook_output
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_classifier, tiny_composed

TEXTS = ("Fine.", "A gripping, lovely film, if long.", "It was not bad " * 6)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch, tmp_path):
    """No trial of another test answers."""
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(route_choice, "_remembered", type(route_choice._remembered)())


def lengths_of_last_block(model):
    """A list that gets the length of what the last block returns in each pass."""
    lengths = []

    def note(module, inputs, output):
        lengths.append((output[0] if isinstance(output, tuple) else output).shape[1])

    hook_output(last_block(model.network).block, note)
    return lengths


def traced(model):
    """Logits and the gradient of a mixture of them by the words."""
    trace = model.trace(model.encode(as_examples(TEXTS)).rows, Want(gradients=True))
    mixture = trace.logits @ torch.arange(1.0, trace.logits.shape[1] + 1)
    return trace, torch.autograd.grad(mixture.sum(), trace.embeddings)[0]


@pytest.mark.parametrize("attention", ("sdpa", "eager"))
@pytest.mark.parametrize("family", ("bert", "roberta", "distilbert", "electra", "xlm_roberta"))
def test_answers_and_gradients_are_those_of_the_whole_block(family, attention):
    own = tiny_classifier(family, attn_implementation=attention)
    model = replace(own, route="first_position")
    assert model.route_in_use == "first_position"
    lengths = lengths_of_last_block(own)
    for ours, theirs in zip(traced(model), traced(own), strict=True):
        ours, theirs = (getattr(each, "logits", each) for each in (ours, theirs))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    longest = max(map(len, own.encode(as_examples(TEXTS)).rows))
    assert lengths[0] == 1 and lengths[-1] == longest


@pytest.mark.parametrize(
    "want",
    (
        Want(gradients=True, hidden=True),
        Want(gradients=True, attention=True),
        Want(gradients=True, deepest=1, hidden=True),
    ),
)
def test_what_is_recorded_is_whole(want):
    own = tiny_classifier("bert")
    recorded, plain = (own_trace(model, want) for model in (replace(own, route="first_position"), own))
    assert len(recorded) == len(plain) > 1
    for ours, theirs in zip(recorded, plain, strict=True):
        assert torch.equal(ours, theirs)


def own_trace(model, want):
    trace = model.trace(model.encode(as_examples(TEXTS)).rows, want)
    return [trace.logits, *trace.hidden, *trace.attention]


def test_where_the_user_watches_the_block_it_is_whole():
    own = tiny_classifier("bert")
    model, seen = replace(own, route="first_position"), []
    assert model.route_in_use == "first_position"
    handle = last_block(own.network).query.register_forward_hook(lambda *call: seen.append(call[2].shape[1]))
    traced(model)
    handle.remove()
    assert seen == [max(map(len, own.encode(as_examples(TEXTS)).rows))]


def test_a_head_that_reads_all_positions_keeps_the_whole_block(monkeypatch):
    own = tiny_classifier("bert")
    dense = own.network.bert.pooler.dense
    monkeypatch.setattr(own.network.bert.pooler, "forward", lambda states: torch.tanh(dense(states.mean(1))))
    model = replace(own, route="first_position")
    with pytest.warns(RouteNotUsed, match="its head reads more than the first position"):
        assert model.route_in_use == "eager"
    if not linear_product.lacks_product():
        lengths = lengths_of_last_block(own)
        for _ in range(2):  # the second time an equal model was tried before
            joined = replace(own, route="onednn")
            assert joined.route_in_use == "onednn"
            lengths.clear()
            traced(joined)
            assert lengths[-1] > 1


@pytest.mark.parametrize("family", ("gpt2", "modernbert", "deberta_v3"))
def test_networks_that_are_built_otherwise_are_refused_in_words(family):
    model = replace(tiny_classifier(family), route="first_position")
    with pytest.warns(RouteNotUsed, match="not built as those of BERT or DistilBERT"):
        assert model.route_in_use == "eager"


def test_an_error_in_the_block_leaves_nothing_behind(monkeypatch):
    own = tiny_classifier("bert")
    model = replace(own, route="first_position")
    before = traced(model)[0].logits
    with monkeypatch.context() as patch:
        patch.setattr(last_block(own.network).after, "forward", None)
        with pytest.raises(TypeError):
            traced(model)
    assert torch.equal(traced(model)[0].logits, before)
    assert torch.overrides._get_current_function_mode_stack() == []


def test_models_that_pellucid_trains_take_it_where_they_read_the_first_position():
    for pooler, used in (("first_token", "first_position"), ("mean", "eager")):
        model = replace(tiny_composed(pooler), route="first_position")
        assert model.route_in_use == used
