"""A sum over the bytes of a tensor, by which a change is noticed that torch does not count."""

import torch
from torch import Tensor

BLOCK = 256  # words of eight bytes that are summed before they are weighted


@torch.no_grad()
def checksum(tensor: Tensor) -> int:
    """A sum of the bytes as words, modulo 2 ** 64; blocks of them are weighted by odd numbers, so that order counts.

    It takes about as long as reading the memory. It notices every single number that changes; it may miss two numbers that
    change places within 2,048 bytes.
    """
    words = _words(tensor)
    whole = len(words) // BLOCK * BLOCK
    blocks, rest = words[:whole].view(-1, BLOCK).sum(1), words[whole:]
    return int((blocks * _odd(blocks)).sum() - (rest * _odd(rest)).sum())


def _odd(like: Tensor) -> Tensor:
    """1, 3, 5, ... as many as there are."""
    return torch.arange(1, 2 * len(like) + 1, 2, device=like.device)


def _words(tensor: Tensor) -> Tensor:
    """The tensor's bytes as whole numbers of eight bytes each; each remaining byte is a number of its own."""
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    if raw.storage_offset() % 8:
        raw = raw.clone()
    whole = len(raw) // 8 * 8
    words = raw[:whole].view(torch.int64)
    return words if whole == len(raw) else torch.cat([words, raw[whole:].long()])
