"""The parity guard: what we would explain is the model's own answer, or there is an error and no explanation."""

import random
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from pellucid.base.errors import ParityBroken
from pellucid.run.parity import check_parity
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import FAMILIES, tiny_classifier, tiny_composed

TWO = ("A gripping, lovely film.", "Long, winding and in the end rather dull.")


@contextmanager
def answering(classifier, change):
    """The network's logits [batch class] pass through change(logits, inputs)."""

    def changed(_, __, inputs, output):
        output.logits = change(output.logits, inputs)
        return output

    handle = classifier.network.register_forward_hook(changed, with_kwargs=True)
    try:
        yield classifier
    finally:
        handle.remove()


def reads_padding(logits, inputs):
    return logits + 0.01 * inputs["input_ids"].shape[1]


def is_random(logits, _):
    return logits + 0.01 * torch.rand_like(logits)


def reads_neighbours(logits, _):
    return logits - 0.1 * logits.mean(0)


def is_no_number(logits, _):
    return logits * float("nan")


@pytest.mark.parametrize(("change", "packing"), ((reads_padding, "equal"), (reads_neighbours, "alone")))
def test_a_network_that_depends_on_its_batch_is_explained_without(change, packing):
    with answering(tiny_classifier("bert"), change) as model:
        together = ask(model, TWO, "occlusion", budget=1000)
        assert set(model.packings.values()) == {packing}
        for text, one in zip(TWO, together, strict=True):
            alone = ask(model, [text], "occlusion", budget=1)[0]
            np.testing.assert_allclose(one.scores, alone.scores, atol=1e-6)


@pytest.mark.parametrize("change", (reads_padding, reads_neighbours))
def test_a_network_that_depends_on_its_batch_since_its_trial_raises(change):
    model = tiny_classifier("bert")
    ask(model, TWO, "occlusion", budget=1000)
    with answering(model, change), pytest.raises(ParityBroken, match="differs from the model's own answer"):
        ask(model, TWO, "occlusion", budget=1000)


@pytest.mark.parametrize(
    ("change", "message"), ((is_random, "each of 8 passes.*a random state"), (is_no_number, "example .0."))
)
@pytest.mark.parametrize("method", ("gradient", "attention", "occlusion", "chance"))
def test_a_network_without_one_answer_raises(bert, change, message, method):
    with answering(bert, change), pytest.raises(ParityBroken, match=message):
        ask(bert, TWO[:1], method)


def test_dropout_that_stays_on_in_evaluation_raises():
    classifier = tiny_classifier("bert")
    classifier.network.dropout.forward = lambda x: torch.nn.functional.dropout(x, 0.3, training=True)
    with pytest.raises(ParityBroken):
        ask(classifier, TWO, "gradient")


@pytest.mark.parametrize(("gap", "passes"), ((0.9e-4, True), (1.1e-4, False), (float("nan"), False)))
@pytest.mark.parametrize("size", (0.5, 1.0, 1000.0))
def test_the_tolerance_is_relative_to_the_logit_and_at_least_1e_4(bert, gap, passes, size):
    examples = as_examples(TWO[:1])
    plain = torch.tensor([[size, -size]], dtype=torch.float64)
    explained = plain + torch.tensor([[gap * max(1.0, size), 0.0]], dtype=torch.float64)
    if passes:
        assert check_parity(bert, examples, explained, plain) == [pytest.approx(gap)]
        return
    with pytest.raises(ParityBroken):
        check_parity(bert, examples, explained, plain)


@pytest.mark.parametrize("kind", (*FAMILIES, "span", "first_token", "mean"))
@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.bfloat16))
def test_every_family_keeps_parity_in_every_number_type(kind, dtype, texts):
    classifier = tiny_classifier(kind) if kind in FAMILIES else tiny_composed(kind)
    classifier.network.to(dtype)
    allowed = 5e-2 if dtype == torch.bfloat16 else 1e-4
    assert all(explanation.diagnostics["parity"] <= allowed for explanation in ask(classifier, texts, "gradient"))


def padded_otherwise_under_a_graph(logits, inputs):
    padded = (inputs["attention_mask"] == 0).any(1, keepdim=True)
    return logits + padded if torch.is_grad_enabled() else logits


@pytest.mark.parametrize("method", ("gradient", "integrated_gradients", "smooth_gradient"))
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_a_network_whose_padded_rows_answer_otherwise_under_a_graph_is_refused(method, seed):
    draw = random.Random(seed)
    texts = [" ".join(["fine"] * draw.randint(3, 20)) for _ in range(60)]
    with (
        answering(tiny_classifier("bert"), padded_otherwise_under_a_graph) as model,
        pytest.raises(ParityBroken),
    ):
        ask(model, texts, method)
