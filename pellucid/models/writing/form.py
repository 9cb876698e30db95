"""What differs between kinds of models that write: how a text and its continuation become a row, and how rows run."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn

from pellucid.core.passes.batch import Row
from pellucid.core.text.example import Example
from pellucid.core.text.units import Units
from pellucid.models.writing.tracks import Track

Reading = Callable[
    [int], AbstractContextManager
]  # the number of a track -> the context in which it is looked up


def own_embeddings(track: int) -> AbstractContextManager:
    """The `Reading` in which the network reads its own word embeddings."""
    return nullcontext()


class Form(Protocol):
    """Encoder and decoder, or a decoder alone."""

    @property
    def embeddings(self) -> tuple[nn.Module, ...]:
        """For each track the module that turns ids into word embeddings."""
        ...

    def encode(self, example: Example) -> tuple[Row, Units]:
        """The row of a text and what is to be written after it."""
        ...

    def excess(self, example: Example) -> int:
        """How many places more than the model has its row would take where it writes; 0 or less where it fits."""
        ...

    def tracks(self, rows: Sequence[Row], device: torch.device) -> tuple[Track, ...]:
        """What each part of the network reads; the last track is the one that writes."""
        ...

    def place_of(self, row: Row, piece: int) -> int:
        """The place, in the last track, of a piece that is written; piece: its number as encoded."""
        ...

    def logits(self, tracks: Sequence[Track], reading: Reading) -> Tensor:
        """[row place id] of the last track, or of the places that its head was asked for."""
        ...

    def plain_logits(self, example: Example, device: torch.device) -> Tensor:
        """[place id]: the user's own call; place k says the piece at place k + 1."""
        ...
