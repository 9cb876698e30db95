"""Every route of the span kernel computes the same as the formula and as the others, and says what it cannot do."""

import os
import subprocess
import sys

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.models.span_kernel.kernel import (
    SHORT,
    route_for,
    span_attention_scores,
    span_average,
)
from pellucid.models.span_kernel.packs import latest_starts, legal_spans
from tests.models.span_kernel.test_span_kernel import (
    CONTENT,
    SEGMENTS,
    compare_with_the_formula,
    gradients,
    random,
    relative_error,
    weights_of,
)

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@pytest.fixture(params=["tiles", "numba", "triton"])
def route(request):
    if request.param == "triton" and not INTERPRETED:
        pytest.skip("see test_the_triton_route_in_its_interpreter and test_on_a_gpu")
    return request.param if request.param == "tiles" else pytest.importorskip(request.param).__name__


@pytest.mark.whole
@pytest.mark.skipif(INTERPRETED, reason="this is the interpreter")
def test_the_triton_route_in_its_interpreter():
    """Chosen before Triton is first imported, hence in a process of its own."""
    pytest.importorskip("triton")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", "triton"]
    done = subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def inputs_of(segments, width, dtype=torch.float32):
    inputs = [random(*segments.shape, width, seed=seed, dtype=dtype) for seed in range(3)]
    return [value.requires_grad_() for value in (*inputs, random(width, seed=3, dtype=dtype) / width**0.5)]


def results_of(inputs, segments, route, max_width=None, latest=None):
    """Everything a caller may read, and the gradients of a loss that reads all of it."""
    scores, pooled, log_normaliser = span_attention_scores(
        *inputs, segments, max_width=max_width, latest_start=latest, route=route
    )
    weights = weights_of(scores, log_normaliser.clamp(min=-1e9))
    fifth, sixth, seventh = (
        random(*shape, seed=seed, dtype=scores.dtype).to(scores.device)
        for seed, shape in ((5, scores.shape), (6, scores.shape), (7, inputs[3].shape))
    )
    log_weights = fifth - 4
    average = span_average(*inputs[:3], log_weights, segments, max_width=max_width, latest_start=latest, route=route)
    legal = legal_spans(segments, max_width, latest)
    loss = pooled.square().sum() + weights.square().sum() + (average * seventh).sum()
    # Gradients that are no rows in memory: of a transposed view, and of one number for all.
    loss = loss + (scores.mT * sixth).mT[legal].sum()
    loss = loss + log_normaliser[legal.any(2).any(1)].sum()
    finite = scores.masked_fill(~legal, 0.0)
    return [finite, pooled, log_normaliser, average, *gradients(loss, inputs)]


@pytest.mark.parametrize("max_width", [None, 3])
@pytest.mark.parametrize("content", [None, CONTENT], ids=["all", "with_content"])
def test_equals_the_formula(route, max_width, content):
    compare_with_the_formula(route, torch.float32, 2e-5, max_width, content)


@pytest.mark.parametrize(("max_width", "every"), [(None, 1), (4, 1), (None, 3)])
def test_equals_float64(route, max_width, every):
    """More units than one block of any route holds, a width that none divides, an example without spans."""
    lengths = torch.tensor([35, 0] if route == "triton" else [35, 20, 1, 0, 34, 5])
    units = torch.arange(35)
    latest = None if every == 1 else latest_starts((units % every == 1).expand(len(lengths), -1))
    segments = torch.where(units < lengths[:, None], units // 30, -1)
    inputs = inputs_of(segments, 40)
    ours = results_of(inputs, segments, route, max_width, latest)
    truth = results_of(
        [value.detach().double().requires_grad_() for value in inputs], segments, "tiles", max_width, latest
    )
    for value, true in zip(ours, truth, strict=True):
        same = value.isinf() == true.isinf()
        assert same.all()
        clean = [x.double().masked_fill(x.isinf(), 0.0) for x in (value, true)]
        assert relative_error(*clean) <= 4e-6  # values larger than a layer gives them


def test_what_is_no_number_stays_in_its_text(route):
    segments = torch.zeros(2, 5, dtype=torch.long)
    a, c, p, u = (value.detach() for value in inputs_of(segments, 16))
    clean = span_attention_scores(a, c, p, u, segments, route=route)[1]
    a[0, 2, 3] = torch.nan
    spoilt = span_attention_scores(a, c, p, u, segments, route=route)[1]
    assert spoilt[0].isnan().any()
    assert spoilt[1].equal(clean[1])


def test_large_values_do_not_overflow(route):
    segments = torch.zeros(1, 3, dtype=torch.long)
    *large, u = inputs_of(segments, 16)
    a, c, p = (1e4 * value for value in large)
    scores, pooled, log_normaliser = span_attention_scores(a, c, p, u, segments, route=route)
    assert log_normaliser.isfinite().all()
    torch.testing.assert_close(weights_of(scores, log_normaliser).sum(), torch.tensor(1.0))
    assert pooled.abs().max() <= 1 + 1e-6


@pytest.mark.parametrize("shape", [(2, 3), (2, 0), (0, 3)])
def test_a_batch_without_units(route, shape):
    segments = torch.full(shape, -1)
    inputs = inputs_of(segments, 4)
    _, pooled, log_normaliser = span_attention_scores(*inputs, segments, route=route)
    assert pooled.eq(0).all()
    assert log_normaliser.eq(-torch.inf).all()
    assert all(gradient.eq(0).all() for gradient in torch.autograd.grad(pooled.sum(), inputs))


def test_threads_change_no_bit():
    pytest.importorskip("numba")
    inputs, before = inputs_of(SEGMENTS, 24), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = results_of(inputs, SEGMENTS, "numba")
        torch.set_num_threads(3)
        together = results_of(inputs, SEGMENTS, "numba")
    finally:
        torch.set_num_threads(before)
    assert all(x.equal(y) for x, y in zip(alone, together, strict=True))


def test_the_route_follows_the_number_type():
    pytest.importorskip("numba")
    assert route_for(torch.zeros(1, SHORT + 1, 4)) == "numba"
    assert route_for(torch.zeros(1, SHORT + 1, 4, dtype=torch.float64)) == "tiles"
    assert route_for(torch.zeros(40, SHORT, 4)) == "tiles"  # numba is not even loaded for short texts


def test_errors_say_what_a_route_needs():
    inputs = inputs_of(SEGMENTS, 4, torch.float64)
    with pytest.raises(BadSetting, match=r"route='numba' computes in float32. Got torch.float64"):
        span_attention_scores(*inputs, SEGMENTS, route="numba")
    if not INTERPRETED:
        with pytest.raises(BadSetting, match=r"route='triton' needs tensors on cuda. Got cpu"):
            span_attention_scores(*(value.float() for value in inputs), SEGMENTS, route="triton")
    with pytest.raises(BadSetting, match="route='fast' is not possible"):
        span_attention_scores(*inputs, SEGMENTS, route="fast")


def around(value, units=12, width=32, seed=1):
    """a, c, p and u whose span vectors are tanh of numbers near a value."""
    a, c, p = (random(1, units, width, seed=seed + n, dtype=torch.float32) for n in range(3))
    u = random(width, seed=seed + 3, dtype=torch.float32)
    return [value / 2 + 0.2 * a, value / 2 + 0.2 * c, 0.1 * p, u]


@pytest.mark.parametrize("value", [0.0, 2.0, 6.0, 9.0, 12.0, -9.0])
def test_compiled_gradients_are_right_where_tanh_is_flat(value):
    """1 - tanh^2 is 4 exp(-2 |x|) there, which no difference of float32 numbers can tell."""
    pytest.importorskip("numba")
    segments = torch.zeros(1, 12, dtype=torch.long)

    def gradients_by(route, dtype):
        inputs = [x.to(dtype).requires_grad_() for x in around(value)]
        pooled = span_attention_scores(*inputs, segments, route=route)[1]
        return torch.autograd.grad(pooled.sum(), inputs[:3])

    for ours, true in zip(gradients_by("numba", torch.float32), gradients_by("tiles", torch.float64), strict=True):
        assert relative_error(ours.double(), true) <= 5e-6


def test_compiled_saturation_is_exact():
    pytest.importorskip("numba")
    segments = torch.zeros(1, 12, dtype=torch.long)
    inputs = [x.requires_grad_() for x in around(1000.0)]
    pooled = span_attention_scores(*inputs, segments, route="numba")[1]
    assert pooled.eq(1).all()
    assert all(gradient.abs().max() < 1e-30 for gradient in torch.autograd.grad(pooled.sum(), inputs[:3]))


def test_compiled_scores_of_wide_layers_lose_no_digit():
    """A weight errs as much as its score, so a long float32 sum would cost all gradients a digit."""
    pytest.importorskip("numba")
    width, segments = 4096, torch.zeros(1, 24, dtype=torch.long)
    a, c, p, u = around(1.0, 24, width)
    u = 0.01 * u.abs()
    ours = span_attention_scores(a, c, p, u, segments, route="numba")[0]
    true = span_attention_scores(*(x.double() for x in (a, c, p, u)), segments, route="tiles")[0]
    legal = legal_spans(segments)
    errors = (ours.double() - true)[legal].abs() / true[legal].abs()
    assert float(errors.max()) <= 1.6e-7
