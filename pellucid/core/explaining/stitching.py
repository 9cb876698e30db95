"""One explanation from those of a text's windows, joined by character offset.

What is explained is the mean of the windows' values (for a probability or loss see `window_answers`), so a unit's score is the sum over the windows that hold it,
divided by the number of windows: sums are kept, and what stands in two windows counts in both. Scores that are no
shares of a sum, such as probabilities, are the mean over the windows that hold the unit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.core.explaining.diagnostics import worst_of
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL, Spans, Units, coarsen

OF_EACH = "what is explained is the mean of their values"
OF_THE_MEAN = "its probability or loss is that of their mean logits, each window is explained while the others stay as they are"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
DISAGREEMENT = 0.5  # a third is what two random draws would have


def stitched(
    windows: Sequence[Explanation], pieces: Units, shares: bool = True, n_windows: int | None = None
) -> Explanation:
    """The explanation of a whole text; pieces: those of the whole text, special tokens included; shares: see `kinds`.

    n_windows: how many the text was read in, where only some of them hold what is explained.

    Diagnostics are the worst window's (see `worst_of`), and besides: `windows`, their number, and
    `overlap_disagreement` in [0, 1]: how much the scores of what stands in several windows differ between them,
    0 where they agree. Caveats that not all windows have say how many do.
    """
    first, count = windows[0], len(windows)
    n_windows = n_windows or count
    if n_windows == 1:
        return first
    units, places = _joined([window.units for window in windows], pieces, first.example)
    sums = np.zeros((*first.scores.shape[:-1], len(units)))
    for window, place in zip(windows, places, strict=True):
        np.add.at(sums.T, place, window.scores.T)  # a view: sums changes
    held = np.bincount(np.concatenate(places), minlength=len(units))
    mean = sums / np.maximum(held, 1)
    overlap = _disagreement([window.scores for window in windows], places, mean, units, held > 1)
    value = float(np.mean([window.target.value for window in windows]))
    return replace(
        first,
        units=units,
        scores=sums / count if shares else mean,
        target=replace(first.target, value=value),
        diagnostics=_diagnostics(windows) | {"windows": float(n_windows), "overlap_disagreement": overlap},
        caveats=_caveats(windows, n_windows, overlap, shares),
    )


@dataclass(frozen=True)
class _Numbering:
    """Units of a whole text, found again by text and character."""

    units: Units

    def places(self, part: Units) -> np.ndarray:
        """For each unit of a window its number in the whole; special tokens go by their order."""
        special = iter(np.flatnonzero(self.units.special))
        starts = {text: self._starts(text) for text in set(part.segment) - {SPECIAL}}
        return np.array(
            [
                next(special) if text == SPECIAL else _last_at(*starts[text], start)
                for text, start in zip(part.segment, part.start, strict=True)
            ],
            dtype=np.int64,
        )

    def _starts(self, text: int) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.flatnonzero(np.array(self.units.segment) == text)
        return np.array(self.units.start)[numbers], numbers


def _last_at(starts: np.ndarray, numbers: np.ndarray, place: int) -> int:
    """The number of the last unit that starts at a character or before it."""
    return int(numbers[max(int(np.searchsorted(starts, place, side="right")) - 1, 0)])


def _joined(
    parts: Sequence[Units | Spans], pieces: Units, example: Example
) -> tuple[Units | Spans, list[np.ndarray]]:
    """The whole text's units or spans, and for each window its own units' numbers among them."""
    kind = parts[0].parts.kind if isinstance(parts[0], Spans) else parts[0].kind
    whole = coarsen(pieces, kind, example.segments)[0]  # type: ignore[arg-type]
    if not isinstance(parts[0], Spans):
        return whole, [_Numbering(whole).places(part) for part in parts]  # type: ignore[arg-type]
    numbers = [_Numbering(whole).places(part.parts) for part in parts]  # type: ignore[union-attr]
    ends = [
        (place[part.first], place[part.last])  # type: ignore[union-attr]
        for part, place in zip(parts, numbers, strict=True)
    ]
    keys = [first * len(whole) + last for first, last in ends]
    known, order = np.unique(np.concatenate(keys), return_inverse=True)
    places = np.split(order, np.cumsum([len(key) for key in keys])[:-1])
    return Spans(whole, known // len(whole), known % len(whole)), places


def _disagreement(
    scores: Sequence[np.ndarray],
    places: Sequence[np.ndarray],
    mean: np.ndarray,
    units: Units | Spans,
    shared: np.ndarray,
) -> float:
    """Sum of |score - mean over the windows| / sum of |score|, over what stands in several windows."""
    if isinstance(units, Units):
        shared = shared & ~units.special
    apart = sum(
        np.abs(own - mean[..., place])[..., shared[place]].sum()
        for own, place in zip(scores, places, strict=True)
    )
    size = sum(np.abs(own)[..., shared[place]].sum() for own, place in zip(scores, places, strict=True))
    return float(apart / size) if size > 0 else 0.0


def _diagnostics(windows: Sequence[Explanation]) -> dict[str, float]:
    return {
        name: worst_of(name, [window.diagnostics[name] for window in windows])
        for name in windows[0].diagnostics
        if all(name in window.diagnostics for window in windows)
    }


def _caveats(windows: Sequence[Explanation], n_windows: int, overlap: float, shares: bool) -> tuple[str, ...]:
    count = len(windows)
    twice = "counts in both" if shares else "has the mean of its two scores"
    explained = OF_THE_MEAN if windows[0].target.output in ("probability", "loss") else OF_EACH
    where = "" if count == n_windows else f", and what is explained stands in {count} of {n_windows} windows"
    own = (
        f"The text is longer than the model reads. It was read in {n_windows} overlapping windows{where}; "
        f"{explained}, and what stands in two windows {twice}."
    )
    unsure = (
        f"Where windows overlap, their scores differ by {overlap:.0%}: they depend on where the windows were cut.",
    )
    alike: dict[str, list[str]] = {}  # caveats that differ in their numbers alone
    for caveat in (caveat for window in windows for caveat in window.caveats):
        alike.setdefault(NUMBER.sub("#", caveat), []).append(caveat)
    shared = [_of_several(said, count) for said in alike.values()]
    return (own, *(unsure if overlap > DISAGREEMENT else ()), *shared)


def _of_several(said: Sequence[str], count: int) -> str:
    """One caveat for those of several windows: as it is where all say the same, else how many do and the worst."""
    if len(said) == count and len(set(said)) == 1:
        return said[0]
    worst = max(said, key=lambda caveat: [float(number) for number in NUMBER.findall(caveat)])
    return f"In {len(said)} of {count} windows{', at worst' if len(set(said)) > 1 else ''}: {worst}"
