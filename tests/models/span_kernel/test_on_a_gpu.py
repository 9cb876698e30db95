"""The routes of the span kernel on a GPU, where there is one, against float64 on the processor."""

import pytest
import torch

from pellucid.models.span_kernel.kernel import route_for, span_attention_scores
from pellucid.models.span_kernel.packs import latest_starts
from tests.models.span_kernel.test_span_kernel import relative_error
from tests.models.span_kernel.test_span_routes import inputs_of, results_of

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def moved(inputs):
    return [value.detach().cuda().requires_grad_() for value in inputs]


@pytest.mark.parametrize("route", ["triton", "tiles"])
@pytest.mark.parametrize(("max_width", "every"), [(None, 1), (4, 1), (None, 3)])
@pytest.mark.parametrize(("longest", "width"), [(35, 40), (130, 384)])
def test_equals_float64(route, max_width, every, longest, width):
    """Lengths and widths that no block divides, an example without spans, and two texts in one example."""
    lengths = torch.tensor([longest, longest // 2, 1, 0, longest - 1, 5])
    units = torch.arange(longest)
    latest = None if every == 1 else latest_starts((units % every == 1).expand(len(lengths), -1))
    segments = torch.where(units < lengths[:, None], units // 30, -1)
    inputs = inputs_of(segments, width)
    on_gpu = None if latest is None else latest.cuda()
    ours = results_of(moved(inputs), segments.cuda(), route, max_width, on_gpu)
    exact = [value.detach().double().requires_grad_() for value in inputs]
    truth = results_of(exact, segments, "tiles", max_width, latest)
    for value, true in zip(ours, truth, strict=True):
        value = value.cpu()
        assert (value.isinf() == true.isinf()).all()
        clean = [x.double().masked_fill(x.isinf(), 0.0) for x in (value, true)]
        assert relative_error(*clean) <= 1e-5  # 4.9e-6 was seen on an H100


@pytest.mark.parametrize("shape", [(2, 3), (2, 0), (0, 3)])
def test_a_batch_without_units(shape):
    segments = torch.full(shape, -1)
    inputs = moved(inputs_of(segments, 4))
    _, pooled, log_normaliser = span_attention_scores(*inputs, segments.cuda(), route="triton")
    assert pooled.eq(0).all()
    assert log_normaliser.eq(-torch.inf).all()
    assert all(gradient.eq(0).all() for gradient in torch.autograd.grad(pooled.sum(), inputs))


def test_two_runs_are_equal_to_the_bit():
    segments = torch.zeros(3, 70, dtype=torch.long)
    inputs = moved(inputs_of(segments, 48))
    first, second = (results_of(inputs, segments.cuda(), "triton") for _ in range(2))
    assert all(x.equal(y) for x, y in zip(first, second, strict=True))


def test_tensors_on_a_gpu_go_to_triton():
    assert route_for(torch.zeros(1, 40, 8, device="cuda")) == "triton"
