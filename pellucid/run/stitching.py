"""One explanation of a long text, joined from those of its windows by character offset.

The explained value is the mean over the windows (for a probability or loss see `window_answers`). So a unit's score is
the sum of its scores in all windows, divided by the number of windows: then the scores add up as they do in each
window. Scores that are no shares of a sum, such as probabilities, become the mean over the windows that contain the
unit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.checks import quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.results.explanation import Explanation
from pellucid.run.batch import Batch
from pellucid.run.diagnostics import worst_of
from pellucid.run.model import Scores
from pellucid.text.example import Example
from pellucid.text.passages import Rest, passages_in, with_rest
from pellucid.text.units import PASSAGE, SPECIAL, Spans, Units, coarsen

OF_EACH = "what is explained is the mean of their values"
OF_THE_MEAN = (
    "its probability or loss is that of their mean logits, each window is explained while the others stay as they are"
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
DISAGREEMENT = 0.5  # a third is what two random draws would have


def stitched(
    windows: Sequence[Explanation], pieces: Units, shares: bool = True, n_windows: int | None = None
) -> Explanation:
    """The explanation of a whole text.

    windows: the explanations of its windows. pieces: the whole text's, special tokens included. shares: as in `kinds`.
    n_windows: how many windows the text has, where only some of them contain what is explained (None: all do).

    Diagnostics are the worst window's (see `worst_of`), and besides: `windows`, their number, and
    `overlap_disagreement` in [0, 1]: how much the scores of what stands in several windows differ between them,
    0 where they agree. Caveats that not all windows have say how many do.
    """
    first, count = windows[0], len(windows)
    n_windows = n_windows or count
    if n_windows == 1:
        return first
    units, numbers = joined_units([window.units for window in windows], pieces, first.example)
    sums = np.zeros((*first.scores.shape[:-1], len(units)))
    for window, unit_numbers in zip(windows, numbers, strict=True):
        np.add.at(sums.T, unit_numbers, window.scores.T)  # a view: sums changes
    n_containing = np.bincount(np.concatenate(numbers), minlength=len(units))
    mean = sums / np.maximum(n_containing, 1)
    in_several = n_containing > 1
    if isinstance(units, Units):
        in_several &= ~units.special
    overlap = _disagreement([window.scores for window in windows], numbers, mean, in_several)
    value = float(np.mean([window.target.value for window in windows]))
    rows = _rows(windows, pieces, shares, n_windows)
    return replace(
        first,
        units=units,
        scores=sums / count if shares else mean,
        target=replace(first.target, value=value),
        diagnostics=_diagnostics(windows, count if shares else 1)
        | {"windows": float(n_windows), "overlap_disagreement": overlap},
        caveats=_caveats(windows, n_windows, overlap, shares),
        row_diagnostics=tuple(row.diagnostics for row in rows),
        row_caveats=tuple(row.caveats for row in rows),
    )


def _rows(windows: Sequence[Explanation], pieces: Units, shares: bool, n_windows: int) -> list[Explanation]:
    """Each row joined by itself, where rows have diagnostics and caveats of their own; else none."""
    labels = windows[0].rows[0][1] if windows[0].row_caveats else ()
    return [stitched([window.row(label) for window in windows], pieces, shares, n_windows) for label in labels]


@dataclass(frozen=True)
class _Numbering:
    """The units of a whole text, looked up by text and characters."""

    units: Units

    def numbers_of(self, part: Units) -> np.ndarray:
        """For each unit of a window its number in the whole text; special tokens are matched by their order."""
        numbers = np.zeros(len(part), dtype=np.int64)
        numbers[part.special] = np.flatnonzero(self.units.special)[: part.special.sum()]
        for text in set(part.segment) - {SPECIAL}:
            here = np.array(part.segment) == text
            numbers[here] = self._of_text(text, np.column_stack([part.start, part.end])[here])
        return numbers

    def _of_text(self, text: int, ranges: np.ndarray) -> np.ndarray:
        """The numbers of units with these ranges of characters [unit 2], neighbours in one text.

        Several pieces may stand for one character, so ranges alone do not tell them apart; their order does. Where a
        window cuts a word or a sentence, its ranges are no ranges of the whole text; then each unit is the last one
        that starts where it does or before.
        """
        numbers = np.flatnonzero(np.array(self.units.segment) == text)
        whole = np.column_stack([self.units.start, self.units.end])[numbers]
        for first in np.flatnonzero((whole == ranges[0]).all(1)):
            if np.array_equal(whole[first : first + len(ranges)], ranges):
                return numbers[first : first + len(ranges)]
        return numbers[np.maximum(np.searchsorted(whole[:, 0], ranges[:, 0], side="right") - 1, 0)]


def joined_units(
    parts: Sequence[Units | Spans], pieces: Units, example: Example
) -> tuple[Units | Spans, list[np.ndarray]]:
    """The whole text's units or spans, and for each window its own units' numbers among them."""
    kind = parts[0].parts.kind if isinstance(parts[0], Spans) else parts[0].kind
    whole = coarsen(pieces, kind, example.segments)[0]  # type: ignore[arg-type]
    if not isinstance(parts[0], Spans):
        return whole, [_Numbering(whole).numbers_of(part) for part in parts]  # type: ignore[arg-type]
    numbers = [_Numbering(whole).numbers_of(part.parts) for part in parts]  # type: ignore[union-attr]
    ends = [
        (unit_numbers[part.first], unit_numbers[part.last])  # type: ignore[union-attr]
        for part, unit_numbers in zip(parts, numbers, strict=True)
    ]
    keys = [first * len(whole) + last for first, last in ends]
    known, order = np.unique(np.concatenate(keys), return_inverse=True)
    span_numbers = np.split(order, np.cumsum([len(key) for key in keys])[:-1])
    return Spans(whole, known // len(whole), known % len(whole)), span_numbers


def _disagreement(
    scores: Sequence[np.ndarray], numbers: Sequence[np.ndarray], mean: np.ndarray, in_several: np.ndarray
) -> float:
    """Sum of |score - mean over the windows| / sum of |score|, over units in several windows.

    scores: each window's [*rows, unit]. numbers: each window's units in the whole text. mean: [*rows, unit], of the
    whole text. in_several: [unit] bool, which units count.
    """
    pairs = list(zip(scores, numbers, strict=True))
    apart = sum(np.abs(window_scores - mean[..., unit])[..., in_several[unit]].sum() for window_scores, unit in pairs)
    size = sum(np.abs(window_scores)[..., in_several[unit]].sum() for window_scores, unit in pairs)
    return float(apart / size) if size > 0 else 0.0


def _diagnostics(windows: Sequence[Explanation], divisor: int) -> dict[str, float]:
    """The worst window's; divisor: what scores, and so their resolution, were divided by."""
    worst = {
        name: worst_of(name, [window.diagnostics[name] for window in windows])
        for name in windows[0].diagnostics
        if all(name in window.diagnostics for window in windows)
    }
    return worst | ({"resolution": worst["resolution"] / divisor} if "resolution" in worst else {})


def _caveats(windows: Sequence[Explanation], n_windows: int, overlap: float, shares: bool) -> tuple[str, ...]:
    count = len(windows)
    twice = "counts in both" if shares else "has the mean of its two scores"
    explained = OF_THE_MEAN if windows[0].target.output in ("probability", "loss") else OF_EACH
    where = "" if count == n_windows else f", and what is explained stands in {count} of {n_windows} windows"
    about_windows = (
        f"The text is longer than the model reads. It was read in {n_windows} overlapping windows{where}; "
        f"{explained}, and what stands in two windows {twice}."
    )
    unsure = (
        f"Where windows overlap, their scores differ by {overlap:.0%}: they depend on where the windows were cut.",
    )
    alike: dict[str, list[str]] = {}  # caveats that differ in their numbers alone
    for caveat in (caveat for window in windows for caveat in window.caveats):
        alike.setdefault(NUMBER.sub("#", caveat), []).append(caveat)
    shared = [_of_several(caveats, count) for caveats in alike.values()]
    return (about_windows, *(unsure if overlap > DISAGREEMENT else ()), *shared)


def _of_several(caveats: Sequence[str], count: int) -> str:
    """One caveat of several windows: unchanged where all are equal, else the worst one and the number of windows."""
    if len(caveats) == count and len(set(caveats)) == 1:
        return caveats[0]
    worst = max(caveats, key=lambda caveat: [float(digits) for digits in NUMBER.findall(caveat)])
    return f"In {len(caveats)} of {count} windows{', at worst' if len(set(caveats)) > 1 else ''}: {worst}"


# Explanations by passage: methods that take units out take whole passages out, scores of all others are added up.


def with_passages(batch: Batch, passages: Sequence[Sequence[str]], rest: Rest = "together") -> Batch:
    """The batch with the passages of each example's first text named; raises `BadInput` where one is not there.

    rest: whether what stands between two passages is a unit together, or each of its words.
    """
    units = tuple(
        replace(of_text, passages=with_rest(example, passages_in(example, of_example), rest))
        for of_text, example, of_example in zip(batch.units, batch.examples, passages, strict=True)
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
    for example_index, example in enumerate(batch.examples):
        fine = batch.units[example_index] if scores.units is None else scores.units[example_index]
        if not isinstance(fine, Units):
            raise ModelCannot("Scores of spans cannot be added up by passage; leave passages= away.")
        fine = replace(fine, passages=batch.units[example_index].passages)
        coarse, index = coarsen(fine, PASSAGE, example.segments)  # type: ignore[arg-type]  # no kind that users name
        units.append(replace(coarse, passages=()))
        values.append(_added_up(scores.values[example_index], index, len(coarse)))
    return replace(scores, units=tuple(units), values=tuple(values))


def _added_up(values: Tensor, index: Sequence[int], count: int) -> Tensor:
    """[*rows unit] -> [*rows passage]"""
    sums = torch.zeros(*values.shape[:-1], count, dtype=values.dtype, device=values.device)
    return sums.index_add(-1, torch.tensor(index, device=values.device), values)
