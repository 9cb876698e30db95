"""From judged values to the table: means with intervals, distances from chance, curves and caveats."""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.core.foundation.catalogue import Call
from pellucid.core.results.check_outcome import CheckOutcome
from pellucid.core.results.table import CEILING, Cell, Curve, Table
from pellucid.core.results.trust_card import TrustCard
from pellucid.core.text.trained_texts import seen_caveats
from pellucid.evaluation.comparison.caveats import caveats
from pellucid.evaluation.comparison.ceiling import ceiling_values
from pellucid.evaluation.comparison.comparison import Comparison, plain_settings
from pellucid.evaluation.comparison.judged_part import JudgedPart, joined
from pellucid.evaluation.shared.case import Judged
from pellucid.evaluation.shared.metric_values import MetricValues
from pellucid.evaluation.shared.summary import (
    bootstrap_interval,
    combined,
    curve_intervals,
    judged_rows,
    paired_difference,
)
from pellucid.evaluation.trust.check_evidence import failures_of, seconds_of, unmade_checks
from pellucid.evaluation.trust.leads import leads_over_chance
from pellucid.evaluation.trust.trust_card import trust_card

Values = Mapping[tuple[str, str], MetricValues]


def comparison_table(
    comparison: Comparison, parts: Sequence[JudgedPart], outcomes: Sequence[CheckOutcome] = ()
) -> Table:
    """The table of a comparison from the values of all its parts, in order.

    Several draws are averaged. Where chance is among the methods, the others are compared with it. Metrics that need
    marked evidence are left out where no example has any. outcomes: of the checks that were made.
    """
    judged = joined(parts)
    methods = [call.title for call in comparison.request.calls]
    pairs = [(method, call) for method in methods for call in comparison.metrics]
    bootstrap = {"resamples": comparison.resamples, "seed": comparison.request.seed}
    cells = (_cell(method, call, judged.values, comparison.chance, bootstrap) for method, call in pairs)
    curves = (
        _curve(method, call.title, judged.values[method, call.title], bootstrap) for method, call in pairs
    )
    about = _about(comparison) | bootstrap | {"rows": judged.rows, "tokens": judged.tokens}
    if judged.heaviest.texts:
        about["heaviest_spans"] = judged.heaviest.record()
    return Table(
        tuple(cells),
        tuple(curve for curve in curves if curve is not None),
        about,
        _caveats(comparison, judged),
        tuple(outcomes),
        _card(comparison, judged.values, outcomes),
        _ceiling(comparison, judged.values, bootstrap),
    )


def _ceiling(comparison: Comparison, values: Values, bootstrap: Mapping[str, int]) -> tuple[Cell, ...]:
    """How far people agree under each metric that judges plausibility, where several marked a text."""
    of_people = ceiling_values(comparison)
    both = {**values, **{(CEILING, metric): one for metric, one in of_people.items()}}
    judged = [call for call in comparison.metrics if call.title in of_people]
    return tuple(_cell(CEILING, call, both, comparison.chance, bootstrap) for call in judged)


def _card(comparison: Comparison, values: Values, outcomes: Sequence[CheckOutcome]) -> TrustCard | None:
    """Which methods values and checks recommend; None where chance is not among them."""
    if comparison.chance is None:
        return None
    methods = [call.title for call in comparison.request.calls]
    leads = leads_over_chance(values, methods, comparison.chance, comparison.metrics)
    return trust_card(
        comparison.request.model.name,
        len(comparison.examples),
        leads,
        failures=failures_of(outcomes),
        seconds=seconds_of(outcomes),
        unmeasured=unmade_checks(outcomes),
    )


def _caveats(comparison: Comparison, judged: JudgedPart) -> tuple[str, ...]:
    left_out = [call for call in comparison.calls if call not in comparison.metrics]
    return (
        *seen_caveats(comparison.request.model, comparison.examples),
        *judged.heaviest.cautions(),
        *caveats(comparison.metrics, left_out, comparison.examples, comparison.chance is not None),
    )


def _cell(method: str, call: Call, values: Values, chance: str | None, bootstrap: Mapping[str, int]) -> Cell:
    of_method = values[method, call.title]
    columns, combine = of_method.columns.mean(0), of_method.combine
    over = None
    if chance is not None and method != chance:
        over = paired_difference(columns, values[chance, call.title].columns.mean(0), combine, **bootstrap)
    return Cell(
        method=method,
        metric=call.title,
        value=bootstrap_interval(columns, combine, **bootstrap),
        n=len(judged_rows(columns)),
        better=call.entry.facts["better"],
        over_chance=over,
        spread=_spread(of_method),
        settings=plain_settings(call),
    )


def _spread(values: MetricValues) -> float | None:
    """The standard deviation of the draws' means, where there are several."""
    numbers = [combined(columns, values.combine) for columns in values.columns]
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else None


def _curve(method: str, metric: str, values: MetricValues, bootstrap: Mapping[str, int]) -> Curve | None:
    if values.curve is None or values.grid is None:
        return None
    judged = Judged(values.columns[0], values.combine, values.curve, values.grid)
    lines = (tuple(line.tolist()) for line in (values.grid, *curve_intervals(judged, **bootstrap)))
    return Curve(method, metric, *lines)


def _about(comparison: Comparison) -> dict[str, object]:
    request = comparison.request
    return {
        "model": request.model.name,
        "model_hash": request.model_hash,
        "examples": len(comparison.examples),
        "target": comparison.target.in_words(request.model.labels),
        "methods": {call.title: plain_settings(call) for call in request.calls},
    }
