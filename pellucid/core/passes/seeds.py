"""Random draws that depend on an example's content alone, not on its neighbours, batch or machine."""

from hashlib import blake2b

import torch

from pellucid.core.passes.batch import Row

HIGHEST_SEED = 2**63 - 1  # what a result can store


def generator_for(row: Row, method: str, seed: int) -> torch.Generator:
    """One CPU generator an example: blake2b of user seed, method, token ids and token types.

    It does not depend on target, batch or settings. So the first 100 of 200 samples are those of a run with 100, and two
    targets are explained with the same draws.
    """
    return torch.Generator().manual_seed(derived_seed(seed, method, row.ids, row.types))


def derived_seed(*content: object) -> int:
    """A seed that depends on plain values alone."""
    number = int.from_bytes(blake2b(repr(content).encode(), digest_size=8).digest(), "big")
    return number & HIGHEST_SEED
