"""The baseline, the vector that stands for "no word"; and seeds of random draws that depend on a text alone."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import listed, one_of, quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.run.batch import Row
from pellucid.run.model import Model

Baseline = Literal["zero", "pad", "mask", "mean"]
SLICE = 8192  # vocabulary entries that are embedded at once


def baseline_names(baselines: object) -> Sequence[Baseline]:
    """One or more different baselines; raises `BadSetting` for anything else."""
    names = (baselines,) if isinstance(baselines, str) else baselines
    if not isinstance(names, tuple | list) or not names or len({str(name) for name in names}) < len(names):
        raise BadSetting(
            f"baselines={quoted(baselines)} is not possible; name one or more different ones of "
            f"{listed(get_args(Baseline))}."
        )
    for name in names:
        one_of("baselines", name, get_args(Baseline))
    return names


def blank_vector(model: Model, baselines: Baseline, like: Tensor) -> Tensor:
    """[width]: zeros, the vector of the pad or the mask token, or the mean of the vocabulary.

    like: a vector of the type and on the device that the answer shall have.

    Raises `ModelCannot` where the tokenizer has no such token, or the vector has numbers that are not finite.
    """
    one_of("baselines", baselines, get_args(Baseline))
    if baselines == "zero":
        return torch.zeros_like(like)
    blank = _vector(model, baselines, like)
    if not blank.isfinite().all():
        which = "mean of the word embeddings" if baselines == "mean" else f"embedding of the {baselines} token"
        raise ModelCannot(
            f'The {which} of {model.name} is no vector of finite numbers, so it cannot stand for "no word"; use '
            f"baselines='zero'."
        )
    return blank


def _vector(model: Model, baselines: Baseline, like: Tensor) -> Tensor:
    if baselines == "mean":
        pieces = model.vocabulary
        parts = [model.embed(some.to(like.device)).double().sum(0) for some in pieces.split(SLICE)]
        return (torch.stack(parts).sum(0) / len(pieces)).to(like.dtype)
    token_id = model.blank_ids()[baselines]
    if token_id is None:
        raise ModelCannot(f"The tokenizer has no {baselines} token; use baselines='zero'.")
    return model.embed(torch.tensor([token_id], device=like.device))[0]


# Random draws that depend on an example's content alone, not on its neighbours, batch or machine.

HIGHEST_SEED = 2**63 - 1  # what a result can store


def generator_for(row: Row, method: str, seed: int) -> torch.Generator:
    """One CPU generator an example: blake2b of user seed, method, token ids and token types.

    It does not depend on target, batch or settings. So the first 100 of 200 samples are those of a run with 100, and
    two targets are explained with the same draws.
    """
    return torch.Generator().manual_seed(derived_seed(seed, method, row.ids, row.types))


def derived_seed(*content: object) -> int:
    """A seed that depends on plain values alone."""
    seed = int.from_bytes(blake2b(repr(content).encode(), digest_size=8).digest(), "big")
    return seed & HIGHEST_SEED
