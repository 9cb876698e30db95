"""Tests of attention: what all promise, and each against a literal loop that runs the pooling with other weights."""

import math

import pytest
import torch

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.passes.seeds import generator_for
from pellucid.core.text.example import Example
from pellucid.evaluation.shared.attention_outcome import attention_outcome
from pellucid.evaluation.shared.weighed_texts import WeighedText, weighed_texts
from tests.tiny import LABELS, tiny_composed

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.", "so so")
EXAMPLES = [Example((text,), label=LABELS[n % 3]) for n, text in enumerate(TEXTS)]
NAMES = attention_tests.names()


@pytest.fixture(scope="module")
def model():
    """A model whose weights differ from word to word."""
    model = tiny_composed("additive")
    with torch.no_grad():
        model.network.pooler.score.weight.mul_(5)
    return model


@pytest.fixture(scope="module")
def texts(model):
    return weighed_texts(model, EXAMPLES)


def answer(text, weights):
    """The class probabilities of a text under weights, by a loop over its units."""
    logits = [
        sum(float(weight) * float(unit[n]) for weight, unit in zip(weights, text.unit_logits, strict=True))
        for n in range(text.unit_logits.shape[1])
    ]
    powers = [math.exp(value - max(logits)) for value in logits]
    return [power / sum(powers) for power in powers]


def right(text, weights):
    probabilities = answer(text, weights)
    return float(probabilities.index(max(probabilities)) == text.label)


def divergence(one, other):
    """Jensen-Shannon, in nats."""
    middle = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    parts = [
        sum(a * math.log(a / m) for a, m in zip(side, middle, strict=True) if a) for side in (one, other)
    ]
    return sum(parts) / 2


def literal(name, text):
    own, count = text.weights.tolist(), len(text)
    if name == "uniform":
        return [right(text, own) - right(text, [1 / count] * count)]
    if name == "permuted":
        generator = generator_for(text.row, "permuted weights", 0)
        draws = [torch.rand(count, generator=generator, dtype=torch.float64).tolist() for _ in range(10)]
        orders = [sorted(range(count), key=draw.__getitem__) for draw in draws]
        return [right(text, own) - right(text, [own[place] for place in order]) for order in orders]
    moved = []
    for erased in range(count):
        rest = [0.0 if unit == erased else weight for unit, weight in enumerate(own)]
        moved.append(divergence(answer(text, [weight / sum(rest) for weight in rest]), answer(text, own)))
    heaviest = own.index(max(own))
    return [moved[heaviest] - (sum(moved) - moved[heaviest]) / (count - 1)]


@pytest.mark.parametrize("name", ("uniform", "permuted", "heaviest_erased"))
def test_it_is_the_literal_loop(name, texts):
    for text in (text for text in texts if len(text) > 1):
        values = attention_tests.get(name).make(text)
        assert values.tolist() == pytest.approx(literal(name, text), abs=1e-9)


def test_unit_logits_under_the_models_own_weights_are_its_answer(model, texts):
    for text, example in zip(texts, EXAMPLES, strict=True):
        torch.testing.assert_close(
            text.logits(text.weights[None])[0].float(), model.plain_logits(example), rtol=1e-4, atol=1e-5
        )
        assert float(text.weights.sum()) == pytest.approx(1, abs=1e-6)


def test_a_text_alone_has_the_weights_and_logits_that_it_has_in_a_batch(model, texts):
    for text, example in zip(texts, EXAMPLES, strict=True):
        [alone] = weighed_texts(model, [example])
        torch.testing.assert_close(alone.weights, text.weights, rtol=0, atol=1e-6)
        torch.testing.assert_close(alone.unit_logits, text.unit_logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_in_the_declared_range(name, texts):
    facts = attention_tests.get(name).facts
    assert facts["better"] in ("higher", "lower")
    for text in (text for text in texts if len(text) > 1):
        values = attention_tests.get(name).make(text)
        assert values.ndim == 1 and len(values) >= 1
        assert (values >= facts["lowest"]).all() and (values <= facts["highest"]).all()


@pytest.mark.parametrize(
    "name", [name for name in NAMES if attention_tests.get(name).facts["better"] == "higher"]
)
def test_equal_weights_on_equal_units_change_nothing(name, texts):
    """Constant weights lose nothing by permutation, nor by erasure where all units say the same."""
    text = WeighedText(torch.full((4,), 0.25).double(), torch.ones(4, 3).double(), 0, texts[1].row)
    assert attention_tests.get(name).make(text).abs().max() < 1e-12


def test_equal_weights_on_equal_units_can_go_anywhere(texts):
    text = WeighedText(torch.full((4,), 0.25).double(), torch.ones(4, 3).double(), 0, texts[1].row)
    one_unit = torch.tensor([1.0, 0, 0, 0]).double()
    assert attention_tests.get("farthest_weights").make(text)[0] == pytest.approx(
        divergence(one_unit.tolist(), text.weights.tolist()), abs=1e-9
    )


def test_weights_on_the_one_unit_that_decides_are_seen(texts):
    logits = torch.tensor([[0.0, 9.0], [3.0, 0.0], [3.0, 0.0], [3.0, 0.0], [3.0, 0.0], [3.0, 0.0]]).double()
    text = WeighedText(torch.tensor([0.9, 0.02, 0.02, 0.02, 0.02, 0.02]).double(), logits, 1, texts[1].row)
    assert attention_tests.get("uniform").make(text).tolist() == [1.0]
    assert attention_tests.get("permuted").make(text).mean() > 0.5
    assert attention_tests.get("heaviest_erased").make(text)[0] > 0.3


@pytest.mark.parametrize("name", NAMES)
def test_the_outcome_counts_what_it_leaves_out(name, texts, model):
    unlabelled = weighed_texts(model, [Example((TEXTS[1],))])
    outcome = attention_outcome(name, [*texts, *unlabelled])
    needs_label = bool(attention_tests.get(name).make(unlabelled[0]).isnan().any())
    assert outcome.too_short == 1 and outcome.unlabelled == int(needs_label)
    assert outcome.n_texts == 4 - int(needs_label)
    assert outcome.value.low <= outcome.value.mean <= outcome.value.high
    assert math.isnan(outcome.deviation) != attention_tests.get(name).facts["random"]


def test_a_model_without_unit_weights_is_refused():
    with pytest.raises(ModelCannot, match="has no weights of units, which tests of attention change; train"):
        weighed_texts(tiny_composed("span"), EXAMPLES)
