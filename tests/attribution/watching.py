"""What a method makes a model compute, seen from the model's side."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pellucid.models.classifiers.classifier import Classifier
from pellucid.run.batch import Row


@contextmanager
def watched() -> Iterator[list[list[Row]]]:
    """The rows of every pass of any classifier inside."""
    passes: list[list[Row]] = []
    trace = Classifier.trace

    def seen(self: Classifier, rows: Sequence[Row], *rest: Any, **named: Any) -> Any:
        passes.append(list(rows))
        return trace(self, rows, *rest, **named)

    Classifier.trace = seen  # type: ignore[method-assign]
    try:
        yield passes
    finally:
        Classifier.trace = trace  # type: ignore[method-assign]
