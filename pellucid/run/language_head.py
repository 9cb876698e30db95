"""What reads hidden states back as words: for each state, how likely each token of the vocabulary is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, eq=False)
class NamedTokens:
    """What a head makes of states: log_probabilities [place k] of k tokens, and the id of the likeliest token [place]."""

    log_probabilities: Tensor
    most_likely: Tensor


class LanguageHead(Protocol):
    """Names tokens from hidden states [place width].

    digest: of its weights and vocabulary. description: one line, which stands in the settings of each result. width:
    numbers of a state. n_tokens: tokens of its vocabulary. trained_on: "the encoder before fine-tuning" or "the
    classifier". vocabulary: a digest of token -> id, which must be the classifier's.
    """

    @property
    def digest(self) -> str:
        """Of weights and vocabulary."""
        ...

    @property
    def description(self) -> str:
        """One line that stands with results."""
        ...

    @property
    def width(self) -> int:
        """Numbers of a state."""
        ...

    @property
    def n_tokens(self) -> int:
        """Tokens that it can name."""
        ...

    @property
    def trained_on(self) -> str:
        """Whose states it learnt to read."""
        ...

    @property
    def vocabulary(self) -> str:
        """A digest of token -> id."""
        ...

    def log_probabilities(self, states: Tensor, layer: int, ids: Sequence[int]) -> Tensor:
        """[place width] of a layer -> [place k]: natural logarithms for k ids; the normaliser is that of all tokens."""
        ...

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """[place width] of a layer -> [place]: the id of the likeliest token."""
        ...

    def name_tokens(self, states: Tensor, layer: int, ids: Sequence[int]) -> NamedTokens:
        """Both of the above from one product with the vocabulary, which costs more than all else."""
        ...


def head_settings(head: LanguageHead) -> dict[str, str]:
    """What the settings of a result say of the head that was used."""
    return {
        "language_head": f"{head.description}, trained on {head.trained_on}",
        "language_head_digest": head.digest,
    }
