"""Word embeddings that are read through gates: each is multiplied by how much of it is read."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from pellucid.models.classifiers.hooks import output_through


@contextmanager
def read_through(embedding: nn.Module, gates: Tensor) -> Iterator[None]:
    """Inside, word embeddings are multiplied by the gates [batch piece].

    They are looked up once, for whole rows; where windows are joined, later look-ups are replaced by parts of the first.
    """
    first = True

    def gated(output: Tensor) -> Tensor:
        nonlocal first
        if not first:
            return output
        first = False
        return output * gates[..., None].to(output.dtype)

    with output_through(embedding, gated):
        yield
