"""Spans drawn by a model's own weights, and how likely each draw was: so the weights learn from what the drawn spans do.

Williams (1992), "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning": the gradient of an
expected cost is the expectation of (cost - baseline) x gradient of the log-probability of the draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.passes.batch import Batch, Row
from pellucid.core.passes.trace import SpanTrace
from pellucid.core.spans.read_alone import Pieces, only, without


@dataclass(frozen=True, eq=False)
class DrawnSpans:
    """Spans of some texts, some for each, with repetition.

    parts: for each text the set of parts that its spans cover. log_chance: [example], of the draw, with a graph.
    """

    parts: Sequence[frozenset[int]]
    log_chance: Tensor


def drawn_spans(trace: SpanTrace, points: Tensor) -> DrawnSpans:
    """Draw a span for each point by the weights. points: [example span], from 0 to below 1.

    Every text needs a span. The draw does not depend on padding: spans are counted row by row, and what is no span has no weight.
    """
    reached = trace.weights.detach().flatten(1).double().cpu().cumsum(1)
    numbers = torch.searchsorted(reached, points * reached[:, -1:], right=True)
    numbers.clamp_(max=reached.shape[1] - 1)
    width = trace.scores.shape[-1]
    parts = [
        frozenset(part for number in own for part in range(number // width, number % width + 1))
        for own in numbers.tolist()
    ]
    scores = trace.scores.flatten(1).gather(1, numbers.to(trace.scores.device))
    return DrawnSpans(parts, (scores - trace.log_normaliser[:, None]).sum(1))


def of_examples(trace: SpanTrace, numbers: Sequence[int]) -> SpanTrace:
    """The trace of these examples."""
    index = torch.tensor(numbers, dtype=torch.long, device=trace.scores.device)
    counts = tuple(trace.parts[number] for number in numbers)
    return SpanTrace(trace.scores[index], trace.log_normaliser[index], counts, trace.unit, trace.width)


def reinforced_costs(costs: Tensor, baselines: Tensor, log_chance: Tensor) -> Tensor:
    """The costs, with the gradient of their expectation: through what computed them, and through the draw.

    All are [...]. The value is that of the costs.
    """
    advantages = (costs - baselines).detach()
    return costs + advantages * (log_chance - log_chance.detach())


class SpanReader:
    """The rows of train texts with only some of their parts, or without them; absent words are not computed."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._pieces: dict[tuple[int, str], Pieces] = {}

    def only(self, index: int, unit: str, parts: frozenset[int]) -> Row:
        """A text with only these parts."""
        return only(self.batch, index, self.pieces(index, unit), parts)

    def without(self, index: int, unit: str, parts: frozenset[int]) -> Row:
        """A text without these parts."""
        return without(self.batch, index, self.pieces(index, unit), parts)

    def pieces(self, index: int, unit: str) -> Pieces:
        """For each part of a text its pieces; the same at every step, so they are looked up once."""
        key = (index, unit)
        if key not in self._pieces:
            self._pieces[key] = self.batch.pieces_of(index, unit)  # type: ignore[arg-type]
        return self._pieces[key]
