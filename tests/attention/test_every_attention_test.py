"""Tests of attention: what all promise, and each against a literal loop that runs the pooling with other weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.attention.weighed_texts import WeighedText, attention_outcome, outcome_of, weighed_texts
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attention_tests
from pellucid.run.blank import generator_for
from pellucid.text.example import Example
from tests.shared.tiny import LABELS, tiny_composed

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.", "so so")
EXAMPLES = [Example((text,), label=LABELS[n % 3]) for n, text in enumerate(TEXTS)]
NAMES = [
    name
    for name in attention_tests.names()
    if attention_tests.get(name).facts["needs"] in ("weights", "explainer", "user_weights")
]
IDLE = [name for name in NAMES if attention_tests.get(name).facts["idle"] == 0]
METHODS = ("gradient", "leave_one_out")
REFERENCED = """uniform permuted heaviest_erased median_change user_weights unit_probability unit_probability_micro
effective_units conicity tau_gradient tau_leave_one_out heaviest_decides""".split()


@pytest.fixture(scope="module")
def model():
    """A model whose weights differ from word to word."""
    model = tiny_composed("additive")
    with torch.no_grad():
        model.network.pooler.score.weight.mul_(5)
    return model


@pytest.fixture(scope="module")
def texts(model):
    """As the model weighs them, with made-up scores of words and a user's weights."""
    return [with_rankings(text) for text in weighed_texts(model, EXAMPLES)]


def with_rankings(text):
    """Scores of a method that has seen another text: each word's place, the last ones alike."""
    scores = np.array([float(min(place, 4)) / 5 for place in range(len(text))])
    mine = torch.arange(1.0, len(text) + 1).double()
    return replace(
        text,
        rankings={method: (text.weights.numpy(), scores) for method in METHODS},
        user_weights=mine / mine.sum(),
    )


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
    parts = [sum(a * math.log(a / m) for a, m in zip(side, middle, strict=True) if a) for side in (one, other)]
    return sum(parts) / 2


def change(text, weights):
    """Half the sum of the probabilities' changes."""
    pairs = zip(answer(text, weights), answer(text, text.weights.tolist()), strict=True)
    return sum(abs(one - other) for one, other in pairs) / 2


def literal_conicity(states):
    mean = [sum(column) / len(states) for column in zip(*states, strict=True)]
    cosines = []
    for state in states:
        product = sum(a * b for a, b in zip(state, mean, strict=True))
        cosines.append(product / math.hypot(*state) / math.hypot(*mean))
    return sum(cosines) / len(cosines)


def literal_tau(one, other):
    """(concordant - discordant) / sqrt(pairs untied in one * pairs untied in the other)."""
    pairs = [(i, j) for j in range(len(one)) for i in range(j)]
    signs = [(np.sign(one[i] - one[j]), np.sign(other[i] - other[j])) for i, j in pairs]
    untied = math.prod(sum(sign[side] != 0 for sign in signs) for side in (0, 1))
    return sum(a * b for a, b in signs) / math.sqrt(untied)


def literal(name, text):
    own, count = text.weights.tolist(), len(text)
    if name == "uniform":
        return [right(text, own) - right(text, [1 / count] * count)]
    if name == "permuted":
        generator = generator_for(text.row, "permuted weights", 0)
        draws = [torch.rand(count, generator=generator, dtype=torch.float64).tolist() for _ in range(10)]
        orders = [sorted(range(count), key=draw.__getitem__) for draw in draws]
        return [right(text, own) - right(text, [own[place] for place in order]) for order in orders]
    if name == "user_weights":
        return [right(text, own) - right(text, [2 * (place + 1) / count / (count + 1) for place in range(count)])]
    if name == "median_change":
        generator = generator_for(text.row, "median change", 0)
        draws = torch.rand(100, count, generator=generator, dtype=torch.float64).tolist()
        orders = [sorted(range(count), key=draw.__getitem__) for draw in draws]
        moves = sorted(change(text, [own[place] for place in order]) for order in orders)
        return [(moves[49] + moves[50]) / 2]
    if name in ("unit_probability", "unit_probability_micro"):
        answers = answer(text, own)
        predicted = answers.index(max(answers))
        alone = [answer(text, [float(unit == one) for unit in range(count)])[predicted] for one in range(count)]
        return [sum(alone) / count if predicted == text.label else math.nan]
    if name == "effective_units":
        return [1 / sum(weight**2 for weight in own)]
    if name == "conicity":
        return [literal_conicity(text.states.tolist())]
    if name.startswith("tau_"):
        return [literal_tau(*map(list, text.rankings["gradient"]))]
    if name == "heaviest_decides":
        moves = list(text.rankings["leave_one_out"][1])
        decides = [move >= max(moves) / 2 for move in moves]
        return [decides[own.index(max(own))] - sum(decides) / count]
    moved = []
    for erased in range(count):
        rest = [0.0 if unit == erased else weight for unit, weight in enumerate(own)]
        moved.append(divergence(answer(text, [weight / sum(rest) for weight in rest]), answer(text, own)))
    heaviest = own.index(max(own))
    return [moved[heaviest] - (sum(moved) - moved[heaviest]) / (count - 1)]


@pytest.mark.parametrize("name", REFERENCED)
def test_it_is_the_literal_loop(name, texts):
    for text in (text for text in texts if len(text) > 1):
        values = attention_tests.get(name).make(text)
        assert values.tolist() == pytest.approx(literal(name, text), abs=1e-7, nan_ok=True)


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
        values = values[~values.isnan()]
        assert (values >= facts["lowest"]).all() and (values <= facts["highest"]).all()


@pytest.mark.parametrize("name", IDLE)
def test_equal_weights_on_equal_units_change_nothing(name, texts):
    """Constant weights lose nothing by permutation, nor by erasure where all units say the same; they rank no word."""
    text = with_rankings(WeighedText(torch.full((4,), 0.25).double(), torch.ones(4, 3).double(), 0, texts[1].row))
    values = attention_tests.get(name).make(text)
    assert values.nan_to_num().abs().max() < 1e-12


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
    assert attention_tests.get("median_change").make(text)[0] > 0.5


def test_one_unit_with_all_weight_is_erased_by_an_equal_share_of_the_others(texts):
    logits = torch.tensor([[0.0, 9.0], [3.0, 0.0], [1.0, 0.0]]).double()
    text = WeighedText(torch.tensor([1.0, 0.0, 0.0]).double(), logits, 1, texts[1].row)
    expected = divergence(answer(text, [0, 0.5, 0.5]), answer(text, [1, 0, 0]))
    assert attention_tests.get("heaviest_erased").make(text)[0] == pytest.approx(expected)


def test_weights_beside_the_word_that_decides_do_not_pass(texts):
    """A neighbour's state carries the reason (deception): the sum hangs on it, the text does not."""
    text = replace(texts[1], rankings={"leave_one_out": (np.array([0.9, 0.04, 0.06]), np.array([0.0, 0.6, 0.0]))})
    assert attention_tests.get("heaviest_decides").make(text)[0] == pytest.approx(-1 / 3)
    still = replace(text, rankings={"leave_one_out": (np.array([0.9, 0.04, 0.06]), np.array([0.0, 0.05, 0.0]))})
    assert attention_tests.get("heaviest_decides").make(still).isnan().all()


def test_a_mean_over_units_counts_long_texts_more():
    by_text, by_unit = (outcome_of([[0.0], [1.0]], [1, 3], average) for average in ("texts", "units"))
    assert by_text.value.mean == 0.5 and by_unit.value.mean == 0.75


@pytest.mark.parametrize("name", NAMES)
def test_the_outcome_counts_what_it_leaves_out(name, texts, model):
    bare = weighed_texts(model, [Example((TEXTS[1],))])
    entry = attention_tests.get(name)
    if entry.facts["needs"] == "explainer":
        bare = [with_rankings(text) for text in bare]
    judged = [text for text in (*texts, *bare) if len(text) > 1]
    lacking = sum(bool(entry.make(text).isnan().any()) for text in judged)
    outcome = attention_outcome(name, [*texts, *bare])
    assert outcome.too_short == 1 and outcome.unlabelled == lacking
    assert outcome.n_texts == len(judged) - lacking
    if outcome.n_texts:
        assert outcome.value.low <= outcome.value.mean <= outcome.value.high
    has_draws = "n_permutations" in entry.defaults and name != "median_change"
    assert math.isnan(outcome.deviation) != (has_draws and outcome.n_texts > 0)


def test_a_model_without_unit_weights_is_refused():
    with pytest.raises(ModelCannot, match="has no weights of units, which tests of attention change; train"):
        weighed_texts(tiny_composed("span"), EXAMPLES)
