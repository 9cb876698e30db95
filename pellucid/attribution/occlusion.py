"""Occlusion: how far the target falls when a unit is taken away.

Zeiler & Fergus (2014), "Visualizing and Understanding Convolutional Networks"; Li, Monroe & Jurafsky (2016),
"Understanding Neural Networks through Representation Erasure" (leave-one-out). With unit "piece", window 3 and
operator "pad" as ThermoStat runs it.
"""

import torch
from torch import Tensor

from pellucid.core.batch import Operator
from pellucid.core.checks import at_least
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget
from pellucid.core.units import Kind, Units, coarsen


@attributions.add(needs=frozenset(), cost="1 forward a window (about 1 a word)", units="word")
def occlusion(
    run: ForwardPass,
    target: ResolvedTarget,
    *,
    unit: Kind = "word",
    window: int = 1,
    operator: Operator = "absent",
) -> Scores:
    """The target's fall when a window of neighbouring units is taken away, averaged over a unit's windows.

    unit: what is taken away and scored, "word", "piece", "sentence" or "paragraph". window: units taken away
    together, inside one text (a shorter text is taken away whole). operator: how; see `pellucid.core.batch.edit`.
    Special tokens are never touched and score 0.
    """
    at_least("window", window, 1)
    found = [coarsen(run.batch.units[n], unit, run.batch.examples[n].segments) for n in range(len(run.batch))]
    windows = [_windows(units, window) for units, _ in found]
    variants = [
        [run.batch.rows[n], *(run.batch.edited(n, _pieces(gone, owner), operator) for gone in windows[n])]
        for n, (_, owner) in enumerate(found)
    ]
    scores = (
        _averaged(answers[0] - answers[1:], taken, len(units))
        for answers, taken, (units, _) in zip(run.evaluate(variants, target), windows, found, strict=True)
    )
    return Scores(tuple(scores), units=tuple(units for units, _ in found))


def _windows(units: Units, window: int) -> list[tuple[int, ...]]:
    """The runs of `window` neighbouring content units, text by text."""
    found: list[tuple[int, ...]] = []
    for text in sorted(set(units.segment) - {-1}):
        inside = [unit for unit in units.content if units.segment[unit] == text]
        width = min(window, len(inside))
        found += [tuple(inside[first : first + width]) for first in range(len(inside) - width + 1)]
    return found


def _pieces(gone: tuple[int, ...], owner: tuple[int, ...]) -> list[int]:
    """The pieces of these units."""
    return [piece for piece, unit in enumerate(owner) if unit in gone]


def _averaged(falls: Tensor, windows: list[tuple[int, ...]], length: int) -> Tensor:
    """[window] -> [unit]: each unit's mean over the windows that held it."""
    sums, counts = torch.zeros(length), torch.zeros(length)
    for fall, window in zip(falls, windows, strict=True):
        sums[list(window)] += fall
        counts[list(window)] += 1
    return sums / counts.clamp_min(1)
