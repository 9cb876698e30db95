"""Models as people have them in memory: each runs what its mathematics allows, or says in one sentence what it
lacks.
"""

import functools
import threading

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import ModelCannot, ParityBroken, PellucidError
from pellucid.run.target import Target
from tests.shared.asking import FEW, ask
from tests.shared.tiny import tiny_classifier

TEXT = "A gripping, lovely film."
EDITS = ("occlusion", "lime", "kernel_shap", "shapley_sampling")
GRADIENTS = ("gradient", "gradient_x_input", "integrated_gradients")


def loaded(network, tokenizer):
    """A model in memory, by the door that its owner would take."""
    return pellucid.load(network, tokenizer)


def tiny_parts(family="bert"):
    model = tiny_classifier(family)
    return model.network, model.tokenizer


def quantised():
    network, tokenizer = tiny_parts()
    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, torch.qint8), tokenizer


def replaced(wraps):
    network, tokenizer = tiny_parts()
    own = network.forward

    def forward(*args, **kwargs):
        return own(*args, **kwargs)

    network.forward = functools.wraps(own)(forward) if wraps else forward
    return network, tokenizer


@pytest.mark.filterwarnings("ignore:.*torch.ao.quantization.*")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_quantised_network_is_explained_by_edits_and_says_that_it_has_no_gradients():
    network, tokenizer = quantised()
    model = loaded(network, tokenizer)
    columns = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        own = network(**columns).logits[0]
    for method in EDITS:
        explanation = ask(model, TEXT, (method, FEW.get(method, {})))[0]
        assert explanation.scores.any()
        np.testing.assert_allclose(explanation.prediction.logits, own, rtol=1e-5)
    for method in GRADIENTS:
        with pytest.raises(PellucidError, match="gradient"):
            ask(model, TEXT, (method, FEW.get(method, {})))


@pytest.mark.parametrize("wraps", (True, False))
def test_a_replaced_forward_gives_the_same_scores(wraps):
    model, plain = loaded(*replaced(wraps)), tiny_classifier("bert")
    for method in (*EDITS, *GRADIENTS):
        choice = (method, FEW.get(method, {}))
        ours, right = ask(model, TEXT, choice)[0], ask(plain, TEXT, choice)[0]
        np.testing.assert_allclose(ours.scores, right.scores, rtol=1e-4, atol=1e-6)


def test_a_traced_network_runs_or_says_one_sentence():
    network, tokenizer = tiny_parts()
    columns = tokenizer(TEXT, return_tensors="pt")
    network.config.return_dict = False
    traced = torch.jit.trace(network.eval(), (columns["input_ids"], columns["attention_mask"]), strict=False)
    with pytest.raises(PellucidError) as refused:
        pellucid.explain(loaded(traced, tokenizer), TEXT, "occlusion")
    assert len(str(refused.value).split()) > 5


def test_an_active_meta_device_is_refused():
    model = tiny_classifier("bert")
    for call in (lambda: pellucid.explain(model, TEXT, "occlusion"), lambda: model.predict(TEXT)):
        with torch.device("meta"), pytest.raises(ModelCannot, match="meta device"):
            call()
        call()


def with_masked_class():
    model = tiny_classifier("bert")
    with torch.no_grad():
        model.network.classifier.bias[1] = -float("inf")
    return model


@pytest.mark.parametrize("method", (*EDITS, *GRADIENTS))
def test_a_masked_class_is_refused_by_name_and_the_others_are_explained(method):
    model, choice = with_masked_class(), (method, FEW.get(method, {}))
    for label in ("negative", "positive"):
        explanation = ask(model, TEXT, choice, target=Target(label))[0]
        assert np.isfinite(explanation.scores).all() and explanation.scores.any()
        assert explanation.prediction.probabilities[1] == 0.0
        right = ask(tiny_classifier("bert"), TEXT, choice, target=Target(label))[0]
        np.testing.assert_allclose(explanation.scores, right.scores, rtol=1e-3, atol=1e-6)
    for target in ("neutral", ("positive", "neutral")):
        with pytest.raises(ModelCannot, match="neutral"):
            ask(model, TEXT, choice, target=Target(target))


def test_a_vector_without_numbers_that_no_text_reads_changes_no_score():
    """What would stand for "no word" has that vector in its mean: preservation_mask must not be 1 everywhere, but is
    refused.
    """
    model = tiny_classifier("bert")
    unused = next(id for id in model.vocabulary.tolist() if id not in model.tokenizer(TEXT)["input_ids"])
    with torch.no_grad():
        model.embedding.weight[unused] = float("nan")
    with pytest.raises(ModelCannot, match="mean of the word embeddings"):
        ask(model, TEXT, ("preservation_mask", {"n_steps": 2}))
    for method in ("occlusion", "gradient"):
        right = ask(tiny_classifier("bert"), TEXT, method)[0]
        assert np.allclose(ask(model, TEXT, method)[0].scores, right.scores, atol=1e-6)


def test_a_table_that_is_clipped_when_it_is_read_is_refused_or_left_as_it_was():
    model = tiny_classifier("bert")
    model.embedding.max_norm = 0.01
    before = model.embedding.weight.detach().clone()
    with pytest.raises(PellucidError, match="max_norm"):
        pellucid.explain(loaded(model.network, model.tokenizer), TEXT, "occlusion")
    assert torch.equal(model.embedding.weight, before)


def test_a_thread_that_switches_modes_changes_no_result():
    """Results are right, or one sentence says that another thread disturbs them; never others in silence."""
    model = tiny_classifier("bert")
    model.network.config.hidden_dropout_prob = 0.5
    for module in model.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    right = ask(model, TEXT, "occlusion")[0].scores
    done = threading.Event()

    def toggle():
        while not done.is_set():
            model.network.train()
            model.network.eval()

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        for _ in range(20):
            try:
                scores = ask(model, TEXT, "occlusion")[0].scores
            except ParityBroken as error:
                assert "another thread" in str(error)
            else:
                assert np.allclose(scores, right, atol=1e-5)
    finally:
        done.set()
        thread.join()
        model.network.eval()
