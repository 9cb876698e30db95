"""A language head: what reads hidden states of a layer as a distribution over the vocabulary."""

from typing import Protocol

from torch import Tensor


class LanguageHead(Protocol):
    """Names pieces from hidden states: the head of a pretrained masked language model, or a trained lens."""

    @property
    def digest(self) -> str:
        """32 hexadecimal digits for its weights."""
        ...

    @property
    def description(self) -> str:
        """What it is, in one line that stands with results."""
        ...

    @property
    def width(self) -> int:
        """Numbers of a state of the last layer."""
        ...

    @property
    def n_tokens(self) -> int:
        """How many ids it can name."""
        ...

    @property
    def trained_on(self) -> str:
        """Whose states it was trained on: "the encoder before fine-tuning" or "the classifier"."""
        ...

    def log_probabilities(self, states: Tensor, layer: int, ids: Tensor) -> Tensor:
        """[place k]: natural logarithms of the probabilities of ids [k], for states [place width] of a layer.

        The normaliser is exact, over the whole vocabulary.
        """
        ...

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """[place]: the id with the highest probability, for states [place width] of a layer."""
        ...
