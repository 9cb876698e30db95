"""From judged values to the table: means with intervals, distances from chance, curves and caveats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pellucid.base.catalogue import Call
from pellucid.comparison.case import Case, Judged
from pellucid.comparison.comparison import Comparison, needs_marks, plain_settings
from pellucid.comparison.judged_part import JudgedPart, curve_intervals, joined
from pellucid.comparison.leads import Lead, fewest_texts_for_marks, leads_over_chance
from pellucid.comparison.trust_card import failures_of, seconds_of, trust_card, unmade_checks
from pellucid.results.bootstrap import (
    MetricValues,
    bootstrap_interval,
    combined,
    judged_rows,
    paired_interval,
)
from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.results.interval import CheckOutcome, TrustCard
from pellucid.results.table import CEILING, LEVEL, Cell, Curve, Table
from pellucid.run.batch import OPERATORS_IN_WORDS
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.text.example import ANNOTATORS, Example, annotators_of, annotators_record, data_of, marked, seen_caveats
from pellucid.text.reading import UnreadTexts, read_words, unread_texts
from pellucid.text.units import coarsen

Values = Mapping[tuple[str, str], MetricValues]


def comparison_table(
    comparison: Comparison,
    parts: Sequence[JudgedPart],
    outcomes: Sequence[CheckOutcome] = (),
    shortcuts: Sequence[str] = (),
) -> Table:
    """The table of a comparison from the values of all its parts, in order.

    Several draws are averaged. Where chance is among the methods, the others are compared with it. Metrics that need
    marked evidence are left out where no example has any. outcomes: of the checks that were made. shortcuts: what
    decides by itself, in sentences for the card.
    """
    judged = joined(parts)
    methods = [call.title for call in comparison.request.calls]
    pairs = [(method, call) for method in methods for call in comparison.metrics]
    bootstrap = {"resamples": comparison.resamples, "seed": comparison.request.seed}
    leads = _leads(comparison.chance, methods, comparison.metrics, judged.values)
    cells = (_cell(method, call, judged.values, leads.get((method, call.title)), bootstrap) for method, call in pairs)
    curves = (_curve(method, call.title, judged.values[method, call.title], bootstrap) for method, call in pairs)
    about = _about(comparison) | bootstrap | {"rows": judged.rows, "tokens": judged.tokens}
    if judged.heaviest.texts:
        about["heaviest_spans"] = judged.heaviest.record()
    unread = _unread(comparison)
    if unread.worst:
        about["texts_with_unread_words"] = f"{len(unread.worst):,} of {unread.n_texts:,}, {unread.n_wholly:,} wholly"
    return Table(
        tuple(cells),
        tuple(curve for curve in curves if curve is not None),
        about,
        (*filter(None, [unread.with_worst]), *_caveats(comparison, judged), *_too_few_for_marks(leads)),
        tuple(outcomes),
        _card(comparison, list(leads.values()), outcomes, shortcuts),
        _ceiling(comparison, judged.values, bootstrap),
    )


def _ceiling(comparison: Comparison, values: Values, bootstrap: Mapping[str, int]) -> tuple[Cell, ...]:
    """How far people agree under each metric that judges plausibility, where several marked a text."""
    of_people = ceiling_values(comparison)
    both = {**values, **{(CEILING, metric): metric_values for metric, metric_values in of_people.items()}}
    judged = [call for call in comparison.metrics if call.title in of_people]
    leads = _leads(comparison.chance, [CEILING], judged, both)
    return tuple(_cell(CEILING, call, both, leads.get((CEILING, call.title)), bootstrap) for call in judged)


def _leads(
    chance: str | None, methods: Sequence[str], judges: Sequence[Call], values: Values
) -> dict[tuple[str, str], Lead]:
    """(method, metric) -> its lead over chance, corrected together; nothing where chance was not judged."""
    leads = leads_over_chance(values, methods, chance, judges) if chance is not None else ()
    return {(lead.method, lead.metric): lead for lead in leads}


def _card(
    comparison: Comparison, leads: Sequence[Lead], outcomes: Sequence[CheckOutcome], shortcuts: Sequence[str]
) -> TrustCard | None:
    """Which methods leads and checks recommend; None where chance is not among them."""
    if comparison.chance is None:
        return None
    return trust_card(
        comparison.request.model.name,
        len(comparison.examples),
        leads,
        failures=failures_of(outcomes),
        seconds=seconds_of(outcomes),
        unmeasured=unmade_checks(outcomes),
        shortcuts=shortcuts,
    )


def _too_few_for_marks(leads: Mapping[tuple[str, str], Lead]) -> list[str]:
    """One sentence where so few texts cannot show that a method differs from random scores."""
    most, needed = max((lead.n for lead in leads.values()), default=0), fewest_texts_for_marks(len(leads))
    if not leads or most >= needed:
        return []
    tests = "test" if len(leads) == 1 else f"{len(leads)} tests together"
    return [
        f"No method can be marked as better or worse than random scores on {_examples(most)}: at {LEVEL * 100:.0f} % "
        f"for {tests} it takes {needed} or more."
    ]


def _unread(comparison: Comparison) -> UnreadTexts:
    """The texts with words that the model cannot read, which methods are judged on as on any others."""
    shares = []
    for part_index in range(comparison.n_parts):
        batch = comparison.request.model.encode([comparison.examples[index] for index in comparison.part(part_index)])
        pairs = zip(batch.examples, batch.units, strict=True)
        shares += [(example.id, read_words(units, example).share) for example, units in pairs]
    return unread_texts(shares)


def _caveats(comparison: Comparison, judged: JudgedPart) -> tuple[str, ...]:
    return (
        *seen_caveats(comparison.request.model, comparison.examples),
        *judged.heaviest.cautions(),
        *_of_values(comparison),
        *caveats(comparison.metrics, comparison.without_marks, comparison.examples, comparison.chance is not None),
    )


def _of_values(comparison: Comparison) -> list[str]:
    """What metrics read of a model that gives a value, and which are left out."""
    model = comparison.request.model
    if model.problem != "regression":
        return []
    (value,) = model.labels
    sentences = [f"The model gives a value, so falls are those of “{value}” in its own unit, not of a probability."]
    if comparison.of_classes:
        names = _listed(call.entry.name for call in comparison.of_classes)
        sentences.append(f"Left out, because the model gives no class, by which they judge: {names}.")
    return sentences


def _cell(method: str, call: Call, values: Values, lead: Lead | None, bootstrap: Mapping[str, int]) -> Cell:
    of_method = values[method, call.title]
    columns, combine = of_method.columns.mean(0), of_method.combine
    better = call.entry.facts["better"]
    over = None
    if lead is not None:
        over = lead.mean if better == "higher" else paired_interval(-lead.by_text[~np.isnan(lead.by_text)])
    return Cell(
        method=method,
        metric=call.title,
        value=bootstrap_interval(columns, combine, **bootstrap),
        n=len(judged_rows(columns)),
        better=better,
        over_chance=over,
        spread=_spread(of_method),
        settings=plain_settings(call),
        p=None if lead is None else lead.p,
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
        "data": data_of([example.id for example in comparison.examples]),
        "target": comparison.target.in_words(request.model.labels),
        "methods": {call.title: plain_settings(call) for call in request.calls},
    }


# The ceiling of metrics that judge plausibility: how far the people who marked the texts agree among themselves.


def ceiling_values(comparison: Comparison) -> dict[str, MetricValues]:
    """Metric's title -> values: each annotator is judged as a method is, by the marks of the others, and these are
    averaged.

    An annotator's scores are 1 at marked words and 0 elsewhere, and as many words are selected as were marked, unless
    the metric has a budget of its own. Texts that fewer than two people marked are nan; no metric is judged where all
    are.
    """
    judges = [call for call in comparison.metrics if needs_marks(call) and _judges_people(call)]
    model = comparison.request.model
    cases = [_cases(model, example) for example in comparison.examples] if judges else []
    return {call.title: _values(call, cases) for call in judges} if any(cases) else {}


def _judges_people(call: Call) -> bool:
    return bool(call.entry.facts["judges"] == "plausibility")


def _values(call: Call, cases: list[list[Case]]) -> MetricValues:
    judged = [[call(case) for case in of_example] for of_example in cases]
    first: Judged = next(judgement for of_example in judged for judgement in of_example)
    unknown = np.full(first.columns.shape[1], np.nan)
    rows = [
        np.mean([judgement.columns[0] for judgement in of_example], axis=0) if of_example else unknown
        for of_example in judged
    ]
    return MetricValues(np.array(rows)[None], first.combine)


def _cases(model: Model, example: Example) -> list[Case]:
    """A case for each annotator of a text, with the others' marks as the text's; none below two who marked a word."""
    everyone = annotators_of(example)
    if len(everyone) < 2:
        return []
    words = coarsen(model.encode([example]).units[0], "word", example.segments)[0]
    masks = [np.array(marked(words, marks)) for marks in everyone]
    some = [index for index, mask in enumerate(masks) if mask.any()]
    if len(some) < 2:
        return []
    cases = []
    for annotator in some:
        others = [everyone[other_annotator] for other_annotator in some if other_annotator != annotator]
        meta = dict(example.meta) | {ANNOTATORS: annotators_record(others)}
        judged = replace(example, rationales=(), meta=meta)
        scores = np.zeros(len(words), dtype=np.float32)
        scores[list(words.content)] = masks[annotator]
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
        share = float(masks[annotator].mean())
        cases.append(Case(model, model.encode([judged]), [explanation], scheduler_for(model), share))
    return cases


# What a reader must know before believing a comparison, in plain words.

FEW = 100


def caveats(
    judged: Sequence[Call],
    left_out: Sequence[Call],
    examples: Sequence[Example],
    has_chance: bool,
) -> tuple[str, ...]:
    """Every caveat that applies, the most general first."""
    marked = sum(bool(annotators_of(example)) for example in examples)
    sentences: list[str] = []
    if len(examples) < FEW:
        count = _examples(len(examples))
        sentences.append(f"Only {count} judged: intervals are wide, and small differences may be luck.")
    if not has_chance:
        sentences.append("Chance was not judged, so no number here can be told from that of random scores.")
    sentences += _by_prediction(judged, examples)
    sentences += _unlike_training(judged)
    plausibility = [call.title for call in judged if call.entry.facts["judges"] == "plausibility"]
    if plausibility:
        sentences.append(_plausibility(plausibility, marked, len(examples)))
        sentences += _several_annotators(plausibility, examples)
    if left_out:
        sentences.append(
            f"Left out, because no example has marked evidence: {_listed(call.title for call in left_out)}."
        )
    return tuple(sentences)


def _unlike_training(judged: Sequence[Call]) -> list[str]:
    """One sentence for each operator in use: the model was not trained on edited texts."""
    by_operator: dict[str, list[str]] = {}
    for call in judged:
        if "operator" in call.settings:
            by_operator.setdefault(str(call.settings["operator"]), []).append(call.title)
    return [
        f"For {_listed(titles)} parts of the text are {OPERATORS_IN_WORDS.get(operator, 'changed')} (operator "
        f"“{operator}”); the model was not trained on such texts and may answer them oddly."
        for operator, titles in by_operator.items()
    ]


def _by_prediction(judged: Sequence[Call], examples: Sequence[Example]) -> list[str]:
    """One sentence where metrics go by the model's own answers although the examples have labels."""
    titles = [call.entry.name for call in judged if call.settings.get("reference") == "prediction"]
    if not titles or not any(example.label for example in examples):
        return []
    verb = "goes" if len(titles) == 1 else "go"
    return [
        f"Some labels are missing, or are no classes of the model, so {_listed(titles)} {verb} by the model's own "
        "predictions instead of the labels."
    ]


def _plausibility(titles: Sequence[str], marked: int, examples: int) -> str:
    verb = "measures" if len(titles) == 1 else "measure"
    share = "" if marked == examples else f" Only {marked} of {_examples(examples)} have such marks."
    few = " That is few: their intervals are wide." if marked < FEW <= examples else ""
    return (
        f"{_listed(titles)} {verb} agreement with the marks that people left in the texts, not whether the "
        f"model used those words.{share}{few}"
    )


def _several_annotators(titles: Sequence[str], examples: Sequence[Example]) -> list[str]:
    """What the row of the annotators is, where several people marked a text."""
    several = sum(len(annotators_of(example)) > 1 for example in examples)
    if not several:
        return []
    return [
        f"For {_listed(titles)}, methods are judged by each annotator, and averaged. The row “{CEILING}” judges each "
        f"annotator by the others, on the {_examples(several)} that several marked: how far people agree is the most "
        f"that can be expected."
    ]


def _examples(count: int) -> str:
    return "1 example" if count == 1 else f"{count} examples"


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
