"""Relevance is what LRP written out by hand gives, and what others give where they are right."""

import numpy as np
import pytest
import torch
from captum.attr import LRP, DeepLift
from captum.attr._utils.lrp_rules import EpsilonRule

from pellucid.base.errors import BadSetting
from pellucid.run.target import Target
from tests.attribution.backward.networks import Forward, Perceptron, as_model, model_of
from tests.reference import relevance as literal
from tests.shared.asking import ask
from tests.shared.tiny import tiny_classifier

TEXT = "A gripping, lovely film."
LABEL = 1


def assert_close(actual, expected, tolerance=1e-6):
    expected = np.asarray(expected.detach())
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def scores_of(model, method, of=LABEL, **settings):
    return ask(model, [TEXT], (method, settings), target=Target(of))[0].scores


RULES = (
    ("cp", {}, literal.epsilon_rule()),
    ("epsilon", {"epsilon": 0.05}, literal.epsilon_rule(0.05)),
    ("alpha_beta", {}, literal.alpha_beta_rule(0.5)),
    ("alpha_beta", {"alpha": 2.0}, literal.alpha_beta_rule(2.0)),
)


@pytest.mark.parametrize("biases", (False, True))
@pytest.mark.parametrize(("policy", "settings", "rule"), RULES, ids=lambda value: str(value)[:12])
def test_bert_layer_by_layer(policy, settings, rule, biases):
    model = model_of("bert", biases)
    ids = model.tokenizer(TEXT, return_tensors="pt")["input_ids"][0]
    words, states = literal.bert_relevance(model.network, ids, LABEL, rule)
    assert_close(scores_of(model, "relevance", policy=policy, **settings), words)
    assert_close(scores_of(model, "relevance", policy=policy, layer=0, **settings), states)


@pytest.mark.parametrize("biases", (False, True))
def test_the_released_code_of_wu_and_ong_half_block_by_half_block(biases):
    model = model_of("bert", biases)
    ids = model.tokenizer(TEXT, return_tensors="pt")["input_ids"][0]
    expected = literal.bert_released(model.network, ids, LABEL)
    scores = scores_of(model, "wu_ong_lrp")
    assert_close(scores, expected)
    assert (scores >= 0).all()


@pytest.mark.parametrize("biases", (False, True))
def test_lstm_step_by_step(biases):
    model = model_of("lstm_positions_first", biases)
    assert isinstance(model.network, Forward)
    ids = torch.tensor([number for number, _, _ in model.tokenize(TEXT)])
    assert_close(scores_of(model, "relevance"), literal.lstm_relevance(model.network, ids, LABEL))


def test_without_biases_a_relu_network_gives_gradient_x_input():
    """A2.13: there LRP-0 and gradient x input are one; with biases they still are, but nothing sums up."""
    model = model_of("perceptron")
    for policy in ("cp", "epsilon"):
        scores = scores_of(model, "relevance", policy=policy)
        np.testing.assert_allclose(scores, scores_of(model, "gradient_x_input"), rtol=1e-3)
    smooth = as_model(Perceptron(torch.nn.GELU()).double())
    assert np.abs(scores_of(smooth, "relevance") / scores_of(smooth, "gradient_x_input") - 1).max() > 0.1


def summed_words(model):
    ids = torch.tensor([number for number, _, _ in model.tokenize(TEXT)])
    return model.network.embedding.weight.detach()[ids]


@pytest.mark.parametrize("biases", (False, True))
def test_captums_lrp_on_a_relu_network(biases):
    model = model_of("perceptron", biases)
    layers = torch.nn.Sequential(*model.network.layers[:3], torch.nn.ReLU(), model.network.head)
    for layer in layers:
        layer.rule = EpsilonRule(epsilon=0.01)
    words = summed_words(model)
    total = words.sum(0, keepdim=True)
    expected = LRP(layers).attribute(total.clone().requires_grad_(), target=LABEL)
    scores = scores_of(model, "relevance", policy="epsilon", epsilon=0.01)
    assert_close(scores, (words / total * expected).sum(-1), 1e-4)


def test_captums_deep_lift_on_a_relu_network():
    model = model_of("perceptron", biases=True)
    layers = torch.nn.Sequential(*model.network.layers[:3], torch.nn.ReLU(), model.network.head)
    words = summed_words(model)
    total = words.sum(0, keepdim=True)
    expected = DeepLift(layers).attribute(total, torch.zeros_like(total), target=LABEL)
    scores = scores_of(model, "deep_lift_shap", baselines=("zero",))
    assert_close(scores, (words / total * expected).sum(-1))


def test_deep_lift_is_complete_on_bert_where_captums_is_not():
    """Captum keeps the plain gradient at softmax, products and norms, and says nothing."""
    model = tiny_classifier("bert")
    model.network.double()
    inputs = dict(model.tokenizer(TEXT, return_tensors="pt"))
    words = model.network.get_input_embeddings()(inputs["input_ids"]).detach()
    blank = words.clone()
    blank[:, 1:-1] = 0

    class FromEmbeddings(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = model.network

        def forward(self, embeddings):
            mask = inputs["attention_mask"].expand(len(embeddings), -1)
            return self.network(inputs_embeds=embeddings, attention_mask=mask).logits

    network = FromEmbeddings()
    with torch.no_grad():
        rise = float((network(words) - network(blank))[0, LABEL])
    captums = float(DeepLift(network).attribute(words, blank, target=LABEL).sum())
    explanation = ask(model, [TEXT], ("deep_lift_shap", {"baselines": ("zero",)}), target=Target(LABEL))[0]
    assert explanation.scores.sum() == pytest.approx(rise, rel=1e-5)
    assert explanation.diagnostics["completeness_gap"] < 1e-9
    assert abs(captums - rise) > 0.05 * abs(rise)


def test_deep_lift_on_two_factors_is_the_shapley_value():
    """The midpoint of a product of two is what two players of a product get; here gate and signal of one number."""

    class Product(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(97, 1)

        def forward(self, ids, attended):
            states = self.embedding(ids)[..., 0]
            product = states[:, 0] * states[:, 1]
            return torch.stack([product, product, product], 1)

    network = Product().double()
    model = as_model(network)
    ids = [number for number, _, _ in model.tokenize("two words")]
    first, second = network.embedding.weight.detach()[ids, 0].tolist()
    blank = float(network.embedding.weight.detach()[0, 0])
    alone = (first - blank) * blank, (second - blank) * blank  # each as the first to come
    after = (first - blank) * second, (second - blank) * first
    expected = [(one + other) / 2 for one, other in zip(alone, after, strict=True)]
    explanation = ask(model, ["two words"], ("deep_lift_shap", {"baselines": ("pad",)}), target=Target(0))[0]
    np.testing.assert_allclose(explanation.scores, expected, rtol=1e-6)


def test_with_the_derivative_of_activations_relevance_is_gradient_x_input():
    """cp(activation="gradient") keeps GELU's derivative, where the default passes relevance on; nothing else is changed
    here.
    """
    smooth = as_model(Perceptron(torch.nn.GELU()).double())
    [plain] = ask(smooth, ["fine and dull"], "gradient_x_input")
    [with_derivative] = ask(smooth, ["fine and dull"], ("relevance", {"policy_settings": {"activation": "gradient"}}))
    [passed_on] = ask(smooth, ["fine and dull"], "relevance")
    np.testing.assert_allclose(with_derivative.scores, plain.scores, rtol=1e-5)
    assert abs(passed_on.scores - plain.scores).max() > 1e-3
    with pytest.raises(BadSetting, match="activation"):
        ask(smooth, ["fine"], ("relevance", {"policy_settings": {"activation": "none"}}))
