"""Scores of words that a model writes: a row for each word, and nothing of what comes after it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.errors import ModelCannot
from pellucid.run.batch import Row
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import EVERY as STATES
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import WRITING, Scores
from pellucid.run.target import Explainable
from pellucid.run.word import EVERY, ResolvedWords
from pellucid.text.units import Spans, Units


def scores_of(call: Call, forward: ForwardPass, target: Explainable) -> Scores:
    """A method's scores for a target; for words one call a row, all of them on the same pass.

    Of a model that writes, words that come after what is explained score exactly 0, for a state as for a word.

    Scores of units that stand at the explained word or after it are 0: the model has not read them when it begins the word, so
    whatever a method gives them is noise of its own, or what the word's later pieces owe to its first ones. Rows of the method's own, such as draws, come behind
    those of words.
    """
    if isinstance(target, ResolvedState) and WRITING in forward.model.capabilities:
        return _without_unread(call(forward, target), forward, target)
    if not isinstance(target, ResolvedWords):
        return call(forward, target)
    of_rows = [_blanked(call(forward, row), forward, row) for row in target.one_a_row()]
    if target.of.step != EVERY:
        return of_rows[0]
    counts = list(map(len, target.words))
    values = tuple(
        torch.stack([scores.values[number] for scores in of_rows[:count]])
        for number, count in enumerate(counts)
    )
    facts = tuple(
        tuple(scores.facts(number) for scores in of_rows[:count]) for number, count in enumerate(counts)
    )
    rows = tuple((("word", tuple(word.label for word in words)), *of_rows[0].rows) for words in target.words)
    return Scores(values, units=of_rows[0].units, of_rows=facts, rows_of=rows)


def _blanked(scores: Scores, forward: ForwardPass, target: ResolvedWords) -> Scores:
    units = scores.units or forward.batch.units
    values = tuple(map(_before, scores.values, units, target.words))
    return replace(scores, values=values)


def _without_unread(scores: Scores, forward: ForwardPass, target: ResolvedState) -> Scores:
    """The scores, 0 for written words that stand behind the last piece whose state is explained."""
    batch, values = forward.batch, []
    for number, of_example in enumerate(scores.values):
        units = (scores.units or batch.units)[number]
        begins = _first_unread(batch.rows[number], batch.units[number], target)
        is_cut = begins is not None and isinstance(units, Units)
        values.append(_cut(of_example, units, begins) if is_cut else of_example)  # type: ignore[arg-type]
    return replace(scores, values=tuple(values))


def _first_unread(row: Row, pieces: Units, target: ResolvedState) -> int | None:
    """The character at which the first written piece behind the explained ones begins; None where there is none."""
    read = range(len(row)) if target.of.positions == STATES else target.readout.pieces(row)
    later = [number for number, id in enumerate(row.written) if id >= 0 and number > max(read, default=-1)]
    return pieces.start[later[0]] if later else None


def _before(scores: Tensor, units: object, words: Sequence) -> Tensor:
    """[... unit]: the scores, 0 from the last explained word on."""
    if not words:
        return torch.zeros_like(scores)
    if isinstance(units, Spans):
        return _of_source(scores, units)
    assert isinstance(units, Units)
    return _cut(scores, units, words[-1].begins)


def _cut(scores: Tensor, units: Units, begins: int) -> Tensor:
    """[... unit]: the scores, 0 for units of the written text that begin at this character or after it."""
    later = [
        number
        for number, (segment, start) in enumerate(zip(units.segment, units.start, strict=True))
        if segment == max(units.segment) and start >= begins
    ]
    scores = scores.clone()
    scores[..., later] = 0.0
    return scores


def _of_source(scores: Tensor, units: Spans) -> Tensor:
    """Scores of spans as they are: those of the source all stand before every word."""
    segments = np.array(units.parts.segment)
    if len(units) and (segments[units.last] > 0).any():
        raise ModelCannot("Words that are written are explained by spans of the source alone.")
    return scores
