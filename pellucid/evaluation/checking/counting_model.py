"""A model that counts the rows that it reads, and is otherwise the model that it stands for."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.trace import NOTHING, Trace, Want
from pellucid.core.text.example import Example


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
