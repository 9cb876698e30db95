"""Probabilities over a large vocabulary for some tokens, in slices of places, so that memory stays flat."""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b

import torch
from torch import Tensor

from pellucid.core.passes.language_head import NamedTokens
from pellucid.models.classifiers.tokenizer import Tokenizer

LOGITS_AT_ONCE = 1 << 23  # 32 MB
TOKENS_AT_ONCE = 1024


def vocabulary_digest(tokenizer: Tokenizer) -> str:
    """32 hexadecimal digits for all tokens and their ids."""
    text = json.dumps(sorted(tokenizer.get_vocab().items()), ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def named_tokens(
    logits: Callable[[Tensor], Tensor], states: Tensor, ids: Sequence[int], n_tokens: int
) -> NamedTokens:
    """For states [place width] the log-probabilities of some ids [place k], and the likeliest ids [place].

    logits: some states -> [place token]. The normaliser is the exact sum over all tokens; of the vocabulary's
    probabilities only the k columns are formed, and all logits only for so many places that they take 32 MB.
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
    """[place k] log-probabilities and [place] likeliest ids of logits [place token].

    The vocabulary is read in slices that stay in the processor's cache: over all of it at once, the largest number and the
    sum would cost half as much as the product that made the logits.
    """
    slices = logits.split(TOKENS_AT_ONCE, -1)
    highest, where = torch.stack([some.amax(-1) for some in slices], -1).max(-1, keepdim=True)
    total = torch.stack([(some - highest).exp_().sum(-1) for some in slices]).sum(0)
    best = torch.empty_like(where[:, 0])
    for number, some in enumerate(slices):
        places = (where[:, 0] == number).nonzero()[:, 0]
        if len(places):
            best[places] = some[places].argmax(-1) + number * TOKENS_AT_ONCE
    return logits[:, columns] - highest - total.log()[:, None], best
