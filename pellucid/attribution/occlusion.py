"""Occlusion: the fall of the explained value without a unit."""

from typing import Literal

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

from pellucid.base.checks import at_least
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.batch import Batch, Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import SPECIAL, Kind, Units, all_spans, coarsen


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

    How far the target falls when a unit is taken out.

    Source: Zeiler & Fergus (2014), "Visualizing and Understanding Convolutional Networks"; Li, Monroe &
    Jurafsky (2016), "Understanding Neural Networks through Representation Erasure" (leave-one-out).

    unit: what is taken out and scored, "word", "piece", "character" (where pieces are no longer), "sentence" or
    "paragraph"; with "span" each span of up to max_width words of one text has a score, its own fall. window: how many
    units are taken out together, inside one text (a shorter text is taken out whole). operator: how units are taken
    out; see `pellucid.run.batch.edit`. Special tokens are never taken out and score 0.
    """
    at_least("window", window, 1)
    at_least("max_width", max_width, 1)
    if unit == "span":
        return _of_spans(run, target, window, max_width, operator)
    units, owners = _coarsened(run.batch, unit)
    windows = [_windows(of_text, window) for of_text in units]
    removed = [of_text[:, owner] for of_text, owner in zip(windows, owners, strict=True)]
    falls = _falls(run, target, removed, operator)
    return Scores(tuple(map(_averaged, falls, windows)), units=units)


def _of_spans(run: ForwardPass, target: Explainable, window: int, max_width: int, operator: Operator) -> Scores:
    if window != 1:
        raise BadSetting(f"window={window} does not go with unit='span'; give max_width, the widest span.")
    words, owners = _coarsened(run.batch, "word")
    spans = tuple(all_spans(of_text, max_width) for of_text in words)
    removed = [
        (of_text.first[:, None] <= owner) & (owner <= of_text.last[:, None])
        for of_text, owner in zip(spans, owners, strict=True)
    ]
    return Scores(tuple(_falls(run, target, removed, operator)), units=spans)


def _coarsened(batch: Batch, unit: Kind) -> tuple[tuple[Units, ...], list[np.ndarray]]:
    """Each text's units of a kind, and for each piece the number of the unit that it belongs to."""
    coarsened = [coarsen(batch.units[n], unit, batch.examples[n].segments) for n in range(len(batch))]
    return tuple(units for units, _ in coarsened), [np.array(owner, dtype=int) for _, owner in coarsened]


def _falls(run: ForwardPass, target: Explainable, removed: list[np.ndarray], operator: Operator) -> list[Tensor]:
    """For each text [edit]: the target's value less its value without the pieces that an edit takes out, [edit piece]
    bool.
    """
    variants = [[run.batch.rows[n], *run.batch.edited_rows(n, of_text, operator)] for n, of_text in enumerate(removed)]
    return [values[0] - values[1:] for values in run.evaluate(variants, target)]


def _windows(units: Units, window: int) -> np.ndarray:
    """[window unit] bool: the runs of `window` neighbouring content units, text by text."""
    windows = [np.zeros((0, len(units)), dtype=bool)]
    for text in sorted(set(units.segment) - {SPECIAL}):
        inside = np.flatnonzero(np.array(units.segment) == text)
        runs = sliding_window_view(inside, min(window, len(inside)))
        is_in = np.zeros((len(runs), len(units)), dtype=bool)
        is_in[np.arange(len(runs))[:, None], runs] = True
        windows.append(is_in)
    return np.concatenate(windows)


def _averaged(falls: Tensor, windows: np.ndarray) -> Tensor:
    """[window], [window unit] bool -> [unit]: each unit's mean over the windows that it is in."""
    is_in = torch.from_numpy(windows).T.to(falls)
    return (is_in @ falls / is_in.sum(1).clamp_min(1)).float()


@attributions.add(needs=frozenset(), cost="1 run of the model a word", units="word", usual=False)
def leave_one_out(
    run: ForwardPass, target: Explainable, *, unit: Kind = "word", operator: Operator = "absent"
) -> Scores:
    """`occlusion` with windows of one unit: the target of the text minus that of the text without the unit.

    How far the target falls when a single unit is taken out.

    Source: Li, Monroe & Jurafsky (2016), "Understanding Neural Networks through Representation
    Erasure".
    """
    return occlusion(run, target, unit=unit, operator=operator)
