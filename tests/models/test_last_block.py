"""The last block at the first position: same answers and gradients, whole where anything else is read or watched."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers.models.bert.modeling_bert import BertPooler

from pellucid.base.errors import ModelCannot, RouteNotUsed
from pellucid.models.routing import linear_product, route_choice
from pellucid.run.module_hooks import hook_output
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import tiny_classifier, tiny_composed

ROUTES = ("first_position",) if linear_product.lacks_product() else ("first_position", "onednn")
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

    hook_output(model.blocks[-1], note)
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


@pytest.mark.parametrize("attention", ("sdpa", "eager"))
@pytest.mark.parametrize("family", ("bert", "electra", "distilbert"))
def test_the_rules_of_pairs_give_what_they_give_in_the_whole_block(family, attention):
    own = tiny_classifier(family, attn_implementation=attention)
    model, lengths = replace(own, route="first_position"), lengths_of_last_block(own)
    ask(model, TEXTS, "deep_lift_shap")  # with the route's trial
    lengths.clear()
    ours = ask(model, TEXTS, "deep_lift_shap")
    assert 1 in lengths
    theirs = ask(own, TEXTS, "deep_lift_shap")
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(our.scores, their.scores, rtol=1e-4, atol=1e-6)
        assert our.diagnostics["completeness_gap"] < 1e-3


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


def pooling_all(network):
    """A hook that puts the mean of all states into the first."""
    mean = lambda module, inputs, output: (output[0].mean(1, keepdim=True).expand_as(output[0]), *output[1:])  # noqa: E731
    return network.bert.encoder.register_forward_hook(
        lambda module, inputs, output: type(output)(mean(module, inputs, (output[0],))[0])
    )


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "watch",
    (
        lambda network: network.bert.encoder.layer[-1].attention.self.query.register_forward_hook(lambda *call: None),
        lambda network: network.bert.register_forward_hook(lambda *call: None),
        lambda network: network.bert.encoder.layer[-1].register_full_backward_hook(lambda *call: None),
        pooling_all,
    ),
    ids=("query", "states", "gradients", "pooled"),
)
def test_where_the_user_sees_or_changes_the_network_it_is_whole(watch, route):
    own = tiny_classifier("bert")
    model = replace(own, route=route)
    assert model.route_in_use == route
    lengths = lengths_of_last_block(own)
    handle = watch(own.network)
    for ours, theirs in zip(traced(model), traced(own), strict=True):
        ours, theirs = (getattr(each, "logits", each) for each in (ours, theirs))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert min(lengths) > 1
    with pytest.warns(RouteNotUsed, match="hooks watch the network") if route == "first_position" else nullcontext():
        assert replace(own, route=route).route_in_use == ("eager" if route == "first_position" else route)
    handle.remove()


def test_a_forward_of_a_modules_own_is_run_whole(monkeypatch):
    own = tiny_classifier("bert")
    model, dense = replace(own, route="first_position"), own.network.bert.pooler.dense
    assert model.route_in_use == "first_position"
    monkeypatch.setattr(own.network.bert.pooler, "forward", lambda states: torch.tanh(dense(states.mean(1))))
    for each in (model, replace(own, route="onednn")):
        torch.testing.assert_close(traced(each)[0].logits, traced(own)[0].logits, rtol=1e-5, atol=1e-6)


class MeanPooler(BertPooler):
    """Reads all positions."""

    def forward(self, hidden_states):
        """The mean of all states."""
        return self.activation(self.dense(hidden_states.mean(1)))


def test_a_head_that_reads_all_positions_keeps_the_whole_block():
    """Also where an equal model by weights, whose head reads the first one, was tried before."""
    own = tiny_classifier("bert")
    for route in ROUTES:
        assert replace(own, route=route).route_in_use == route
    own.network.bert.pooler.__class__ = MeanPooler
    with pytest.warns(RouteNotUsed, match="its head reads more than the first position"):
        assert replace(own, route="first_position").route_in_use == "eager"
    lengths = lengths_of_last_block(own)
    for _ in range(2):  # the second time an equal model was tried before
        joined = replace(own, route="onednn")
        assert joined.route_in_use == ("eager" if linear_product.lacks_product() else "onednn")
        lengths.clear()
        traced(joined)
        assert lengths[-1] > 1


@pytest.mark.parametrize("family", ("gpt2", "modernbert", "deberta_v3"))
def test_networks_that_are_built_otherwise_are_refused_in_words(family):
    model = replace(tiny_classifier(family), route="first_position")
    with pytest.warns(RouteNotUsed, match="not built as those of BERT or DistilBERT"):
        assert model.route_in_use == "eager"


@pytest.mark.parametrize("error", (ValueError, KeyboardInterrupt))
def test_an_end_within_the_block_leaves_nothing_behind(error, monkeypatch):
    own = tiny_classifier("bert")
    model = replace(own, route="first_position")
    before = traced(model)[0].logits
    linear = torch.nn.Linear.forward

    def ended(layer, states):
        if layer is own.network.bert.encoder.layer[-1].attention.self.value:
            raise error
        return linear(layer, states)

    with monkeypatch.context() as patch:
        patch.setattr(torch.nn.Linear, "forward", ended)
        with pytest.raises((error, ModelCannot)):
            traced(model)
    assert torch.overrides._get_current_function_mode_stack() == []
    assert torch.equal(traced(model)[0].logits, before)


def test_models_that_pellucid_trains_are_whole_and_read_long_texts():
    own = tiny_composed("first_token", max_length=256, positions=128)
    for route, used in (("first_position", "eager"), *((name, name) for name in ROUTES[1:])):
        model = replace(own, route=route)
        assert model.route_in_use == used
        long = model.predict("It was not a bad film at all. " * 20)[0]
        assert np.allclose(long.logits, own.predict("It was not a bad film at all. " * 20)[0].logits, atol=1e-5)
