"""From judged values to the table: means with intervals, distances from chance, curves and caveats."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.foundation.catalogue import Call
from pellucid.core.results.table import Cell, Curve, Table
from pellucid.core.text.trained_texts import seen_caveats
from pellucid.evaluation.comparison.caveats import caveats
from pellucid.evaluation.comparison.comparison import Comparison, plain_settings
from pellucid.evaluation.comparison.judged_part import Answer, JudgedPart, joined
from pellucid.evaluation.shared.case import Judged
from pellucid.evaluation.shared.summary import (
    bootstrap_interval,
    combined,
    curve_intervals,
    judged_rows,
    paired_difference,
)

Answers = Mapping[tuple[str, str], Answer]


def comparison_table(comparison: Comparison, parts: Sequence[JudgedPart]) -> Table:
    """The table of a comparison, given the values of all its parts in order.

    Several draws are averaged. A method titled chance, if there is one, is what the others are compared with.
    Metrics that need marked evidence are left out when no example has any.
    """
    judged = joined(parts)
    methods = [call.title for call in comparison.request.calls]
    pairs = [(method, call) for method in methods for call in comparison.metrics]
    told = {"resamples": comparison.resamples, "seed": comparison.request.seed}
    cells = (_cell(method, call, judged.answers, comparison.chance, told) for method, call in pairs)
    curves = (_curve(method, call.title, judged.answers[method, call.title], told) for method, call in pairs)
    about = _about(comparison) | told | {"rows": judged.rows, "tokens": judged.tokens}
    if judged.heaviest.texts:
        about["heaviest_spans"] = judged.heaviest.record()
    left_out = [call for call in comparison.calls if call not in comparison.metrics]
    due = caveats(comparison.metrics, left_out, comparison.examples, comparison.chance is not None)
    seen = seen_caveats(comparison.request.model, comparison.examples)
    due = (*seen, *judged.heaviest.cautions(), *due)
    return Table(tuple(cells), tuple(curve for curve in curves if curve is not None), about, due)


def _cell(method: str, call: Call, answers: Answers, chance: str | None, told: Mapping[str, int]) -> Cell:
    answer = answers[method, call.title]
    columns, combine = answer.columns.mean(0), answer.combine
    over = None
    if chance is not None and method != chance:
        over = paired_difference(columns, answers[chance, call.title].columns.mean(0), combine, **told)
    return Cell(
        method=method,
        metric=call.title,
        value=bootstrap_interval(columns, combine, **told),
        n=len(judged_rows(columns)),
        better=call.entry.facts["better"],
        over_chance=over,
        spread=_spread(answer),
        settings=plain_settings(call),
    )


def _spread(answer: Answer) -> float | None:
    """The standard deviation of the draws' means, where there are several."""
    numbers = [combined(columns, answer.combine) for columns in answer.columns]
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else None


def _curve(method: str, metric: str, answer: Answer, told: Mapping[str, int]) -> Curve | None:
    if answer.curve is None or answer.grid is None:
        return None
    judged = Judged(answer.columns[0], answer.combine, answer.curve, answer.grid)
    lines = (tuple(line.tolist()) for line in (answer.grid, *curve_intervals(judged, **told)))
    return Curve(method, metric, *lines)


def _about(comparison: Comparison) -> dict[str, Any]:
    request = comparison.request
    return {
        "model": request.model.name,
        "model_hash": request.model_hash,
        "examples": len(comparison.examples),
        "target": comparison.target.in_words(request.model.labels),
        "methods": {call.title: plain_settings(call) for call in request.calls},
    }
