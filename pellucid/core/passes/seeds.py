"""Random draws that depend on an example's content alone, not on its neighbours, batch or machine."""

from hashlib import blake2b

import torch

from pellucid.core.passes.batch import Row

HIGHEST_SEED = 2**63 - 1  # what a result can store


def generator_for(row: Row, method: str, seed: int) -> torch.Generator:
    """One CPU generator an example: blake2b of user seed, method, token ids and token types.

    Independent of target, batch and settings, so 200 samples extend the first 100 and differences
    between targets are not differences of luck.
    """
    key = repr((seed, method, row.ids, row.types)).encode()
    number = int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
    return torch.Generator().manual_seed(number & (2**63 - 1))
