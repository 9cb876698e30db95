"""Occlusion: how far the target falls when a unit is taken away.

Zeiler & Fergus (2014), "Visualizing and Understanding Convolutional Networks"; Li, Monroe & Jurafsky (2016),
"Understanding Neural Networks through Representation Erasure" (leave-one-out).
"""

from typing import Literal

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.batch import Operator
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable
from pellucid.core.text.units import Kind, Spans, Units, all_spans, coarsen


@attributions.add(needs=frozenset(), cost="1 forward a window (about 1 a word)", units="word")
def occlusion(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind | Literal["span"] = "word",
    window: int = 1,
    max_width: int = 4,
    operator: Operator = "absent",
) -> Scores:
    """The target's fall when a window of neighbouring units is taken away, averaged over a unit's windows.

    unit: what is taken away and scored, "word", "piece", "sentence" or "paragraph"; with "span" each span of up to
    max_width words of one text has a score, its own fall. window: units taken away together, inside one text (a shorter
    text is taken away whole). operator: how; see `pellucid.core.passes.batch.edit`. Special tokens are never touched and
    score 0.
    """
    at_least("window", window, 1)
    at_least("max_width", max_width, 1)
    if unit == "span":
        return _of_spans(run, target, window, max_width, operator)
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


def _of_spans(
    run: ForwardPass, target: Explainable, window: int, max_width: int, operator: Operator
) -> Scores:
    if window != 1:
        raise BadSetting(f"window={window} does not go with unit='span'; give max_width, the widest span.")
    batch = run.batch
    found = [coarsen(batch.units[n], "word", batch.examples[n].segments) for n in range(len(batch))]
    spans = tuple(all_spans(words, max_width) for words, _ in found)
    variants = [
        [batch.rows[n], *(batch.edited(n, _between(first, last, owner), operator) for first, last in ends)]
        for n, (ends, (_, owner)) in enumerate(zip(map(_ends, spans), found, strict=True))
    ]
    falls = tuple(answers[0] - answers[1:] for answers in run.evaluate(variants, target))
    return Scores(falls, units=spans)


def _ends(spans: Spans) -> list[tuple[int, int]]:
    return list(zip(spans.first.tolist(), spans.last.tolist(), strict=True))


def _between(first: int, last: int, owner: tuple[int, ...]) -> list[int]:
    """The pieces of these units and of those between them."""
    return [piece for piece, unit in enumerate(owner) if first <= unit <= last]


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
