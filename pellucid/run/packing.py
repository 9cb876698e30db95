"""Which rows may share a pass: a trial runs rows together and alone, once for each model and size of text.

A network may read its padding (a maximum or a mean over all positions, a recurrence that runs on) or its neighbours. No
list of names can tell which networks do, and few texts show it. So the trial puts texts of one piece beside a long
text, and fills the padding with noise: only a network that reads its padding answers otherwise then. The padding's own
vector is tried too: where it is no number, zero times it is none either.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from pellucid.base.errors import PellucidError
from pellucid.run.batch import Row
from pellucid.run.model import Model, Packing
from pellucid.run.parity import residuals
from pellucid.run.rounding import tolerance
from pellucid.run.scheduler import Scheduler, default_budget
from pellucid.run.trace import Trace
from pellucid.text.units import SPECIAL

MOST, ENOUGH = 8, 4  # the most rows of a trial; a trial of fewer rows than the second is not remembered
# Positions: all texts of up to SHORT share one trial, whose longest text is cut to CUT.
SHORT, CUT = 128, 32
SAME = 0.5  # of the guard's tolerance: answers that are nearer than this count as equal
NOISE = 30.0  # times the size of the text's own embeddings


def scheduler_for(model: Model, tokens: int | None = None) -> Scheduler:
    """A scheduler that packs rows as this model allows; tokens: padded tokens a pack (None: the default of its device,
    or of a service).
    """
    usual = getattr(model, "pack_tokens", None) or default_budget(model.device)
    return Scheduler(tokens or usual, partial(packing_of, model))


def packing_of(model: Model, rows: Sequence[Row], budget: int) -> Packing:
    """How rows like these may be packed: "padded", "equal" (rows of one length together) or "alone".

    budget: padded tokens that a pack has room for.
    """
    by_length = model.unpadded == "equal"  # for a function, whose calls may cost money, there is only one trial
    size = max(SHORT, 1 << (max(row.extent for row in rows) - 1).bit_length()) if by_length else 0
    if size in model.packings:
        return model.packings[size]
    trial_rows = _trial_rows(rows, budget if by_length else 0)
    packing = _packing_by_trial(model, trial_rows)
    if len(trial_rows) >= ENOUGH:
        model.packings[size] = packing
    return packing


def _packing_by_trial(model: Model, rows: Sequence[Row]) -> Packing:
    try:
        return _loosest_packing(model, rows)
    except PellucidError:  # for example, a text that is too short for the network
        return "alone"


def _loosest_packing(model: Model, rows: Sequence[Row]) -> Packing:
    """The first of "padded", "equal" and "alone" under which rows get the answers that they get alone."""
    with torch.inference_mode(False), torch.no_grad():
        alone = [model.trace([row]) for row in rows]
        padded = model.trace(rows, embeddings=_with_noise(model, alone))
        # Nothing is known of a function's padding; its calls may cost money.
        if _same(model, alone, padded) and (model.unpadded == "alone" or _pads_with_numbers(model, rows, alone)):
            return "padded"
        shortest = min(map(len, rows))
        equal = [index for index, row in enumerate(rows) if len(row) == shortest]
        if model.unpadded == "alone" or len(equal) < 2:
            return "alone"
        together = model.trace([rows[index] for index in equal])
        return "equal" if _same(model, [alone[index] for index in equal], together) else "alone"


def _pads_with_numbers(model: Model, rows: Sequence[Row], alone: Sequence[Trace]) -> bool:
    """Whether the padding's own vector leaves an answer as it is: two rows show it, the shortest and one that is little
    longer.
    """
    by_length = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    longer = [index for index in by_length if len(rows[index]) > len(rows[by_length[0]])]
    if not longer:
        return True
    pair = [by_length[0], longer[0]]
    return _same(model, [alone[index] for index in pair], model.trace([rows[index] for index in pair]))


def _same(model: Model, alone: Sequence[Trace], together: Trace) -> bool:
    """Whether rows get together the logits that they get alone."""
    single = torch.cat([trace.logits for trace in alone])
    return bool((residuals(together.logits, single) <= SAME * tolerance(model, single.dtype)).all())


def _with_noise(model: Model, alone: Sequence[Trace]) -> Tensor | None:
    """[row unit width]: the rows' own embeddings, and noise as padding; None where embeddings cannot be replaced."""
    if "gradient" not in model.capabilities:
        return None
    embeddings = [trace.embeddings[0] for trace in alone]
    size = NOISE * torch.cat(embeddings).float().square().mean().sqrt()
    shape = (len(embeddings), max(map(len, embeddings)), embeddings[0].shape[-1])
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(0)) * size.cpu()
    padded = noise.to(embeddings[0])
    for line, embedding in zip(padded, embeddings, strict=True):
        line[: len(embedding)] = embedding
    return padded


def _trial_rows(rows: Sequence[Row], budget: int) -> list[Row]:
    """The longest row, half of it, and rows of one piece of text each, evenly from all rows."""
    longest = max(rows, key=len).closed()
    if len(longest) <= SHORT:
        longest = _only(longest, range(min(CUT, len(longest))))
    count = max(ENOUGH, min(MOST, budget // max(1, len(longest)))) - 2
    pieces = {row.ids[n]: (row, n) for row in rows for n, segment in enumerate(row.segments) if segment != SPECIAL}
    single_pieces = list(pieces.values())[:: max(1, len(pieces) // count)][:count]
    content = [n for n, segment in enumerate(longest.segments) if segment != SPECIAL]
    edits = [_only(row, [n]) for row, n in single_pieces] + [_only(longest, content[: len(content) // 2])]
    return [longest, *{row.digest: row for row in edits}.values()]


def _only(row: Row, pieces: Sequence[int]) -> Row:
    """The row with only these pieces of its text and its special tokens, without gaps."""
    special = [n for n, segment in enumerate(row.segments) if segment == SPECIAL]
    return row.keep(sorted({*pieces, *special})).closed()
