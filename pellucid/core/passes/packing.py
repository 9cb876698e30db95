"""Which rows may share a pass: found out by running rows together and alone, once for each model and size of text.

A network may read its padding (a maximum or a mean over all places, a recurrence that runs on) or its neighbours. No list
of names can say so, and few texts show it: so the trial takes texts with hardly a word left, beside a long one, and fills the
padding with noise, which a network that leaves padding alone cannot see.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from pellucid.core.foundation.errors import PellucidError
from pellucid.core.passes.batch import Row, extent
from pellucid.core.passes.model import Model, Packing
from pellucid.core.passes.parity import residuals, tolerance
from pellucid.core.passes.scheduler import Scheduler, default_budget
from pellucid.core.passes.trace import Trace
from pellucid.core.text.units import SPECIAL

MOST, ENOUGH = 8, 4  # rows of a trial; one of fewer different rows is not remembered
SHORT, CUT = (
    128,
    32,
)  # positions: texts up to the first have one trial, with a text of no more than the second
SAME = 0.5  # of the guard's tolerance: when two answers count as one
NOISE = 30.0  # times the size of the text's own embeddings


def scheduler_for(model: Model, tokens: int | None = None) -> Scheduler:
    """A scheduler that packs rows as this model allows; tokens: padded tokens a pack (None: what keeps its device busy)."""
    return Scheduler(tokens or default_budget(model.device), partial(packing_of, model))


def packing_of(model: Model, rows: Sequence[Row], budget: int) -> Packing:
    """How rows like these may be packed: "padded", "equal" (rows of one length together) or "alone".

    budget: padded tokens that a pack has room for.
    """
    by_length = model.unpadded == "equal"  # of a function, whose texts may cost money, one trial has to do
    size = max(SHORT, 1 << (max(map(extent, rows)) - 1).bit_length()) if by_length else 0
    if size in model.packings:
        return model.packings[size]
    trial_rows = _trial_rows(rows, budget if by_length else 0)
    packing = _tried(model, trial_rows)
    if len(trial_rows) >= ENOUGH:
        model.packings[size] = packing
    return packing


def _tried(model: Model, rows: Sequence[Row]) -> Packing:
    try:
        return _compared(model, rows)
    except PellucidError:  # too short a text for the network, say: then no row is asked to bear another
        return "alone"


def _compared(model: Model, rows: Sequence[Row]) -> Packing:
    with torch.inference_mode(False), torch.no_grad():
        alone = [model.trace([row]) for row in rows]
        if _same(model, alone, model.trace(rows, embeddings=_noised(model, alone))):
            return "padded"
        shortest = min(map(len, rows))
        equal = [number for number, row in enumerate(rows) if len(row) == shortest]
        if model.unpadded == "alone" or len(equal) < 2:
            return "alone"
        together = model.trace([rows[number] for number in equal])
        return "equal" if _same(model, [alone[number] for number in equal], together) else "alone"


def _same(model: Model, alone: Sequence[Trace], together: Trace) -> bool:
    """Whether rows get the logits that they get alone; also where both are no numbers."""
    single = torch.cat([trace.logits for trace in alone])
    return bool((residuals(together.logits, single) <= SAME * tolerance(model, single.dtype)).all())


def _noised(model: Model, alone: Sequence[Trace]) -> Tensor | None:
    """[row unit width]: the rows' own embeddings and noise behind them; None where they cannot be replaced."""
    if "gradient" not in model.capabilities:
        return None
    words = [trace.embeddings[0] for trace in alone]
    size = NOISE * torch.cat(words).float().square().mean().sqrt()
    shape = (len(words), max(map(len, words)), words[0].shape[-1])
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(0)) * size.cpu()
    noised = noise.to(words[0])
    for line, own in zip(noised, words, strict=True):
        line[: len(own)] = own
    return noised


def _trial_rows(rows: Sequence[Row], budget: int) -> list[Row]:
    """The longest row, its half, and rows of which one piece of text is left, evenly from all of them."""
    longest = max(rows, key=len).closed()
    if len(longest) <= SHORT:
        longest = _left(longest, range(min(CUT, len(longest))))
    count = max(ENOUGH, min(MOST, budget // max(1, len(longest)))) - 2
    pieces = {
        row.ids[n]: (row, n) for row in rows for n, segment in enumerate(row.segments) if segment != SPECIAL
    }
    chosen = list(pieces.values())[:: max(1, len(pieces) // count)][:count]
    content = [n for n, segment in enumerate(longest.segments) if segment != SPECIAL]
    edits = [_left(row, [n]) for row, n in chosen] + [_left(longest, content[: len(content) // 2])]
    return [longest, *{row.digest: row for row in edits}.values()]


def _left(row: Row, pieces: Sequence[int]) -> Row:
    """What is left of a row when only these pieces of its text stay, closed up."""
    stay = set(pieces)
    special = [n for n, segment in enumerate(row.segments) if segment == SPECIAL]
    return row.keep(sorted(stay.union(special))).closed()
