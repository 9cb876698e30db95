"""What every encoder of a composed model offers, whether it is Hugging Face's or one of `encoders/`."""

from collections.abc import Iterator
from typing import Protocol

from torch import Tensor, nn


class EncoderConfiguration(Protocol):
    """model_type: the family's name. hidden_size: numbers of a state."""

    model_type: str
    hidden_size: int

    def to_dict(self) -> dict[str, object]:
        """All values, as JSON can hold them."""
        ...


class EncoderStates(Protocol):
    """What an encoder returns."""

    @property
    def last_hidden_state(self) -> Tensor:
        """[batch piece width]"""
        ...


class Encoder(Protocol):
    """A module that reads ids, an attention mask and position ids [batch piece] and returns states."""

    config: EncoderConfiguration
    training: bool

    def __call__(self, **columns: Tensor) -> EncoderStates:
        """Run it on columns [batch piece], by the names of its parameters."""
        ...

    def get_input_embeddings(self) -> nn.Embedding:
        """The module of word embeddings."""
        ...

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """As of every torch module."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """As of every torch module."""
        ...

    def buffers(self) -> Iterator[Tensor]:
        """As of every torch module."""
        ...
