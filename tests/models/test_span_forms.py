"""Narrow span vectors, and the two forms of a span vector that are there for comparison."""

import copy

import pytest
import torch

from pellucid.base.errors import BadInput, BadSetting
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.models.poolers.span import SpanPooler
from tests.models.pieces import pieces_of
from tests.reference.span_attention import spans_of
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed

UNITS, WIDTH = 5, 6
MASK = torch.ones(2, UNITS, dtype=torch.long)
WORDS = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 3, -1]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, -1]])


def states(seed=0):
    return torch.randn(2, UNITS, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def pooler_of(**settings):
    torch.manual_seed(0)
    pooler = SpanPooler(WIDTH, score_start=1.0, **settings).double()
    for parameter in pooler.parameters():  # far from the start, where the forms are nearly alike
        torch.nn.init.normal_(parameter, std=0.5)
    return pooler


def literal(pooler, vector_of):
    """Scores and pooled vector of the first text, span by span."""
    vectors = {(i, j): vector_of(i, j) for i, j in spans_of(SEGMENTS[0].tolist(), pooler.max_width)}
    scores = {at: pooler.score.weight[0] @ vector for at, vector in vectors.items()}
    weights = torch.stack(list(scores.values())).softmax(0)
    return scores, sum(weight * vector for weight, vector in zip(weights, vectors.values(), strict=True))


def exact_vector(pooler, h):
    W1, W2, W3, W4 = (getattr(pooler, name) for name in ("start", "end", "difference", "product"))
    return lambda i, j: torch.tanh(W1(h[i]) + W2(h[j]) + W3(h[i]) - W3(h[j]) + W4(h[i] * h[j]))


def general_vector(pooler, h):
    F = pooler.feed_forward
    joined = torch.cat([F.left.weight, F.right.weight], 1)

    def vector(i, j):
        hidden = torch.nn.functional.gelu(joined @ torch.cat([h[i], h[j]]) + F.left.bias)
        return torch.tanh((h[i] + h[j]) / 2 + F.out(hidden))

    return vector


@pytest.mark.parametrize("max_width", [None, 2])
@pytest.mark.parametrize(("interaction", "vector"), [("exact", exact_vector), ("feed_forward", general_vector)])
def test_equals_the_formula_span_by_span(interaction, vector, max_width):
    pooler = pooler_of(interaction=interaction, max_width=max_width)
    pooled = pooler(states(), pieces_of(WORDS, SEGMENTS, MASK))
    scores, expected = literal(pooler, vector(pooler, states()[0]))
    torch.testing.assert_close(pooled.vector[0], expected)
    for (i, j), score in scores.items():
        torch.testing.assert_close(pooled.spans.scores[0, i, j], score)
    assert pooled.spans.scores.isfinite().sum() == pooled.spans.weights.gt(0).sum()


@pytest.mark.parametrize(
    "settings", [{"interaction": "exact"}, {"interaction": "feed_forward"}, {"span_width": 3}], ids=str
)
def test_gradients_equal_finite_differences(settings):
    pooler = pooler_of(**settings)

    def statistics(values):
        pooled = pooler(values, pieces_of(WORDS, SEGMENTS, MASK))
        return pooled.vector, pooled.spans.concentration, pooled.spans.entropy

    assert torch.autograd.gradcheck(statistics, states().requires_grad_())


def test_exact_and_factored_agree_on_diagonal_matrices():
    exact = pooler_of(interaction="exact")
    with torch.no_grad():
        exact.product.weight.copy_(torch.rand(WIDTH, dtype=torch.float64).diag())
        exact.product.bias.zero_()
    factored = copy.deepcopy(exact)
    factored.interaction = "factored"
    with torch.no_grad():
        factored.product.weight.sqrt_()
    ours, theirs = (pooler(states(), pieces_of(WORDS, SEGMENTS, MASK)).vector for pooler in (exact, factored))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("interaction", ["exact", "feed_forward"])
def test_uniform_weights_average(interaction):
    pooler = pooler_of(interaction=interaction, weights="uniform")
    vectors = {"exact": exact_vector, "feed_forward": general_vector}[interaction](pooler, states()[0])
    every = [vectors(i, j) for i, j in spans_of(SEGMENTS[0].tolist())]
    pooled = pooler(states(), pieces_of(WORDS, SEGMENTS, MASK))
    torch.testing.assert_close(pooled.vector[0], sum(every) / len(every))


def test_a_narrow_span_starts_at_the_mean_of_the_projected_ends():
    torch.manual_seed(0)
    pooler = SpanPooler(64, span_width=8)
    values = torch.randn(1, 2, 64)
    torch.testing.assert_close(pooler.narrow.weight @ pooler.narrow.weight.T, torch.eye(8), atol=1e-5, rtol=0)
    pooled = pooler(values, pieces_of(WORDS[:1, :2], torch.tensor([[0, -1]]), MASK[:1, :2])).vector
    expected = torch.tanh(pooler.narrow(values[0, 0]))
    assert pooled.shape == (1, 8)
    assert (pooled[0] - expected).norm() < 0.5 * expected.norm()


@pytest.mark.parametrize(
    "settings", [{"span_width": 4}, {"interaction": "exact"}, {"interaction": "feed_forward"}], ids=str
)
def test_models_of_every_form_explain_themselves_and_survive_a_folder(settings, tmp_path):
    texts = ["a fine film", "dull"]
    classifier = tiny_composed("span", **settings)
    explanations = ask(classifier, texts, "span_attention")
    relevance = ask(classifier, texts, "relevance")
    assert all(abs(explanation.scores.sum() - 1) < 1e-5 for explanation in explanations)
    assert all(len(explanation.scores) for explanation in relevance)
    plan = Plan("tiny", "span", settings, tuple(classifier.labels))
    save_composed(classifier.network, classifier.tokenizer, plan, tmp_path)
    again = ask(load_classifier(tmp_path), texts, "span_attention")
    assert all((x.scores == y.scores).all() for x, y in zip(explanations, again, strict=True))


def test_errors_say_what_came():
    with pytest.raises(BadSetting, match="interaction='cubic' is not possible"):
        SpanPooler(WIDTH, interaction="cubic")
    with pytest.raises(BadSetting, match="span_width=7 is more than the encoder's width; give 6 or less"):
        SpanPooler(WIDTH, span_width=7)
    with pytest.raises(BadSetting, match="span_width=0"):
        SpanPooler(WIDTH, span_width=0)
    long = torch.zeros(1, 129, dtype=torch.long)
    with pytest.raises(BadInput, match="at most 128 units a text"):
        SpanPooler(WIDTH, interaction="exact")(torch.zeros(1, 129, WIDTH), pieces_of(torch.arange(129)[None], long))
