"""What Pellucid uses of a fast tokenizer of Hugging Face, and of its answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import tokenizers


class Tokenizer(Protocol):
    """A fast tokenizer; ids of special tokens are None where it has no such token."""

    pad_token: str | None
    pad_token_id: int | None
    mask_token_id: int | None
    eos_token_id: int | None
    all_special_ids: list[int]
    model_input_names: list[str]
    model_max_length: int
    backend_tokenizer: tokenizers.Tokenizer

    def __call__(
        self, *segments: str | list[str], **settings: object
    ) -> Any:  # lists or tensors, by the settings
        """The columns of a text or a pair, or of lists of them."""
        ...

    def __len__(self) -> int:
        """How many tokens it knows, added ones included."""
        ...

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        """The tokens of ids."""
        ...

    def decode(self, ids: list[int], **settings: object) -> str:
        """The text of ids."""
        ...

    def get_vocab(self) -> dict[str, int]:
        """The id of every token."""
        ...

    def save_pretrained(self, folder: Path) -> object:
        """Write its files."""
        ...


class TokenizedTexts(Protocol):
    """The columns of some texts or pairs, for each a list with one entry a piece."""

    def __getitem__(self, name: str) -> list[list]:
        """The columns of that name, such as "input_ids" or "offset_mapping"."""
        ...

    def sequence_ids(self, number: int) -> Sequence[int | None]:
        """The segment of each piece of a text; None for special tokens."""
        ...


class TokenizedText(Protocol):
    """The columns of one text or pair as lists, one entry a piece."""

    def __getitem__(self, name: str) -> list:
        """The column of that name, such as "input_ids" or "offset_mapping"."""
        ...

    def sequence_ids(self, number: int) -> Sequence[int | None]:
        """Each piece's segment; None for special tokens."""
        ...
