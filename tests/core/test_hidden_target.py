"""A hidden state as target: the state that transformers itself shows, by every method that takes a target."""

import numpy as np
import pytest
import torch

from pellucid.api import explain
from pellucid.core.errors import BadSetting, ModelCannot
from pellucid.core.example import as_examples
from pellucid.core.hidden_target import HiddenState
from pellucid.core.kinds import attributions
from pellucid.models.function import from_function
from tests.asking import FEW, ask
from tests.tiny import FAMILIES, tiny_classifier

TEXT = "A gripping, lovely film."
PAIR = ("The café was closed.", "Nobody could eat there.")
BLIND = {
    "attention",
    "attention_heads",
    "attention_norm",
    "rationale",
    "span_attention",
    "chance",
}  # their scores are the same for every target


def states_of(model, segments, layer):
    """[piece width]: what transformers shows of the single text."""
    inputs = model.tokenizer(*segments, return_tensors="pt")
    with torch.no_grad():
        return model.network(**inputs, output_hidden_states=True).hidden_states[layer][0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_value_is_the_length_of_the_models_own_state(family):
    model = tiny_classifier(family)
    states = [states_of(model, segments, 2) for segments in ((TEXT,), PAIR)]
    for positions, places in (("first", [0]), ("last", [-1]), ((1, 2), [1, 2])):
        found = ask(model, [TEXT, PAIR], "gradient", target=HiddenState(2, positions))
        for one, state in zip(found, states, strict=True):
            assert one.target.value == pytest.approx(float(state[places].mean(0).norm()), rel=1e-4), positions
            assert str(one.target).startswith("hidden state") and str(one.target).endswith("of layer 2")


@pytest.mark.parametrize("method", [name for name in attributions.names() if name not in BLIND])
def test_every_method_explains_a_state_alone_and_in_a_batch(method, having, texts):
    model = having(method)
    choice, target = (method, FEW.get(method, {})), HiddenState(1)
    some = texts[:3]
    together = ask(model, some, choice, target=target)
    of_class = ask(model, some, choice)
    for text, one, other in zip(some, together, of_class, strict=True):
        alone = ask(model, [text], choice, target=target)[0]
        room = 1e-5 * max(1.0, float(np.abs(alone.scores).max()))
        np.testing.assert_allclose(one.scores, alone.scores, rtol=0, atol=room)
        if method != "preservation_mask":  # its first steps are of one size, whatever the slope
            assert not np.allclose(one.scores, other.scores), "the state is explained, not the class"


def project(model, segments, layer, direction, embeddings=None):
    inputs = model.tokenizer(*segments, return_tensors="pt")
    table = model.network.get_input_embeddings()
    handle = table.register_forward_hook(lambda _, __, out: out if embeddings is None else embeddings)
    try:
        states = model.network(**inputs, output_hidden_states=True).hidden_states[layer][0]
    finally:
        handle.remove()
    content = [n is not None for n in model.tokenizer(*segments).sequence_ids(0)]
    return states[content].mean(0), (states[content].mean(0) * direction).sum()


def test_the_gradient_is_that_of_the_length_along_the_texts_own_direction(bert):
    state, _ = project(bert, (TEXT,), 2, torch.zeros(1))
    direction = (state / state.norm()).detach()
    inputs = bert.tokenizer(TEXT, return_tensors="pt")
    words = bert.network.get_input_embeddings()(inputs["input_ids"]).detach().requires_grad_()
    _, value = project(bert, (TEXT,), 2, direction, words)
    slope = torch.autograd.grad(value, words)[0][0]
    found = ask(bert, [TEXT], "gradient", target=HiddenState(2))[0]
    np.testing.assert_allclose(found.scores, slope.norm(dim=-1), rtol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_occlusion_reads_the_state_of_what_is_left(family):
    """Also in families where the places of absent pieces stay and are masked."""
    model = tiny_classifier(family)
    batch = model.encode(as_examples([TEXT]))
    found = ask(model, [TEXT], ("occlusion", {"unit": "piece"}), target=HiddenState(2))[0]
    whole = model.trace(batch.rows, HiddenState(2).reading.want).hidden[2][0].detach()
    content = list(batch.units[0].content)
    state = whole[content].mean(0)
    direction = state / state.norm()
    for gone in content:
        columns = model._placed(batch.rows, spread=True)
        columns["attention_mask"][0, gone] = 0  # the literal way: everything computed, one piece not attended
        with torch.no_grad():
            states = model.network(**columns, output_hidden_states=True).hidden_states[2][0]
        left = states[[piece for piece in content if piece != gone]].mean(0)
        expected = float((state - left) @ direction)
        assert found.scores[gone] == pytest.approx(expected, abs=2e-4 * max(1.0, float(state.norm())))


def test_blocks_above_the_state_do_not_run_for_variants(bert):
    calls = []
    handles = [
        block.register_forward_hook(lambda *_, number=number: calls.append(number))
        for number, block in enumerate(bert.blocks)
    ]
    try:
        ask(bert, [TEXT], "occlusion", target=HiddenState(1))
    finally:
        for handle in handles:
            handle.remove()
    assert calls.count(0) > calls.count(2) > 0


def test_a_state_of_pieces_that_are_taken_away_is_zero(bert):
    batch = bert.encode(as_examples([TEXT]))
    reading = HiddenState(1, (2,)).reading
    row = batch.edited(0, [2], "absent")
    assert reading.answers(bert.trace([row], reading.want), [row]).abs().max() == 0


def test_layer_zero_is_what_the_first_block_reads(bert):
    found = ask(bert, [TEXT], "gradient", target=HiddenState(0, "first"))[0]
    assert found.target.value == pytest.approx(float(states_of(bert, (TEXT,), 0)[0].norm()), rel=1e-5)
    assert np.flatnonzero(found.scores).tolist() == [0]


@pytest.mark.parametrize(
    "made, told",
    [
        (lambda: HiddenState(-1), "layer=-1"),
        (lambda: HiddenState("two"), "whole number"),
        (lambda: HiddenState(1, "middle"), "middle"),
        (lambda: HiddenState(1, ()), "numbers of pieces"),
        (lambda: HiddenState(1, (-1,)), "numbers of pieces"),
    ],
)
def test_impossible_states_say_what_is_possible(made, told):
    with pytest.raises(BadSetting, match=told):
        made()


def test_a_layer_or_piece_that_is_not_there(bert):
    with pytest.raises(BadSetting, match="layers 0 to 3"):
        explain(bert, [TEXT], "gradient", target=HiddenState(4))
    with pytest.raises(BadSetting, match="positions names piece 99"):
        explain(bert, [TEXT], "gradient", target=HiddenState(1, (99,)))
    with pytest.raises(BadSetting, match="no probability"):
        explain(bert, [TEXT], "gradient", target=HiddenState(1), output="probability")


def test_a_function_of_texts_has_no_states():
    model = from_function(lambda texts: np.tile([0.0, 1.0], (len(texts), 1)), labels=("a", "b"))
    with pytest.raises(ModelCannot, match="no hidden states"):
        explain(model, [TEXT], "occlusion", target=HiddenState(1))
