"""The order of the training batches: shuffled by the seed, texts of similar length in one batch."""

from collections.abc import Sequence

import torch

POOL = 16  # so many batches' texts are sorted by length before they are cut into batches


def epoch_batches(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """The indices of each batch of one epoch, each text once; they depend on these four numbers alone."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches = []
    for first in range(0, len(order), batch_size * POOL):
        pool = sorted(order[first : first + batch_size * POOL], key=lambda index: lengths[index])
        batches += [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]
