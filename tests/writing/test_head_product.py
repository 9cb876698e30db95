"""The way back through the vocabulary takes one word's pieces alone, and the gradient is that of the whole graph."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.run.trace import HeadProduct, Want
from pellucid.run.traces import gradients_of
from pellucid.text.example import as_examples
from tests.shared.tiny_writing import KINDS, tiny_writing

PAIRS = [("A good film about a dog.", "A fine story, well told."), ("Dull.", "A long film.")]


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("target", [pellucid.Word(2), pellucid.Word("text"), pellucid.Word(1, against="dog")])
def test_gradients_are_those_of_autograd(kind, target):
    model = tiny_writing(kind)
    batch = model.encode(as_examples(PAIRS))
    resolved = target.resolve(batch, model)
    with torch.inference_mode(False):
        trace = model.trace(batch.rows, Want(gradients=True))
        assert isinstance(trace.written.head, HeadProduct)
        values = resolved.values(resolved.readout.answers(trace, batch.rows))
        literal = torch.autograd.grad(values.sum(), trace.embeddings, retain_graph=True)[0]
        ours = gradients_of(values, trace, hidden=False).embeddings
    assert float(literal.abs().max()) > 0
    torch.testing.assert_close(ours, literal, rtol=1e-4, atol=1e-6)


def test_values_that_do_not_come_from_the_vocabulary_have_their_gradients():
    model = tiny_writing("gpt2")
    batch = model.encode(as_examples(PAIRS[:1]))
    with torch.inference_mode(False):
        trace = model.trace(batch.rows, Want(gradients=True, hidden=True))
        values = trace.hidden[1].square().sum((1, 2))
        literal = torch.autograd.grad(values.sum(), trace.embeddings, retain_graph=True)[0]
        ours = gradients_of(values, trace, hidden=False).embeddings
    assert float(ours.abs().max()) > 0
    np.testing.assert_allclose(ours.numpy(), literal.numpy(), rtol=1e-5)


def test_one_word_takes_its_own_places_back(monkeypatch):
    model, seen = tiny_writing("bart"), []
    by_states = HeadProduct.gradient_by_states
    monkeypatch.setattr(
        HeadProduct,
        "gradient_by_states",
        lambda self, values: seen.append(gradient := by_states(self, values)) or gradient,
    )
    pellucid.explain(model, [PAIRS[0]], "gradient", target=pellucid.Word(1), progress=False)
    assert seen and all(0 < int((one != 0).any(-1).sum()) < one.shape[1] for one in seen)


def test_a_hook_of_the_users_on_the_head_is_part_of_the_gradient():
    model = tiny_writing("gpt2")
    plain = pellucid.explain(model, [PAIRS[0]], "gradient_x_input", target=pellucid.Word(2), progress=False)[0]
    handle = model.network.lm_head.register_forward_hook(lambda module, args, output: output * 2 - 1)
    try:
        batch = model.encode(as_examples(PAIRS[:1]))
        resolved = pellucid.Word(2).resolve(batch, model)
        with torch.inference_mode(False):
            trace = model.trace(batch.rows, Want(gradients=True))
            values = resolved.values(resolved.readout.answers(trace, batch.rows))
            literal = torch.autograd.grad(values.sum(), trace.embeddings, retain_graph=True)[0]
            ours = gradients_of(values, trace, hidden=False).embeddings
    finally:
        handle.remove()
    torch.testing.assert_close(ours, literal, rtol=1e-4, atol=1e-6)
    assert trace.written.head is None and plain.scores.any()
