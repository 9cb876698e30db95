"""One table of the word vectors that a step looks up, for all its passes.

The gradient of a look-up is as large as the whole vocabulary, however few words are read; a step that reads its texts several times would
make one such gradient for each pass. On MiniLM that was a fifth of a plain step.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.core.passes.module_hooks import hook_output

NOT_READ = -1


@contextmanager
def shared_lookups(embedding: nn.Module, ids: Iterable[int]) -> Iterator[None]:
    """Inside, look-ups of these ids read one small table, whose gradient reaches the module's weight once; no number changes.

    A look-up with another id goes to the module as before, and so does every look-up of a module that does more than looking up.
    """
    if not isinstance(embedding, nn.Embedding) or not _only_looks_up(embedding):
        yield
        return
    weight, padding = embedding.weight, embedding.padding_idx
    read = torch.tensor(sorted(set(ids)), dtype=torch.long, device=weight.device)
    places = torch.full((len(weight),), NOT_READ, device=weight.device)
    places[read] = torch.arange(len(read), device=weight.device)
    table = F.embedding(read, weight, padding)
    padding_place = None if padding is None or places[padding] == NOT_READ else int(places[padding])

    def from_table(_: nn.Module, arguments: tuple[Tensor, ...], output: Tensor) -> Tensor:
        wanted = places[arguments[0]] if arguments else None
        if wanted is None or (wanted == NOT_READ).any():
            return output
        return F.embedding(wanted, table, padding_place)

    remove = hook_output(embedding, from_table)
    try:
        yield
    finally:
        remove()


def _only_looks_up(embedding: nn.Embedding) -> bool:
    """Whether the module's answer is its rows of the weight, and nothing more."""
    return type(embedding) is nn.Embedding and embedding.max_norm is None and not embedding.scale_grad_by_freq
