"""What does an explanation cost?

Seconds, passes and memory of each method, one text at a time. Beside a metric they say which methods are better than every
cheaper one: the page draws these as the frontier.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from torch import Tensor

from pellucid.base.checks import whole
from pellucid.base.kinds import checks
from pellucid.base.memory import peak, start_peak
from pellucid.comparison.check_case import CheckCase, Findings
from pellucid.results.check_outcome import CheckLine
from pellucid.results.table import COST_SECONDS
from pellucid.run.batch import Row
from pellucid.run.model import Model
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example

# A model that counts the rows that it reads, and is otherwise the model that it stands for.


class CountingModel:
    """rows_read: rows of all passes so far, those of the guard among them. All else is the model's own."""

    def __init__(self, model: Model) -> None:
        self.model, self.rows_read = model, 0

    def __getattr__(self, name: str) -> Any:  # whatever the model has
        return getattr(self.model, name)

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """The model's own pass, counted."""
        self.rows_read += len(rows)
        return self.model.trace(rows, want, embeddings, layer)

    def plain_logits(self, example: Example) -> Tensor:
        """The model's own answer, counted."""
        self.rows_read += 1
        return self.model.plain_logits(example)


MEASURES = (COST_SECONDS, "passes a text", "peak memory a text, MB")
MOST_TEXTS = 1_000_000
MEGABYTE = 1e6


@checks.add(
    needs=frozenset({"explainer"}),
    cost="each method alone on n_texts texts, one at a time",
    timed=True,
    again=1,
)
def cost(case: CheckCase, *, n_texts: int = 10) -> Findings:
    """What a method costs for one text: seconds, passes of the model, and the most memory beyond what was in use.

    n_texts: the first texts alone. Each is explained by itself; in a batch a text costs less. Passes count the one that gives the
    answer, and the guard's; a backward pass is not counted by itself. Memory is counted by Linux alone.
    """
    whole("n_texts", n_texts, 1, MOST_TEXTS)
    some = case.first(n_texts)
    model = CountingModel(some.model)
    lines: list[CheckLine] = []
    for method in some.methods:
        some.explain(
            model, some.examples[:1], methods=[method]
        )  # what is tried once for a model is tried now
        values = [_measured(some, model, number, method) for number in range(len(some.examples))]
        columns = zip(*values, strict=True)
        lines += [
            some.intervals.line(method, measure, column)
            for measure, column in zip(MEASURES, columns, strict=True)
        ]
    return Findings(lines)


def _measured(case: CheckCase, model: CountingModel, number: int, method: str) -> tuple[float, float, float]:
    rows, before, start = model.rows_read, start_peak(), perf_counter()
    case.explain(model, case.examples[number : number + 1], methods=[method])
    seconds = perf_counter() - start
    return seconds, float(model.rows_read - rows), max(0.0, (peak() - before) / MEGABYTE)
