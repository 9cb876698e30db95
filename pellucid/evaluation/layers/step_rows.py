"""Explanations whose rows are time steps: the states at the pieces of a text, one after the other.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4.1; corrections.md A3.11.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from pellucid.core.explaining.explaining import Request, explain_batch
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import diagnostics
from pellucid.core.foundation.progress import silent
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.explanation import Explanation
from pellucid.core.states.hidden_target import HiddenState
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import steps_of


def in_step_rows(request: Request, examples: Sequence[Example]) -> list[Explanation]:
    """For each text one explanation with a row a step; of diagnostics the worst of all steps.

    The request's target names the layer; its positions are replaced. Texts with a piece at the same number share passes. Raises
    `BadInput` for a text that the model reads in windows, whose steps have no state of their own.
    """
    assert isinstance(request.target, HiddenState)
    model, layer, part = request.model, request.target.layer, request.target.part
    batch = model.encode(examples)
    steps = [steps_of(units) for units in batch.units]
    for example, row, of_text in zip(examples, batch.rows, steps, strict=True):
        if row.windows or not of_text:
            why = "is longer than the model reads at once" if row.windows else "has no piece"
            raise BadInput(f"Text {quoted(example.id)} {why}, so it has no steps; leave it out.")
    by_step: list[dict[int, Explanation]] = [{} for _ in examples]
    for piece in sorted({piece for of_text in steps for piece in of_text}):
        numbers = [number for number, of_text in enumerate(steps) if piece in of_text]
        of_step = replace(request, target=HiddenState(layer, (piece,), part))
        (explained,) = explain_batch(of_step, batch.select(numbers), scheduler_for(model), silent).values()
        for number, one in zip(numbers, explained, strict=True):
            by_step[number][piece] = one
    return [
        joined_steps([rows[piece] for piece in of_text]) for rows, of_text in zip(by_step, steps, strict=True)
    ]


def joined_steps(rows: Sequence[Explanation]) -> Explanation:
    """One text's explanation with a row a step, numbered from 1; its target is that of the last step."""
    names = dict.fromkeys(name for one in rows for name in one.diagnostics)
    worst = {
        name: _worst(name)(one.diagnostics[name] for one in rows if name in one.diagnostics) for name in names
    }
    labels = tuple(str(number) for number in range(1, len(rows) + 1))
    return replace(
        rows[-1],
        rows=(("step", labels),),
        scores=np.stack([one.scores for one in rows]),
        diagnostics=worst,
        caveats=_caveats([caveat for one in rows for caveat in one.caveats]),
        row_diagnostics=tuple(one.diagnostics for one in rows),
        row_caveats=tuple(one.caveats for one in rows),
    )


def _caveats(sentences: Sequence[str]) -> tuple[str, ...]:
    """The caveats of all steps; of those that differ in numbers alone the first, and how many more there are."""
    alike: dict[str, list[str]] = {}
    for sentence in sentences:
        alike.setdefault(re.sub(r"[\d.,]*\d", "#", sentence), []).append(sentence)
    return tuple(f"{same[0]}{_more(same)}" for same in alike.values())


def _more(same: Sequence[str]) -> str:
    if len(same) == 1:
        return ""
    return f" So in {len(same)} steps" + (", with their own numbers." if len(set(same)) > 1 else ".")


def _worst(name: str) -> Callable[[Iterable[float]], float]:
    known = name in diagnostics.names() and diagnostics.get(name).facts["worst"] == "lowest"
    return min if known else max
