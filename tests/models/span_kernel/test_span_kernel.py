"""Streamed span attention equals the paper's formula, has its gradients, and never holds all span vectors."""

import weakref

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.utils._python_dispatch import TorchDispatchMode

from pellucid.base.errors import BadInput, BadSetting
from pellucid.models.span_kernel import packs as span_packs
from pellucid.models.span_kernel.kernel import (
    span_attention_scores,
    span_average,
)
from pellucid.models.span_kernel.packs import latest_starts, legal_spans
from tests.reference.span_attention import span_attention, spans_of, uniform_average

# Special tokens around two segments, a full row, a segment that returns after a gap, a single unit.
SEGMENTS = torch.tensor(
    [
        [-1, 0, 0, 0, -1, 1, 1, -1, -1],
        [2, 2, 2, 2, 2, 2, 2, 2, 2],
        [0, 0, -1, 0, 1, 0, 5, -1, -1],
        [-1, -1, -1, 3, -1, -1, -1, -1, -1],
    ]
)
# No text's last unit, a full row's first and last, one text of two, none at all.
CONTENT = torch.tensor(
    [
        [0, 1, 0, 0, 0, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
).bool()


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["whole", "tiny", "thin"])
def tiles(request, monkeypatch):
    """Tiny tiles cut strips into columns and share nothing; thin ones are blank where a text has ended."""
    if request.param == "tiny":
        monkeypatch.setitem(span_packs.TILE_ELEMENTS, "cpu", (96, 96))
    if request.param == "thin":
        monkeypatch.setattr(span_packs, "FEWEST_ROWS", 1)
        monkeypatch.setattr(span_packs, "MOST_ROWS", 1)
    span_packs._tiles_of.cache_clear()
    yield
    span_packs._tiles_of.cache_clear()


def random(*shape: int, seed: int = 0, dtype=torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def folded_inputs(segments: Tensor, width: int, dtype=torch.float64) -> list[Tensor]:
    """a, c, p and u, ready for gradients."""
    inputs = [random(*segments.shape, width, seed=seed, dtype=dtype) for seed in range(3)]
    return [value.requires_grad_() for value in (*inputs, random(width, seed=3, dtype=dtype))]


def paper_inputs(width: int, dtype) -> list[Tensor]:
    """h, W1 to W4, b1 to b4 and u, ready for gradients."""
    h = random(*SEGMENTS.shape, width, dtype=dtype)
    matrices = [random(width, width, seed=seed, dtype=dtype) / width**0.5 for seed in range(1, 5)]
    biases = [random(width, seed=seed, dtype=dtype) for seed in range(5, 9)]
    return [value.requires_grad_() for value in (h, *matrices, *biases, random(width, seed=9, dtype=dtype))]


def fold(h: Tensor, *layers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    W1, W2, W3, W4, b1, b2, _, b4 = layers
    return linear(h, W1 + W3, b1), linear(h, W2 - W3, b2), linear(h, W4, b4)


def weights_of(scores: Tensor, log_normaliser: Tensor) -> Tensor:
    return (scores - log_normaliser[:, None, None]).exp()


def statistics(a, c, p, u, segments, max_width=None, route="auto", latest_start=None) -> tuple[Tensor, Tensor, Tensor]:
    """Pooled vector, sum of squared weights, entropy."""
    scores, pooled, log_normaliser = span_attention_scores(
        a, c, p, u, segments, max_width=max_width, latest_start=latest_start, route=route
    )
    weights = weights_of(scores, log_normaliser)
    entropy = log_normaliser - (weights * scores.masked_fill(scores.isinf(), 0)).sum((1, 2))
    return pooled, weights.square().sum((1, 2)), entropy


def materialised(a, c, p, u, segments, max_width=None) -> tuple[Tensor, Tensor, Tensor]:
    """The same three results as the kernel's, with every span vector held at once."""
    vectors = torch.tanh(a[:, :, None] + c[:, None] + p[:, :, None] * p[:, None])
    scores = (vectors @ u).masked_fill(~legal_spans(segments, max_width), -torch.inf)
    log_normaliser = scores.flatten(1).logsumexp(1)
    pooled = torch.einsum("bij,bijd->bd", weights_of(scores, log_normaliser), vectors)
    return scores, pooled, log_normaliser


def gradients(loss: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    # W3's bias takes no part: it is added and subtracted.
    return torch.autograd.grad(loss, inputs, materialize_grads=True)


def relative_error(value: Tensor, truth: Tensor) -> float:
    return ((value - truth).abs().max() / truth.abs().max()).item()


@pytest.mark.parametrize("max_width", [None, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_equals_the_formula_span_by_span(dtype, tolerance, max_width, tiles):
    compare_with_the_formula("tiles", dtype, tolerance, max_width)


@pytest.mark.parametrize("max_width", [None, 3])
def test_spans_without_content_are_left_out_of_the_formula(max_width, tiles):
    compare_with_the_formula("tiles", torch.float64, 1e-12, max_width, CONTENT)


def test_the_legal_spans_are_those_that_hold_a_unit_with_content():
    legal = legal_spans(SEGMENTS, 4, latest_starts(CONTENT))
    for example, own in enumerate(legal):
        expected = spans_of(SEGMENTS[example].tolist(), 4, CONTENT[example].tolist())
        assert [tuple(span) for span in own.nonzero().tolist()] == expected
    assert not legal[0, 2, 3] and legal[0, 1, 3]  # function words alone; with a content word before them
    assert legal[3, 3, 3]  # a text without any content word keeps its spans


def compare_with_the_formula(route, dtype, tolerance, max_width, content=None) -> None:
    inputs = paper_inputs(5, dtype)
    latest = None if content is None else latest_starts(content)
    known = [None] * 4 if content is None else content.tolist()
    h, matrices, biases, u = inputs[0], inputs[1:5], inputs[5:9], inputs[9]
    scores, pooled, log_normaliser = span_attention_scores(
        *fold(*inputs[:9]), u, SEGMENTS, max_width=max_width, latest_start=latest, route=route
    )
    _, concentration, entropy = statistics(*fold(*inputs[:9]), u, SEGMENTS, max_width, route, latest)
    loss = (pooled * random(5, seed=10, dtype=dtype)).sum() + (2 * concentration + entropy).sum()
    ours = [scores, pooled, log_normaliser, concentration, entropy, *gradients(loss, inputs)]

    literal = [span_attention(h[k], SEGMENTS[k].tolist(), matrices, biases, u, max_width, known[k]) for k in range(4)]
    expected_scores = torch.full_like(scores, -torch.inf)
    for example, result in enumerate(literal):
        for (i, j), score in result.scores.items():
            expected_scores[example, i, j] = score.detach()
    pooled, log_normaliser, concentration, entropy = (
        torch.stack([getattr(result, name) for result in literal])
        for name in ("pooled", "log_normaliser", "concentration", "entropy")
    )
    loss = (pooled * random(5, seed=10, dtype=dtype)).sum() + (2 * concentration + entropy).sum()
    theirs = [expected_scores, pooled, log_normaliser, concentration, entropy, *gradients(loss, inputs)]

    for value, truth in zip(ours, theirs, strict=True):
        torch.testing.assert_close(value, truth, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("max_width", [None, 2])
def test_gradients_equal_finite_differences(max_width):
    segments = torch.tensor([[-1, 0, 0, 0, -1, 1, 1], [4, 4, 4, 4, 4, -1, -1]])
    inputs = folded_inputs(segments, 3)
    assert torch.autograd.gradcheck(lambda *args: statistics(*args, segments, max_width), inputs)
    # Log-normaliser and scores by themselves.
    legal = legal_spans(segments, max_width)

    def log_normaliser_and_scores(*args):
        scores, _, log_normaliser = span_attention_scores(*args, segments, max_width=max_width)
        return log_normaliser, scores[legal]

    assert torch.autograd.gradcheck(log_normaliser_and_scores, inputs)


@pytest.mark.parametrize("scale", [1, 100], ids=["usual scores", "large scores"])
def test_weights_sum_to_one_and_concentration_stays_in_its_bounds(scale):
    a, c, p, u = folded_inputs(SEGMENTS, 6)
    scores, _, log_normaliser = span_attention_scores(a, c, p, u * scale, SEGMENTS)
    weights = weights_of(scores, log_normaliser)
    n_spans = torch.tensor([len(spans_of(row)) for row in SEGMENTS.tolist()])
    torch.testing.assert_close(weights.sum((1, 2)), torch.ones(4, dtype=weights.dtype))
    assert (weights > 0).sum((1, 2)).le(n_spans).all()
    concentration = weights.square().sum((1, 2))
    assert (concentration >= 1 / n_spans - 1e-12).all()
    assert (concentration <= 1 + 1e-12).all()


def test_how_the_pooled_vector_follows_one_span():
    """d pooled / d h_ij = alpha_ij (I + (h_ij - pooled) u^T): equation 5 with the sum it drops."""
    segments = torch.zeros(1, 4, dtype=torch.long)
    a, c, p, u = (value.detach() for value in folded_inputs(segments, 3))

    def pooled(a: Tensor) -> Tensor:  # spans of one unit: a_i moves the span (i, i) and no other
        return span_attention_scores(a, c, p, u, segments, max_width=1)[1][0]

    scores, mean, log_normaliser = span_attention_scores(a, c, p, u, segments, max_width=1)
    weights = weights_of(scores, log_normaliser)
    for unit in range(4):
        vector = torch.tanh(a + c + p * p)[0, unit]
        by_vector = weights[0, unit, unit] * (torch.eye(3) + torch.outer(vector - mean[0], u))
        expected = by_vector * (1 - vector**2)  # the tanh between a_i and h_ii
        step = 1e-6 * torch.eye(3, dtype=a.dtype)
        for k in range(3):
            shifted = torch.zeros_like(a)
            shifted[0, unit] = step[k]
            gradient = (pooled(a + shifted) - pooled(a - shifted)) / 2e-6
            torch.testing.assert_close(gradient, expected[:, k], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_padded_batch_equals_its_members_alone(dtype, tiles):
    lengths = [1, 30, 7, 8, 2, 29, 28, 8, 15, 0, 27, 3]
    segments = torch.where(torch.arange(30) < torch.tensor(lengths)[:, None], 0, -1)
    a, c, p, u = folded_inputs(segments, 16, dtype)
    padding = segments[..., None] < 0
    inputs = [value.detach().masked_fill(padding, torch.nan) for value in (a, c, p)]  # must not be read
    together = differentiated(*inputs, u.detach(), segments)
    for k, length in enumerate(lengths):
        if length == 0:
            continue
        alone = differentiated(*(x[k : k + 1, :length] for x in inputs), u.detach(), segments[k : k + 1, :length])
        for name, value in alone.items():
            if name in ("scores", "a", "c", "p"):
                whole = together[name][k : k + 1, :length]
                whole = whole[..., :length] if name == "scores" else whole
            else:
                whole = together[name][k : k + 1]
            torch.testing.assert_close(whole, value, msg=lambda text, name=name: f"{name}: {text}")
    assert all(together[name][segments < 0].eq(0).all() for name in "acp")


def test_a_spoilt_example_does_not_spoil_the_others():
    segments = torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 0, -1], [0, 0, 0, 0, 0]])
    a, c, p, u = (value.detach() for value in folded_inputs(segments, 6))
    clean = differentiated(a, c, p, u, segments)
    for example in range(3):
        spoilt = a.clone()
        spoilt[example, 0] = torch.nan
        others = [k for k in range(3) if k != example]
        for name, value in differentiated(spoilt, c, p, u, segments).items():
            assert value[others].equal(clean[name][others]), name


def differentiated(a, c, p, u, segments) -> dict[str, Tensor]:
    a, c, p = (value.clone().requires_grad_() for value in (a, c, p))
    scores, pooled, log_normaliser = span_attention_scores(a, c, p, u, segments)
    weights = weights_of(scores, log_normaliser.clamp(min=-1e9))
    loss = pooled.square().sum() + weights.square().sum()
    results = {"scores": scores, "pooled": pooled, "log_normaliser": log_normaliser}
    return results | dict(zip("acp", gradients(loss, [a, c, p]), strict=True))


def test_the_order_of_the_batch_changes_nothing():
    a, c, p, u = (value.detach() for value in folded_inputs(SEGMENTS, 6))
    order = torch.tensor([2, 0, 3, 1])
    straight = differentiated(a, c, p, u, SEGMENTS)
    mixed = differentiated(a[order], c[order], p[order], u, SEGMENTS[order])
    for name, value in straight.items():
        torch.testing.assert_close(mixed[name], value[order])


def test_one_step_along_its_gradient_sharpens_the_weights():
    inputs = folded_inputs(SEGMENTS[:3], 6)
    before = statistics(*inputs, SEGMENTS[:3])[1]
    by_inputs = gradients(-before.sum(), inputs)
    after = statistics(*(x - 0.01 * gradient for x, gradient in zip(inputs, by_inputs, strict=True)), SEGMENTS[:3])[1]
    assert (after > before).all()


def test_one_unit_is_its_own_span_and_none_gives_zero():
    segments = torch.tensor([[0, -1, -1], [-1, -1, -1]])
    inputs = folded_inputs(segments, 4)
    scores, pooled, log_normaliser = span_attention_scores(*inputs, segments)
    a, c, p, u = inputs
    torch.testing.assert_close(pooled[0], torch.tanh(a + c + p * p)[0, 0])
    torch.testing.assert_close(log_normaliser[0], u @ pooled[0])
    assert pooled[1].eq(0).all()
    assert log_normaliser[1] == -torch.inf
    assert scores[1].eq(-torch.inf).all()
    # Gradients that are no numbers at spans that do not exist must not spread.
    loss = pooled.sum() + scores.flatten(1).softmax(1).square().sum()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, inputs))


@pytest.mark.parametrize("shape", [(2, 3), (2, 0), (0, 3)])
def test_a_batch_without_units(shape):
    segments = torch.full(shape, -1)
    inputs = folded_inputs(segments, 4)
    _, pooled, log_normaliser = span_attention_scores(*inputs, segments)
    average = span_average(*inputs[:3], torch.zeros(*shape, shape[1]), segments)
    assert pooled.eq(0).all()
    assert average.eq(0).all()
    assert log_normaliser.eq(-torch.inf).all()
    assert all(gradient.eq(0).all() for gradient in torch.autograd.grad(pooled.sum() + average.sum(), inputs))


class Allocations(TorchDispatchMode):
    """The largest tensor, and the most numbers alive at once, among what operations returned."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.alive = self.peak = 0
        self.users: dict[int, int] = {}
        self.operations: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.operations.add(func.name())
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, Tensor):
                self._saw(value)
        return result

    def _saw(self, value: Tensor) -> None:
        storage = value.untyped_storage()
        place, size = storage.data_ptr(), storage.nbytes() // value.element_size()
        self.largest = max(self.largest, value.numel())
        self.users[place] = self.users.get(place, 0) + 1
        self.alive += size if self.users[place] == 1 else 0
        self.peak = max(self.peak, self.alive)
        weakref.finalize(value, self._lost, place, size)

    def _lost(self, place: int, size: int) -> None:
        self.users[place] -= 1
        self.alive -= size if self.users[place] == 0 else 0


@pytest.mark.parametrize("layer", ["attention", "average"])
def test_no_tensor_holds_all_span_vectors(layer):
    segments = torch.zeros(1, 256, dtype=torch.long)
    inputs = folded_inputs(segments, 384, torch.float32)
    with Allocations() as seen:
        if layer == "attention":
            scores, pooled, log_normaliser = span_attention_scores(*inputs, segments, route="tiles")
            (pooled.sum() + weights_of(scores, log_normaliser).square().sum()).backward()
        else:
            span_average(*inputs[:3], torch.zeros(1, 256, 256), segments, route="tiles").sum().backward()
    assert "aten::tanh_backward.grad_input" in seen.operations  # the backward pass was watched too
    span_vectors = 256 * 257 // 2 * 384
    tile = span_packs.TILE_ELEMENTS["cpu"][1]
    assert seen.largest <= tile
    # Two tiles; a, c, p thrice (gradients, those of a pack, and its doubled copies); some squares of scores.
    assert seen.peak <= 2 * tile + 9 * 256 * 384 + 16 * 256 * 256
    assert seen.peak < span_vectors / 4


@pytest.mark.parametrize("route", ["tiles", "numba"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_float32_is_accurate_to_a_few_units_in_the_last_place(seed, route):
    """Inputs as a fresh layer gives them, but scores four times as spread."""
    width, segments = 384, torch.zeros(1, 128, dtype=torch.long)
    spread = width**-0.5 / 3**0.5  # of a fresh layer's weights
    h = random(1, 128, width, seed=seed)
    W1, W2, W3, W4 = (random(width, width, seed=seed + k) * spread for k in range(3, 7))
    u, direction = random(width, seed=seed + 7) * 4 * spread, random(width, seed=seed + 8).float()
    inputs = [value.float() for value in (h @ (W1 + W3), h @ (W2 - W3), h @ W4, u)]

    def results(layer, dtype) -> list[Tensor]:
        values = [value.to(dtype).requires_grad_() for value in inputs]
        scores, pooled, log_normaliser = layer(values, dtype)
        weights = weights_of(scores, log_normaliser)
        entropy = log_normaliser - (weights * scores.masked_fill(scores.isinf(), 0)).sum((1, 2))
        loss = (pooled * direction).sum() + weights.square().sum() + 0.3 * entropy.sum()
        return [pooled, weights, *torch.autograd.grad(loss, values)]

    def streamed(values, dtype):
        possible = "tiles" if dtype == torch.float64 else route
        return span_attention_scores(*values, segments, route=possible)

    if route != "tiles":
        pytest.importorskip(route)
    truth = results(lambda values, _: materialised(*values, segments), torch.float64)
    for dtype, limit in ((torch.float64, 1e-13), (torch.float32, 1.5e-6)):
        ours = results(streamed, dtype)
        errors = [relative_error(value, true) for value, true in zip(ours, truth, strict=True)]
        assert max(errors) <= limit, errors


@pytest.mark.parametrize("max_width", [None, 3])
def test_uniform_weights_give_the_average(max_width, tiles):
    inputs = paper_inputs(5, torch.float64)
    legal = legal_spans(SEGMENTS, max_width)
    log_weights = -legal.sum((1, 2), keepdim=True).double().log().expand(legal.shape)  # also at illegal spans
    ours = span_average(*fold(*inputs[:9]), log_weights, SEGMENTS, max_width=max_width)
    rows = zip(inputs[0], SEGMENTS.tolist(), strict=True)
    theirs = torch.stack([uniform_average(h, row, inputs[1:5], inputs[5:9], max_width) for h, row in rows])
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("max_width", [None, 2])
def test_gradients_of_the_average_equal_finite_differences(max_width):
    segments = torch.tensor([[-1, 0, 0, 0, -1, 1, 1], [4, 4, 4, 4, 4, -1, -1]])
    inputs = folded_inputs(segments, 3)[:3]
    log_weights = random(2, 7, 7)
    assert torch.autograd.gradcheck(
        lambda *args: span_average(*args, log_weights, segments, max_width=max_width), inputs
    )


def test_weights_of_an_average_are_not_normalised():
    scores, pooled, log_normaliser = span_attention_scores(*(inputs := folded_inputs(SEGMENTS, 6)), SEGMENTS)
    log_weights = scores - log_normaliser[:, None, None]
    torch.testing.assert_close(span_average(*inputs[:3], log_weights, SEGMENTS), pooled)
    torch.testing.assert_close(span_average(*inputs[:3], log_weights + 2.0, SEGMENTS), pooled * torch.e**2)


@pytest.mark.parametrize("max_width", [None, 1, 3])
def test_legal_spans(max_width):
    legal = legal_spans(SEGMENTS, max_width)
    expected = [spans_of(row, max_width) for row in SEGMENTS.tolist()]
    assert [[tuple(span) for span in row.nonzero().tolist()] for row in legal] == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(dtype):
    inputs = [value.detach().to(dtype).requires_grad_() for value in folded_inputs(SEGMENTS, 6)]
    scores, pooled, log_normaliser = span_attention_scores(*inputs, SEGMENTS)
    exact = span_attention_scores(*(value.float() for value in inputs), SEGMENTS)
    assert scores.equal(exact[0])
    assert pooled.equal(exact[1].to(dtype))
    assert log_normaliser.equal(exact[2])
    assert all(gradient.dtype == dtype for gradient in torch.autograd.grad(pooled.sum(), inputs))


def test_autocast_does_not_reach_inside():
    inputs = folded_inputs(SEGMENTS, 6, torch.float32)
    plain = statistics(*inputs, SEGMENTS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = span_attention_scores(*inputs, SEGMENTS)[1]
        ours = torch.autograd.grad(cast.square().sum(), inputs)
    assert cast.equal(plain[0])
    expected = torch.autograd.grad(plain[0].square().sum(), inputs)
    assert all(x.equal(y) for x, y in zip(ours, expected, strict=True))


def test_errors_say_what_came():
    a, c, p, u = folded_inputs(SEGMENTS, 6)
    with pytest.raises(BadInput, match=r"one shape .* Got \(4, 9, 6\), \(4, 8, 6\), \(4, 9, 6\)"):
        span_attention_scores(a, c[:, 1:], p, u, SEGMENTS)
    with pytest.raises(BadInput, match=r"u must have shape \(width,\)=\(6,\). Got \(5,\)"):
        span_attention_scores(a, c, p, u[1:], SEGMENTS)
    with pytest.raises(BadInput, match=r"segments must have shape \(batch, unit\)=\(4, 9\). Got \(4, 8\)"):
        span_attention_scores(a, c, p, u, SEGMENTS[:, 1:])
    with pytest.raises(BadInput, match="whole numbers"):
        span_attention_scores(a, c, p, u, SEGMENTS.float())
    with pytest.raises(BadInput, match="log_weights must have shape"):
        span_average(a, c, p, torch.zeros(4, 9), SEGMENTS)
    with pytest.raises(BadSetting, match="max_width=0"):
        span_attention_scores(a, c, p, u, SEGMENTS, max_width=0)
