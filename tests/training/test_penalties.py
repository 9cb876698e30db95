"""The penalties that sharpen span weights: the signs and bounds that the paper should have had; a step on them
sharpens.
"""

import math

import pytest
import torch

from pellucid.base.kinds import penalties
from pellucid.run.trace import SpanTrace
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_composed

SIZES = (1, 2, 5, 9)


def trace(sharpness, requires_grad=False):
    """Texts of several sizes, padded together: span scores drawn at random, times the sharpness."""
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(len(SIZES), max(SIZES), max(SIZES), generator=generator, dtype=torch.float64) * sharpness
    scores.requires_grad_(requires_grad)
    legal = torch.stack([torch.ones(max(SIZES), max(SIZES)).triu() for _ in SIZES]).bool()
    for number, size in enumerate(SIZES):
        legal[number, :, size:] = False
    masked = scores.masked_fill(~legal, float("-inf"))
    return scores, SpanTrace(masked, masked.flatten(1).logsumexp(1), SIZES, "word", None)


def spans_of(size):
    return size * (size + 1) // 2


SHARPNESS = (0.0, 0.1, 1.0, 5.0, 50.0)


@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_weights_are_a_distribution_over_the_legal_spans(sharpness):
    _, spans = trace(sharpness)
    assert spans.weights.sum((1, 2)).tolist() == pytest.approx([1.0] * len(SIZES))
    assert ((spans.weights > 0) <= ~spans.scores.isinf()).all()


BOUNDS = {
    "concentration": lambda count: (-1.0, -1 / count),
    "entropy": lambda count: (0.0, math.log(count)),
    "divergence": lambda count: (-math.log(count), 0.0),
}


@pytest.mark.parametrize("sharpness", SHARPNESS)
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(name, sharpness):
    values = penalties.get(name).make(trace(sharpness)[1])
    assert values.shape == (len(SIZES),)
    for value, size in zip(values.tolist(), SIZES, strict=True):
        lowest, highest = BOUNDS[name](spans_of(size))
        assert lowest - 1e-9 <= value <= highest + 1e-9


@pytest.mark.parametrize("name", BOUNDS)
def test_the_bounds_are_reached_by_uniform_and_by_single_spans(name):
    uniform, single = (penalties.get(name).make(trace(sharpness)[1]).tolist() for sharpness in (0.0, 1e4))
    for size, flat, sharp in zip(SIZES, uniform, single, strict=True):
        lowest, highest = BOUNDS[name](spans_of(size))
        assert flat == pytest.approx(highest, abs=1e-9)
        assert sharp == pytest.approx(lowest, abs=1e-9)


@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_divergence_is_log_of_spans_less_entropy(sharpness):
    _, spans = trace(sharpness)
    literal = []
    for number in range(len(SIZES)):
        weights = spans.weights[number][spans.weights[number] > 0]
        uniform = 1 / spans_of(SIZES[number])
        literal.append(float((weights * (weights / uniform).log()).sum()))
    assert (-penalties.get("divergence").make(spans)).tolist() == pytest.approx(literal, abs=1e-9)
    entropy = penalties.get("entropy").make(spans).tolist()
    expected = [math.log(spans_of(size)) - gap for size, gap in zip(SIZES, literal, strict=True)]
    assert entropy == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", BOUNDS)
def test_gradients_are_numbers_and_none_reaches_what_is_no_span(name):
    scores, spans = trace(1.0, requires_grad=True)
    penalties.get(name).make(spans).sum().backward()
    assert scores.grad.isfinite().all()
    assert not scores.grad[spans.scores.isinf()].any()
    assert scores.grad.any()


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(
    ("pooler", "settings"),
    (("span", {}), ("span", {"unit": "piece", "max_width": 3}), ("additive", {}), ("dot", {"unit": "piece"})),
    ids=str,
)
def test_a_step_on_the_penalty_alone_sharpens(name, pooler, settings, texts):
    classifier = tiny_composed(pooler, **settings)
    classifier.network.double()  # nearly uniform weights change by little in a step
    rows = classifier.encode(as_examples(texts)).rows
    optimizer = torch.optim.SGD(classifier.network.pooler.parameters(), lr=1e-3)
    before = classifier.network(**classifier.place(rows)).weights
    penalties.get(name).make(before).mean().backward()
    optimizer.step()
    with torch.no_grad():
        after = classifier.network(**classifier.place(rows)).weights
    assert after.concentration.mean() > before.concentration.mean()
    assert after.entropy.mean() < before.entropy.mean()
