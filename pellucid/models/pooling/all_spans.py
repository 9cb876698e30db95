"""The first steps of a training, in which the answer uses all spans: the heaviest ones mean nothing yet, and the others would not learn."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_spans_weigh(pooler: Any) -> Iterator[None]:
    """Inside, a pooler that uses the heaviest spans alone uses all; other poolers stay as they are."""
    count = getattr(pooler, "n_heaviest", None)
    if count is None:
        yield
        return
    pooler.n_heaviest = None
    try:
        yield
    finally:
        pooler.n_heaviest = count
