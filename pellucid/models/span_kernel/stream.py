"""What a route of the span kernel offers, and what its backward pass starts from."""

from typing import NamedTuple, Protocol

from torch import Tensor


class Arriving(NamedTuple):
    """What the backward pass starts from. The weight of a span is exp(log_weights - log_normaliser)."""

    log_weights: Tensor  # [batch, unit, unit], read at legal spans only
    log_normaliser: Tensor  # [batch]
    grad_pooled: Tensor  # [batch, width]
    scoring: "Scoring | None"  # None where the weights are constants


class Scoring(NamedTuple):
    """The way through the scores: the gradient at one is known + weight * (grad_pooled . t + shift)."""

    u: Tensor  # [width]
    known: Tensor  # [batch, unit, unit], read at legal spans only
    shift: Tensor  # [batch]


class Stream(Protocol):
    """One batch's spans, ready to be streamed by one route.

    All tensors of one call have one number type; a, c, p: [batch, unit, width]. Pooled vectors and log-normalisers are in
    float64: in float32 the log-normaliser's last digit would be the sixth of every weight.
    """

    def attend(self, a: Tensor, c: Tensor, p: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(scores, minus infinity outside the legal spans; pooled vectors; log-normalisers)."""

    def average(self, a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor) -> Tensor:
        """[batch, width]: the sum of span vectors under these weights."""

    def gradients(self, a: Tensor, c: Tensor, p: Tensor, arriving: Arriving) -> tuple[Tensor, ...]:
        """The gradients of a, c, p, and of u where the weights came from scores."""
