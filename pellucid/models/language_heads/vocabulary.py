"""Probabilities over a large vocabulary for some tokens, in slices of places, so that memory stays flat."""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b

import torch
from torch import Tensor

from pellucid.core.passes.language_head import NamedTokens
from pellucid.models.classifiers.tokenizer import Tokenizer

LOGITS_AT_ONCE = 1 << 22  # 16 MB: they stay near the processor between the product and the sum


def vocabulary_digest(tokenizer: Tokenizer) -> str:
    """32 hexadecimal digits for all tokens and their ids."""
    text = json.dumps(sorted(tokenizer.get_vocab().items()), ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def named_tokens(
    logits: Callable[[Tensor], Tensor], states: Tensor, ids: Sequence[int], n_tokens: int
) -> NamedTokens:
    """For states [place width] the log-probabilities of some ids [place k], and the likeliest ids [place].

    logits: some states -> [place token]. The normaliser is the exact sum over all tokens; of the vocabulary's
    probabilities only the k columns are formed, and all logits only for so many places that they take 16 MB.
    """
    columns = torch.as_tensor(list(ids), dtype=torch.long, device=states.device)
    parts = [
        _of_some(logits(some), columns) for some in states.split(max(1, LOGITS_AT_ONCE // max(1, n_tokens)))
    ]
    if not parts:
        return NamedTokens(states.new_zeros(0, len(columns)), columns.new_zeros(0))
    named, best = zip(*parts, strict=True)
    return NamedTokens(torch.cat(named), torch.cat(best))


def _of_some(logits: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    highest, best = logits.max(-1, keepdim=True)
    named = logits[:, columns] - highest
    normaliser = (logits - highest).exp_().sum(-1, keepdim=True).log_()
    return named - normaliser, best[:, 0]
