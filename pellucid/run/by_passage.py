"""Explanations by passage: methods that take units out take whole passages out, scores of all others are added up."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.wording import quoted
from pellucid.run.batch import Batch
from pellucid.run.model import Scores
from pellucid.text.edits import passages_in
from pellucid.text.units import PASSAGE, Units, coarsen


def with_passages(batch: Batch, passages: Sequence[Sequence[str]]) -> Batch:
    """The batch with the passages of each example's first text named; raises `BadInput` where one is not there."""
    units = tuple(
        replace(of_text, passages=passages_in(example, own))
        for of_text, example, own in zip(batch.units, batch.examples, passages, strict=True)
    )
    return replace(batch, units=units, whole_units=units)


def by_passage(call: Call) -> Call:
    """The call of a method; one that takes units out takes passages out. Raises `BadSetting` for another unit."""
    default = call.entry.defaults.get("unit")
    if default is None:
        return call
    if call.settings["unit"] != default:
        raise BadSetting(f"unit={quoted(call.settings['unit'])} does not go with passages; leave it away.")
    return replace(call, settings={**call.settings, "unit": PASSAGE})


def in_passages(scores: Scores, batch: Batch) -> Scores:
    """The scores added up by passage; as they are where none were named. Raises `ModelCannot` for scores of spans."""
    if not batch.units[0].passages:
        return scores
    units, values = [], []
    for number, example in enumerate(batch.examples):
        fine = batch.units[number] if scores.units is None else scores.units[number]
        if not isinstance(fine, Units):
            raise ModelCannot("Scores of spans cannot be added up by passage; leave passages= away.")
        fine = replace(fine, passages=batch.units[number].passages)
        coarse, index = coarsen(fine, PASSAGE, example.segments)  # type: ignore[arg-type]  # no kind that users name
        units.append(replace(coarse, passages=()))
        values.append(_added_up(scores.values[number], index, len(coarse)))
    return replace(scores, units=tuple(units), values=tuple(values))


def _added_up(values: Tensor, index: Sequence[int], count: int) -> Tensor:
    """[*rows unit] -> [*rows passage]"""
    sums = torch.zeros(*values.shape[:-1], count, dtype=values.dtype, device=values.device)
    return sums.index_add(-1, torch.tensor(index, device=values.device), values)
