"""A masked-language-model head on frozen word vectors: dense, GELU, LayerNorm, and the word vectors as decoder.

Devlin et al. (2019), "BERT", appendix A.2, and the code released with it: the decoder's weight is the table of word
vectors. Here the table is frozen, so only dense, norm and the decoder's bias are trained.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pellucid.run.model import Model

NUMBERS = 1 << 23  # logits that are in memory at once: 32 MB
STD = 0.02  # of the first weights, as BERT's


class MaskedHead(nn.Module):
    """Reads states [place width] as logits over the vocabulary.

    word_vectors: [token vector], frozen; it is used as it is, not copied, and belongs to no state_dict. width: numbers of a
    state; where it differs from that of word vectors, `dense` projects.
    """

    def __init__(self, width: int, word_vectors: Tensor) -> None:
        super().__init__()
        n_tokens, vector_width = word_vectors.shape
        self.dense = nn.Linear(width, vector_width)
        nn.init.normal_(self.dense.weight, std=STD)
        nn.init.zeros_(self.dense.bias)
        self.norm = nn.LayerNorm(vector_width)
        self.bias = nn.Parameter(torch.zeros(n_tokens))
        self.register_buffer("word_vectors", word_vectors.detach(), persistent=False)
        self.word_vectors: Tensor

    @property
    def n_tokens(self) -> int:
        """How many ids it can name."""
        return len(self.word_vectors)

    def features(self, states: Tensor) -> Tensor:
        """[place width] -> [place vector]: what is multiplied with each word vector."""
        return self.norm(nn.functional.gelu(self.dense(states)))

    def forward(self, states: Tensor) -> Tensor:
        """[place width] -> logits [place token]"""
        return nn.functional.linear(self.features(states), self.word_vectors, self.bias)

    def slices_of_places(self, count: int) -> Iterator[slice]:
        """Slices of so many places whose logits fit the memory at once."""
        size = max(1, NUMBERS // self.n_tokens)
        yield from (slice(start, start + size) for start in range(0, count, size))

    def most_likely(self, states: Tensor) -> Tensor:
        """[place]: the id with the largest logit, for states [place width]; of equal ones the first."""
        best = states.new_full((len(states),), -torch.inf)
        ids = torch.zeros(len(states), dtype=torch.long, device=states.device)
        for start, logits in self._logits(self.features(states)):
            highest, index = logits.max(-1)
            ids = torch.where(highest > best, index + start, ids)
            best = torch.maximum(best, highest)
        return ids

    def _logits(self, features: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Logits [place part] of parts of the vocabulary, with the first id of each part."""
        size = max(1, NUMBERS // max(1, len(features)))
        for start in range(0, self.n_tokens, size):
            part = slice(start, start + size)
            yield start, nn.functional.linear(features, self.word_vectors[part], self.bias[part])


def word_vectors_of(model: Model) -> Tensor:
    """[token vector]: a model's word embeddings in float32; its own table, not a copy, where the table is what it reads."""
    table = getattr(getattr(model, "embedding", None), "weight", None)
    count = _n_tokens(model)
    if isinstance(table, Tensor) and table.ndim == 2 and len(table) >= count:
        some = torch.arange(min(8, len(table)), device=table.device)
        if torch.equal(model.embed(some), table.detach()[some]):  # some families multiply what they look up
            return table.detach().float()
        count = len(table)
    return model.embed(torch.arange(count, device=model.device)).detach().float()


def _n_tokens(model: Model) -> int:
    """One more than the highest id that a text can have."""
    blanks = [number for number in model.blank_ids().values() if number is not None]
    return max([int(model.vocabulary.max()), *blanks]) + 1
