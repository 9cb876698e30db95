"""Which texts make which training batch: shuffled by the seed, texts of like length together."""

from collections.abc import Sequence

import torch

POOL = 16  # batches whose texts are sorted by length before they are cut apart


def epoch_batches(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """The index lists of one epoch, each text once; a function of lengths, batch size, seed and epoch alone."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches = []
    for first in range(0, len(order), batch_size * POOL):
        pool = sorted(order[first : first + batch_size * POOL], key=lambda index: lengths[index])
        batches += [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]
