"""The ceiling of metrics that judge plausibility: how far the people who marked the texts agree among themselves."""

from dataclasses import replace

import numpy as np

from pellucid.core.foundation.catalogue import Call
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.prediction import Explained, Prediction
from pellucid.core.results.table import CEILING
from pellucid.core.text.example import ANNOTATORS, Example, annotators_of, annotators_record, marked
from pellucid.core.text.units import coarsen
from pellucid.evaluation.comparison.comparison import Comparison, needs_marks
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.metric_values import MetricValues


def ceiling_values(comparison: Comparison) -> dict[str, MetricValues]:
    """Metric's title -> values: each annotator is judged as a method is, by the marks of the others, and these are averaged.

    An annotator's scores are 1 at marked words and 0 elsewhere, and as many words are selected as were marked, unless the metric has a
    budget of its own. Texts that fewer than two people marked are nan; no metric is judged where all are.
    """
    judges = [call for call in comparison.metrics if needs_marks(call) and _judges_people(call)]
    model = comparison.request.model
    cases = [_cases(model, example) for example in comparison.examples] if judges else []
    return {call.title: _values(call, cases) for call in judges} if any(cases) else {}


def _judges_people(call: Call) -> bool:
    return bool(call.entry.facts["judges"] == "plausibility")


def _values(call: Call, cases: list[list[Case]]) -> MetricValues:
    judged = [[call(case) for case in of_example] for of_example in cases]
    first: Judged = next(one for of_example in judged for one in of_example)
    unknown = np.full(first.columns.shape[1], np.nan)
    rows = [np.mean([one.columns[0] for one in of], axis=0) if of else unknown for of in judged]
    return MetricValues(np.array(rows)[None], first.combine)


def _cases(model: Model, example: Example) -> list[Case]:
    """A case for each annotator of a text, with the others' marks as the text's; none below two who marked a word."""
    everyone = annotators_of(example)
    if len(everyone) < 2:
        return []
    words = coarsen(model.encode([example]).units[0], "word", example.segments)[0]
    masks = [np.array(marked(words, marks)) for marks in everyone]
    some = [number for number, mask in enumerate(masks) if mask.any()]
    if len(some) < 2:
        return []
    cases = []
    for number in some:
        others = [everyone[other] for other in some if other != number]
        meta = dict(example.meta) | {ANNOTATORS: annotators_record(others)}
        judged = replace(example, rationales=(), meta=meta)
        scores = np.zeros(len(words), dtype=np.float32)
        scores[list(words.content)] = masks[number]
        explanation = Explanation(
            judged,
            words,
            scores,
            # Nobody asked the model: metrics that judge plausibility read scores and marks alone.
            Explained(model.labels[0], None, "logit", 0.0),
            Prediction(model.labels[0], model.labels, (0.0,) * len(model.labels), ()),
            CEILING,
            {},
            0,
            model.name,
            "",
        )
        share = float(masks[number].mean())
        cases.append(Case(model, model.encode([judged]), [explanation], scheduler_for(model), share))
    return cases
