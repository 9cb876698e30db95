"""The passes of a model by which the trial of a route compares it with eager."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.trace import Trace, Want
from pellucid.core.text.example import Example
from pellucid.models.routing.route import Route

TEXTS = tuple(
    Example((text,), id=f"trial {number}")
    for number, text in enumerate(
        (
            "We saw the new film last week, and most of us thought that it was a good one.",
            "It was not bad.",
            "Dull!",
        )
    )
)
LONGER = Example((" ".join(text for one in TEXTS * 3 for text in one.segments),), id="trial of speed")
WITHOUT_GRAPH = 3  # passes for each one with a gradient: methods that edit texts have the most work
MANY = 32  # texts of a pass of short ones
LARGE = 256  # pieces of a pass that is compared beside short ones
MOST_TOKENS = 640  # of a pass: more than that do not run together on one core

Run = Callable[[Route, Sequence[Row], Want], Trace]


@dataclass(frozen=True, eq=False)
class TrialPasses:
    """Passes of a few texts.

    trace: a run of rows under a route. exact: such a run in the number type of the weights, where `trace` computes in mixed precision: there one
    bit may become another number of bfloat16, which says nothing of a route. rows: a function that returns the rows of texts. gradients:
    whether the model has any.
    """

    trace: Run
    exact: Run
    rows: Callable[[Sequence[Example]], Sequence[Row]]
    gradients: bool

    def answers(self, route: Route) -> list[Tensor]:
        """Logits of passes without and with a graph, and the gradient of a mixture of them by the words."""
        rows = self.rows(TEXTS)
        with torch.inference_mode(False):
            gradients = _with_gradient(self.exact, route, rows) if self.gradients else ()
            return [_logits(self.exact, route, rows), *gradients]

    def full_pass(self, route: Route) -> Tensor:
        """Logits of a pass that is large enough for packed weights."""
        row = self._longest
        with torch.inference_mode(False):
            return _logits(self.exact, route, [row] * (1 + LARGE // len(row)))

    def short_texts(self, route: Route) -> Tensor:
        """Logits of so many short texts that a route computes the products of the head too, which have one row a text."""
        row = min(self.rows(TEXTS), key=len)
        with torch.inference_mode(False):
            return _logits(self.exact, route, [row] * MANY)

    def pass_of(self, seconds: float, eager: Route) -> Callable[[Route], object]:
        """Passes without a graph, and one with its gradient where there are any, of a text of some sentences: as often beside
        itself as fits the time under eager.
        """
        row = self._longest

        def run(route: Route, count: int) -> None:
            with torch.inference_mode(False):
                for _ in range(WITHOUT_GRAPH):
                    _logits(self.trace, route, [row] * count)
                if self.gradients:
                    _with_gradient(self.trace, route, [row] * count)

        start = perf_counter()
        run(eager, 1)
        fitting = int(seconds / (perf_counter() - start))
        count = max(1, min(fitting, MOST_TOKENS // len(row)))
        return lambda route: run(route, count)

    @property
    def _longest(self) -> Row:
        return max((row for row in self.rows([*TEXTS, LONGER]) if not row.windows), key=len)


def _logits(trace: Run, route: Route, rows: Sequence[Row]) -> Tensor:
    with torch.no_grad():
        return trace(route, rows, Want()).logits


def _with_gradient(run: Run, route: Route, rows: Sequence[Row]) -> list[Tensor]:
    trace = run(route, rows, Want(gradients=True))
    mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
    return [trace.logits.detach(), *torch.autograd.grad(mixture.sum(), trace.embeddings)]
