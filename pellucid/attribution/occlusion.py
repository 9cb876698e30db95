"""Occlusion: how far the target falls when a unit is taken out.

Zeiler & Fergus (2014), "Visualizing and Understanding Convolutional Networks"; Li, Monroe & Jurafsky (2016),
"Understanding Neural Networks through Representation Erasure" (leave-one-out).
"""

from typing import Literal

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.batch import Batch, Operator
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable
from pellucid.core.text.units import Kind, Spans, Units, all_spans, coarsen


@attributions.add(needs=frozenset(), cost="about 1 run of the model a word", units="word")
def occlusion(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind | Literal["span"] = "word",
    window: int = 1,
    max_width: int = 4,
    operator: Operator = "absent",
) -> Scores:
    """The target's fall when a window of neighbouring units is taken out, averaged over a unit's windows.

    unit: what is taken out and scored, "word", "piece", "sentence" or "paragraph"; with "span" each span of up to
    max_width words of one text has a score, its own fall. window: how many units are taken out together, inside one text
    (a shorter text is taken out whole). operator: how units are taken out; see `pellucid.core.passes.batch.edit`. Special
    tokens are never taken out and score 0.
    """
    at_least("window", window, 1)
    at_least("max_width", max_width, 1)
    if unit == "span":
        return _of_spans(run, target, window, max_width, operator)
    units, owners = _coarsened(run.batch, unit)
    windows = [_windows(of_text, window) for of_text in units]
    removed = [
        [_pieces(inside, owner) for inside in of_text] for of_text, owner in zip(windows, owners, strict=True)
    ]
    falls = _falls(run, target, removed, operator)
    scores = (_averaged(*of_text) for of_text in zip(falls, windows, map(len, units), strict=True))
    return Scores(tuple(scores), units=units)


def _of_spans(
    run: ForwardPass, target: Explainable, window: int, max_width: int, operator: Operator
) -> Scores:
    if window != 1:
        raise BadSetting(f"window={window} does not go with unit='span'; give max_width, the widest span.")
    words, owners = _coarsened(run.batch, "word")
    spans = tuple(all_spans(of_text, max_width) for of_text in words)
    removed = [
        [_between(first, last, owner) for first, last in _ends(of_text)]
        for of_text, owner in zip(spans, owners, strict=True)
    ]
    return Scores(tuple(_falls(run, target, removed, operator)), units=spans)


def _coarsened(batch: Batch, unit: Kind) -> tuple[tuple[Units, ...], list[tuple[int, ...]]]:
    """Each text's units of a kind, and for each piece the number of the unit that it belongs to."""
    coarsened = [coarsen(batch.units[n], unit, batch.examples[n].segments) for n in range(len(batch))]
    return tuple(units for units, _ in coarsened), [owner for _, owner in coarsened]


def _falls(
    run: ForwardPass, target: Explainable, removed: list[list[list[int]]], operator: Operator
) -> list[Tensor]:
    """For each text [edit]: the target's value less its value without the pieces that an edit takes out."""
    variants = [
        [run.batch.rows[n], *(run.batch.edited(n, pieces, operator) for pieces in edits)]
        for n, edits in enumerate(removed)
    ]
    return [values[0] - values[1:] for values in run.evaluate(variants, target)]


def _ends(spans: Spans) -> list[tuple[int, int]]:
    return list(zip(spans.first.tolist(), spans.last.tolist(), strict=True))


def _between(first: int, last: int, owner: tuple[int, ...]) -> list[int]:
    """The pieces of these units and of those between them."""
    return [piece for piece, unit in enumerate(owner) if first <= unit <= last]


def _windows(units: Units, window: int) -> list[tuple[int, ...]]:
    """The runs of `window` neighbouring content units, text by text."""
    windows: list[tuple[int, ...]] = []
    for text in sorted(set(units.segment) - {-1}):
        inside = [unit for unit in units.content if units.segment[unit] == text]
        width = min(window, len(inside))
        windows += [tuple(inside[first : first + width]) for first in range(len(inside) - width + 1)]
    return windows


def _pieces(units: tuple[int, ...], owner: tuple[int, ...]) -> list[int]:
    """The pieces of these units."""
    return [piece for piece, unit in enumerate(owner) if unit in units]


def _averaged(falls: Tensor, windows: list[tuple[int, ...]], length: int) -> Tensor:
    """[window] -> [unit]: each unit's mean over the windows that it is in."""
    sums, counts = torch.zeros(length), torch.zeros(length)
    for fall, window in zip(falls, windows, strict=True):
        sums[list(window)] += fall
        counts[list(window)] += 1
    return sums / counts.clamp_min(1)
