"""Metrics of a self-explaining model's spans."""

import numpy as np

from pellucid.base.checks import at_least
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case, Judged
from pellucid.comparison.removed_words import alone, evidence, falls, numbers_of
from pellucid.run.batch import Operator
from pellucid.run.blank import generator_for
from pellucid.run.read_alone import others_alike
from pellucid.text.ranges import mean_of_orders
from pellucid.text.units import Kind


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def span_comprehensiveness(
    case: Case, *, n_spans: int = 1, unit: Kind = "word", operator: Operator = "absent"
) -> Judged:
    """Fall of the explained class's probability without the heaviest spans; -1 to 1, higher is better.

    How far the prediction falls once the heaviest spans are taken away.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2, for whole spans in place of shares of a text; Sun et al. (2020), "Self-Explaining Structures
    Improve NLP Models", take one span (corrections.md A0.19).

    n_spans: how many spans that do not overlap. unit: what spans are made of where a method does not score spans.
    """
    edited = [
        [case.without(example, numbers_of(spans), kind, operator) for spans in choices]
        for example, (kind, choices) in enumerate(evidence(case, n_spans, unit))
    ]
    return Judged(falls(case, edited)[:, None])


@metrics.add(better="lower", lowest=-1.0, highest=1.0, usual=False)
def span_sufficiency(case: Case, *, n_spans: int = 1, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Fall of the explained class's probability with the heaviest spans alone; -1 to 1, lower is better.

    How far the prediction falls when only the heaviest spans are kept.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2, for whole spans in place of shares of a text; Sun et al. (2020), "Self-Explaining Structures
    Improve NLP Models", take one span (corrections.md A0.19).

    n_spans: how many spans that do not overlap. unit: what spans are made of where a method does not score spans.
    """
    edited = [
        [alone(case, example, kind, numbers_of(spans), operator) for spans in choices]
        for example, (kind, choices) in enumerate(evidence(case, n_spans, unit))
    ]
    return Judged(falls(case, edited)[:, None])


@metrics.add(better="higher", lowest=-1.0, highest=1.0, of_classes=True, usual=False)
def span_over_random(
    case: Case, *, draws: int = 10, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Agreement of the heaviest span less that of random spans of its length; -1 to 1, higher is better.

    How much more often the heaviest span alone gets the prediction than random spans of its length.

    Source: The floor that extraction needs: a long span agrees whatever was heaviest. Compare with Sun
    et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4.3, which reports no such
    floor.

    draws: how many random spans a text at most; all other spans of that length where there are fewer. A text without
    another span of that length is not judged. unit: what spans are made of where a method does not score spans.
    """
    at_least("draws", draws, 1)
    heaviest = evidence(case, 1, unit)
    spans = [
        [_spans(case, example, kind, choice, draws=draws, seed=seed) for choice in choices]
        for example, (kind, choices) in enumerate(heaviest)
    ]
    variants = [
        [alone(case, example, kind, span, operator) for choice in choices for span in choice]
        for example, ((kind, _), choices) in enumerate(zip(heaviest, spans, strict=True))
    ]
    predictions = zip(case.predictions(variants), case.classes("prediction"), spans, strict=True)
    return Judged(np.array([[_over(predicted == label, choices)] for predicted, label, choices in predictions]))


def _spans(case: Case, example: int, kind: Kind, heaviest: list[range], *, draws: int, seed: int) -> list[range]:
    """The heaviest span, then the random ones; none where the text has no span."""
    if not heaviest:
        return []
    generator = generator_for(case.batch.rows[example], "span_over_random", seed)
    segments = case.segments(kind)[example].tolist()
    return [heaviest[0], *others_alike(heaviest[0], segments, draws, generator)]


def _over(agrees: np.ndarray, choices: list[list[range]]) -> float:
    """The mean over choices of equally heavy spans; nan where none has another span of its length."""
    parts = np.split(agrees, np.cumsum([len(spans) for spans in choices])[:-1])
    differences = np.array([part[0] - part[1:].mean() for part in parts if len(part) > 1])
    return float(mean_of_orders(differences)) if len(differences) else float("nan")


@metrics.add(better="higher", lowest=0.0, highest=1.0, of_classes=True, usual=False)
def span_agreement(case: Case, *, n_spans: int = 1, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """1 where the heaviest spans alone get the prediction of the whole text, else 0; equally heavy ones share; higher
    is better.

    Whether the model, given the heaviest spans alone, predicts what it predicts for the whole text.

    Source: The paper's own check is whether the extracted span still carries the label: Sun et al.
    (2020), "Self-Explaining Structures Improve NLP Models", section 4.3. A span's vector has seen the
    whole text; its words, read alone, have not.

    Longer spans agree more easily: read it beside `span_over_random`. n_spans: how many spans that do not overlap.
    unit: what spans are made of where a method does not score spans.
    """
    edited = [
        [alone(case, example, kind, numbers_of(spans), operator) for spans in choices]
        for example, (kind, choices) in enumerate(evidence(case, n_spans, unit))
    ]
    predictions = zip(case.predictions(edited), case.classes("prediction"), strict=True)
    return Judged(np.array([[(predicted == label).mean()] for predicted, label in predictions]))
