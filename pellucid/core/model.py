"""What every explainable model offers, and what one forward pass of it leaves behind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pellucid.core.batch import Batch, Row
from pellucid.core.example import Example
from pellucid.core.target import Problem
from pellucid.core.units import Spans, Units


@dataclass(frozen=True)
class Trace:
    """What a forward pass produced; rows are padded on the right to the longest.

    logits: [example class]. words: [example unit width], the word embeddings. hidden: for l = 0..L
    [example unit width], l = 0 the first block's input. attention: for each block [example head query key].
    spans: what a span-attention model says of itself, else None.
    """

    logits: Tensor
    words: Tensor
    hidden: tuple[Tensor, ...] = ()
    attention: tuple[Tensor, ...] = ()
    spans: "SpanTrace | None" = None


@dataclass(frozen=True)
class SpanTrace:
    """A span-attention model's own weights.

    scores: [example part part], -inf outside the legal spans; log_normaliser: [example]; parts: number of
    parts in each example. width: the most parts a span may have (None: no limit); unit: what a part is.
    """

    scores: Tensor
    log_normaliser: Tensor
    parts: tuple[int, ...]
    unit: str
    width: int | None

    @property
    def weights(self) -> Tensor:
        """[example part part]: alpha, zero outside the legal spans; each example's sum is 1."""
        return (self.scores - self.log_normaliser[:, None, None]).exp()

    @property
    def concentration(self) -> Tensor:
        """[example]: the sum of alpha squared, from 1/spans (uniform) to 1 (one span)."""
        return self.weights.square().sum((1, 2))

    @property
    def entropy(self) -> Tensor:
        """[example]: -sum alpha log alpha in nats, computed as log normaliser - sum alpha * score."""
        finite = self.scores.masked_fill(self.scores.isinf(), 0.0)  # 0 * -inf would poison the gradient
        return self.log_normaliser - (self.weights * finite).sum((1, 2))


@dataclass(frozen=True)
class Want:
    """What a forward pass is asked to leave behind besides logits: only what is asked for is computed."""

    gradients: bool = False
    hidden: bool = False
    attention: bool = False


NOTHING = Want()


class Model(Protocol):
    """One interface for Hugging Face and composed models."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes' names."""
        ...

    @property
    def problem(self) -> Problem:
        """How logits become probabilities."""
        ...

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """Of "gradient", "attention" and "span_weights", what it can; none for a function of texts."""
        ...

    @property
    def hash(self) -> str:
        """A digest of weights, configuration and tokenizer."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        ...

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; a row longer than the model reads gets windows."""
        ...

    def trace(self, rows: Sequence[Row], want: Want = NOTHING, embeddings: Tensor | None = None) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings.

        Rows with gaps leave logits behind and nothing else.
        """
        ...

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: what the user's own call of the model gives for the single, unpadded text."""
        ...

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: likewise for windows of a longer text, each given by the numbers of its pieces."""
        ...

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the tokens that baselines are made of: pad and mask."""
        ...

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        ...


@dataclass(frozen=True)
class Scores:
    """What an attribution method returns: one tensor an example, cropped to its units.

    values: [*rows, unit] each. rows: the kinds and labels of the leading axes, outermost first. units: what is
    scored in each example (None: its pieces). diagnostics, caveats: one an example (empty: none).
    """

    values: tuple[Tensor, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()
    units: tuple[Units | Spans, ...] | None = None
    diagnostics: tuple[dict[str, float], ...] = ()
    caveats: tuple[tuple[str, ...], ...] = ()
