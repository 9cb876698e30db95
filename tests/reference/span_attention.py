"""Span attention written out span by span, for one text: equations 2, 3, 4 and 6 of Sun et al. (2020).

"Self-Explaining Structures Improve NLP Models". The softmax over scores, the biases and the learnt factor of
the product are those of the released code.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

Span = tuple[int, int]


class Result(NamedTuple):
    scores: dict[Span, Tensor]
    weights: dict[Span, Tensor]
    pooled: Tensor
    log_normaliser: Tensor
    concentration: Tensor
    entropy: Tensor


def spans_of(
    segments: Sequence[int], max_width: int | None = None, content: Sequence[bool] | None = None
) -> list[Span]:
    """content: a span holds a unit with content, unless the text has none at all."""
    spans, every = [], content is None or not any(content)
    for i in range(len(segments)):
        for j in range(i, len(segments)):
            short_enough = max_width is None or j - i < max_width
            says = every or any(content[i : j + 1])
            if segments[i] >= 0 and segments[i] == segments[j] and short_enough and says:
                spans.append((i, j))
    return spans


def span_vectors(
    h: Tensor, spans: Sequence[Span], matrices: Sequence[Tensor], biases: Sequence[Tensor]
) -> dict[Span, Tensor]:
    """Equation 6, h: [unit width]; W3's bias is added to both of the subtracted vectors, as a layer would."""
    W1, W2, W3, W4 = matrices
    b1, b2, b3, b4 = biases
    vectors = {}
    for i, j in spans:
        difference = (W3 @ h[i] + b3) - (W3 @ h[j] + b3)
        product = (W4 @ h[i] + b4) * (W4 @ h[j] + b4)
        vectors[i, j] = torch.tanh(W1 @ h[i] + b1 + W2 @ h[j] + b2 + difference + product)
    return vectors


def span_attention(
    h: Tensor,
    segments: Sequence[int],
    matrices: Sequence[Tensor],
    biases: Sequence[Tensor],
    u: Tensor,
    max_width: int | None = None,
    content: Sequence[bool] | None = None,
) -> Result:
    vectors = span_vectors(h, spans_of(segments, max_width, content), matrices, biases)
    scores = {span: u @ vector for span, vector in vectors.items()}
    normaliser = sum(score.exp() for score in scores.values())
    weights = {span: score.exp() / normaliser for span, score in scores.items()}
    pooled = sum(weight * vectors[span] for span, weight in weights.items())
    concentration = sum(weight**2 for weight in weights.values())
    entropy = -sum(weight * weight.log() for weight in weights.values())
    return Result(scores, weights, pooled, normaliser.log(), concentration, entropy)


def uniform_average(
    h: Tensor,
    segments: Sequence[int],
    matrices: Sequence[Tensor],
    biases: Sequence[Tensor],
    max_width: int | None = None,
    content: Sequence[bool] | None = None,
) -> Tensor:
    """AvgSelf-Explaining: every span has weight one in the number of spans."""
    vectors = span_vectors(h, spans_of(segments, max_width, content), matrices, biases)
    return sum(vectors.values()) / math.fsum(1 for _ in vectors)


def softmax_over(scores: Sequence[float]) -> list[float]:
    """Shares in proportion to the exponentials of some numbers."""
    exponentials = [math.exp(score) for score in scores]
    return [value / sum(exponentials) for value in exponentials]
