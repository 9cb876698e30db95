"""The whole layer, ours and the formulation that holds every span, from the same unit vectors and projections.

"literal" follows equation 6 of Sun et al. (2020) as published: it gathers six tensors of spans x width and holds
them, as their code does. Every other name is a route of ours.
"""

import torch
from torch import Tensor
from torch.nn.functional import linear

from pellucid.models.span_kernel.kernel import span_attention_scores

Shape = tuple[int, int, int]  # width, batch, units


def layer(route: str, hidden: Tensor, w: list[Tensor], b: list[Tensor], u: Tensor) -> tuple[Tensor, Tensor]:
    """Pooled vectors [batch, width] and the sum of squared weights [batch]."""
    return _literal(hidden, w, b, u) if route == "literal" else _ours(route, hidden, w, b, u)


def _ours(route: str, hidden: Tensor, w: list[Tensor], b: list[Tensor], u: Tensor) -> tuple[Tensor, Tensor]:
    segments = torch.zeros(hidden.shape[:2], dtype=torch.long, device=hidden.device)
    a = linear(hidden, w[0] + w[2], b[0])
    c = linear(hidden, w[1] - w[2], b[1])
    p = linear(hidden, w[3], b[3])
    scores, pooled, _ = span_attention_scores(a, c, p, u, segments, route=route)
    # As the literal side does: less than float32's log-normaliser, weights would share the rounding of that one number.
    return pooled, scores.flatten(1).softmax(1).square().sum(1)


def _literal(hidden: Tensor, w: list[Tensor], b: list[Tensor], u: Tensor) -> tuple[Tensor, Tensor]:
    i, j = torch.triu_indices(hidden.shape[1], hidden.shape[1], device=hidden.device)
    h1, h2, h3, h4 = (linear(hidden, weight, bias) for weight, bias in zip(w, b, strict=True))
    start1, end2, start3, end3, start4, end4 = h1[:, i], h2[:, j], h3[:, i], h3[:, j], h4[:, i], h4[:, j]
    spans = torch.tanh(start1 + end2 + (start3 - end3) + start4 * end4)
    weights = (spans @ u).softmax(1)
    return (weights[:, :, None] * spans).sum(1), weights.square().sum(1)


def step(route: str, inputs: tuple) -> list[Tensor]:
    """Forward, a loss that reads both results, backward to the unit vectors and all weights."""
    hidden, w, b, u = inputs
    pooled, concentration = layer(route, *inputs)
    loss = pooled.square().sum() - concentration.sum()
    gradients = torch.autograd.grad(loss, [hidden, *w, *b, u], allow_unused=True)
    return [pooled, concentration, *(gradient for gradient in gradients if gradient is not None)]


def inputs_of(shape: Shape, device: str = "cpu", dtype: torch.dtype = torch.float32, spread: float = 1) -> tuple:
    """Unit vectors, four matrices, four biases, and the score vector, `spread` times as large as a layer starts."""
    width, batch, units = shape
    generator = torch.Generator().manual_seed(0)

    def ready(values: Tensor) -> Tensor:
        return values.to(device, dtype).requires_grad_()

    def uniform(*sizes: int, times: float = 1) -> Tensor:
        return ready((torch.rand(sizes, generator=generator) * 2 - 1) * times / width**0.5)

    hidden = ready(torch.randn(batch, units, width, generator=generator))
    matrices, biases = [uniform(width, width) for _ in range(4)], [uniform(width) for _ in range(4)]
    return hidden, matrices, biases, uniform(width, times=spread)
