"""Probability and loss of a text read in windows: those of its mean logits, for prediction, methods and metrics
alike.
"""

import numpy as np
import pytest
import torch

from pellucid.base.kinds import attributions
from pellucid.comparison.case import Case
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import Target, class_probabilities
from pellucid.run.trace import Want
from pellucid.run.windows import in_windows, rows_of
from pellucid.text.example import as_examples
from tests.shared.asking import FEW, ask, reads_states, works
from tests.shared.tiny import tiny_composed

FIRST, SECOND = "a gripping lovely film made the evening", "nobody could eat there and it was closed"
LONG = " ".join([FIRST] * 5 + [SECOND] * 5)
PROBABILITY = Target(output="probability")


def divided(problem="single_label"):
    """A tiny model whose windows of the long text answer very differently, and none of them surely."""
    model = tiny_composed("mean", problem=problem)
    batch, _ = in_windows(model.encode(as_examples([LONG])))
    with torch.no_grad():
        center = torch.cat([model.trace([row]).logits for row in batch.rows]).mean(0)
        head = model.network.head
        head.bias.sub_(center).mul_(20)[0] += 0.5
        head.weight.mul_(20)
    return model


@pytest.fixture(scope="module")
def mixed():
    return divided()


def probability_of(model, row, target):
    """The probability of one row, which may have windows: from the mean of their logits."""
    logits = evaluate_rows(model, Scheduler(512), [row]).double()
    return float(class_probabilities(logits, model.problem)[0, target])


@pytest.mark.whole
@pytest.mark.parametrize(
    "method", [name for name in attributions.names() if not reads_states(name) and name != "linear_coefficients"]
)
def test_every_method_explains_the_probability_that_is_predicted(method, mixed, having):
    model = mixed if works(method, mixed) else having(method)
    for output in ("probability", "loss"):
        explanation = ask(model, [LONG], (method, FEW.get(method, {})), target=Target(output=output))[0]
        assert explanation.diagnostics["windows"] > 1
        expected = explanation.prediction.probability
        expected = expected if output == "probability" else -np.log(expected)
        assert explanation.target.value == pytest.approx(expected, rel=1e-5)
        assert any("probability or loss is that of their mean logits" in caveat for caveat in explanation.caveats)


def products(model, number):
    """For each window of the long text its pieces, and embedding times gradient of the log probability [piece].

    Computed literally: the network on each window, the mean of the logits, one backward pass. The second is the
    probability.
    """
    batch, _ = in_windows(model.encode(as_examples([LONG])))
    traces = [model.trace([row], Want(gradients=True)) for row in batch.rows]
    mean = torch.stack([trace.logits[0] for trace in traces]).mean(0)
    value = class_probabilities(mean, model.problem)[number]
    gradients = torch.autograd.grad(value.log(), [trace.embeddings for trace in traces])
    pairs = zip(traces, gradients, strict=True)
    products_of_windows = [(gradient * trace.embeddings).sum(-1)[0].detach().numpy() for trace, gradient in pairs]
    return list(zip(batch.parts, products_of_windows, strict=True)), float(value)


@pytest.mark.parametrize("problem", ("single_label", "multi_label"))
def test_the_gradient_is_that_of_the_texts_probability(problem):
    model = divided(problem)
    explanation = ask(model, [LONG], "gradient_x_input", target=PROBABILITY)[0]
    windows, value = products(model, model.labels.index(explanation.target.label))
    expected = np.zeros(len(explanation.scores))
    for pieces, product in windows:
        np.add.at(expected, list(pieces), product * value)
    np.testing.assert_allclose(explanation.scores, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("output", ("logit", "loss"))
def test_methods_that_always_explain_the_loss_explain_the_texts(output, mixed):
    """AllenNLP's shares sum to 1 in each window, and so in their mean."""
    explanation = ask(mixed, [LONG], "allennlp_simple", target=Target(output=output))[0]
    windows, _ = products(mixed, mixed.labels.index(explanation.target.label))
    expected = np.zeros(len(explanation.scores))
    for pieces, product in windows:
        np.add.at(expected, list(pieces), np.abs(product) / np.abs(product).sum() / len(windows))
    np.testing.assert_allclose(explanation.scores, expected, rtol=0, atol=1e-4 * expected.max())


def test_a_fall_is_that_of_the_texts_probability(mixed):
    """A word in one window has as score the fall of the text's probability; a word in two is left out of one window at
    a time.
    """
    explanation = ask(mixed, [LONG], "occlusion", target=PROBABILITY)[0]
    batch = mixed.encode(as_examples([LONG]))
    target = mixed.labels.index(explanation.target.label)
    assert probability_of(mixed, batch.rows[0], target) == pytest.approx(explanation.target.value, rel=1e-6)
    parts, _ = in_windows(batch)
    pieces = batch.pieces_of(0, "word")
    n_containing = [sum(set(word) <= set(part) for part in parts.parts) for word in pieces]
    for number in range(0, len(pieces), 7):
        removed = batch.edited(0, pieces[number], "absent")
        fall = explanation.target.value - probability_of(mixed, removed, target)
        if n_containing[number] == 2:
            fall = sum(explanation.target.value - p for p in without_in_each(mixed, batch, pieces[number], target))
        assert explanation.scores[number + 1] == pytest.approx(fall, abs=1e-5)


def without_in_each(model, batch, removed, target):
    """For each window with the pieces: the text's probability with the pieces removed from this window alone."""
    whole, edited = (rows_of(row) for row in (batch.rows[0], batch.edited(0, removed, "absent")))
    logits = evaluate_rows(model, Scheduler(512), [*whole, *edited]).double()
    own, others = logits.split(len(whole))
    for number in range(len(whole)):
        if whole[number] != edited[number]:
            mixed = own.clone()
            mixed[number] = others[number]
            yield float(class_probabilities(mixed.mean(0), model.problem)[target])


@pytest.mark.parametrize("method", ("kernel_shap", "shapley_sampling"))
def test_shares_of_a_window_sum_to_what_the_text_loses_with_it(method, mixed):
    explanation = ask(mixed, [LONG], (method, FEW[method]), target=PROBABILITY)[0]
    batch = mixed.encode(as_examples([LONG]))
    target = mixed.labels.index(explanation.target.label)
    left = list(without_in_each(mixed, batch, batch.units[0].content, target))
    assert len(left) == explanation.diagnostics["windows"]
    lost = sum(explanation.target.value - p for p in left)
    assert float(explanation.scores.sum()) == pytest.approx(lost, abs=1e-4)


def test_metrics_judge_the_same_probability(mixed):
    explanations = ask(mixed, [LONG], "gradient", target=PROBABILITY)
    batch = mixed.encode(as_examples([LONG]))
    case = Case(mixed, batch, explanations, Scheduler(512))
    [own] = case.probabilities([[batch.rows[0]]])
    np.testing.assert_allclose(own[0], explanations[0].prediction.probabilities, rtol=1e-5)
    assert own[0, case.explained_classes()[0]] == pytest.approx(explanations[0].target.value, rel=1e-5)


def test_a_short_text_beside_a_long_one_is_as_ever(mixed, texts):
    for method in ("gradient", "occlusion", "deep_lift_shap"):
        beside = ask(mixed, [texts[0], LONG], method, target=PROBABILITY, budget=10_000)[0]
        alone = ask(mixed, [texts[0]], method, target=PROBABILITY)[0]
        np.testing.assert_allclose(beside.scores, alone.scores, atol=1e-6)
        assert beside.target == alone.target
