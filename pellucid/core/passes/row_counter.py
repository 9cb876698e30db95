"""A model that counts the different rows that it reads, and reads no more than it may."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.trace import NOTHING, Trace, Want
from pellucid.core.text.example import Example


class TooManyRows(Exception):
    """More rows are needed than may be read."""


class RowCounter:
    """rows: different rows so far, and all rows at points between texts. All else is the model's own.

    Whatever is read twice, as the guard does, counts once, so the count does not depend on how rows are packed.
    """

    def __init__(self, model: Model, most: int | None = None) -> None:
        """most: rows that may be read; None: any number. Beyond them `trace` raises `TooManyRows`."""
        self.model, self.most, self.rows = model, most, 0
        self._known: set[bytes] = set()

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
        fresh = {row.digest for row in rows} - self._known
        count = len(fresh) if embeddings is None else len(rows)
        if self.most is not None and self.rows + count > self.most:
            raise TooManyRows
        self.rows += count
        if embeddings is None:
            self._known |= fresh
        return self.model.trace(rows, want, embeddings, layer)

    def plain_logits(self, example: Example) -> Tensor:
        """The model's own answer: the guard's, to a text that a pass has counted."""
        return self.model.plain_logits(example)
