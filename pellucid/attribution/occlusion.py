"""Occlusion: how far the target falls when a unit is taken away.

Zeiler & Fergus (2014), "Visualizing and Understanding Convolutional Networks"; Li, Monroe & Jurafsky (2016),
"Understanding Neural Networks through Representation Erasure" (leave-one-out). With window=3 and operator "pad"
as ThermoStat runs it.
"""

import torch
from torch import Tensor

from pellucid.core.batch import Operator, Row
from pellucid.core.checks import at_least
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget


@attributions.add(needs=frozenset(), cost="1 forward a window (about 1 a piece)")
def occlusion(
    run: ForwardPass, target: ResolvedTarget, *, window: int = 1, operator: Operator = "absent"
) -> Scores:
    """The target's fall when a window of neighbouring pieces is taken away, averaged over a piece's windows.

    window: pieces taken away together, inside one text (a shorter text is taken away whole). operator: how a
    piece is taken away; see `pellucid.core.batch.edit`. Special tokens are never touched and score 0.
    """
    at_least("window", window, 1)
    windows = [_windows(run, example, window) for example in range(len(run.batch))]
    variants = [
        [run.batch.rows[example], *(run.batch.edited(example, gone, operator) for gone in found)]
        for example, found in enumerate(windows)
    ]
    values = [target.values_of(example, logits) for example, logits in enumerate(run.evaluate(variants))]
    return Scores(
        tuple(
            _averaged(answers[0] - answers[1:], found, row)
            for answers, found, row in zip(values, windows, run.batch.rows, strict=True)
        )
    )


def _windows(run: ForwardPass, example: int, window: int) -> list[tuple[int, ...]]:
    """The runs of `window` neighbouring content pieces, text by text."""
    units = run.batch.units[example]
    found: list[tuple[int, ...]] = []
    for text in sorted(set(units.segment) - {-1}):
        pieces = [piece for piece in units.content if units.segment[piece] == text]
        width = min(window, len(pieces))
        found += [tuple(pieces[first : first + width]) for first in range(len(pieces) - width + 1)]
    return found


def _averaged(falls: Tensor, windows: list[tuple[int, ...]], row: Row) -> Tensor:
    """[window] -> [unit]: each piece's mean over the windows that held it."""
    sums, counts = torch.zeros(len(row)), torch.zeros(len(row))
    for fall, window in zip(falls, windows, strict=True):
        sums[list(window)] += fall
        counts[list(window)] += 1
    return sums / counts.clamp_min(1)
