"""Span metrics: each written out on texts whose spans, or words, have scores of our choosing."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case
from pellucid.comparison.metrics.spans import (
    span_agreement,
    span_comprehensiveness,
    span_over_random,
    span_sufficiency,
)
from pellucid.run.scheduler import Scheduler
from pellucid.text.units import all_spans
from tests.shared.cases import answer, case_with, examples, explained, model

SPAN_METRICS = (span_agreement, span_comprehensiveness, span_over_random, span_sufficiency)


def span_case(seed=3):
    """A case whose explanations weigh spans of words at random."""
    explanations = []
    for view in (one.words() for one in explained(examples())):
        spans = all_spans(view.units)
        scores = np.random.default_rng([seed, len(spans)]).dirichlet(np.ones(len(spans)) / 4)
        explanations.append(replace(view, units=spans, scores=scores))
    return Case(model(), model().encode(examples()), explanations, Scheduler(512))


def word_numbers(explanation, count):
    """The words of the heaviest spans that do not overlap: by going through all spans, heaviest first."""
    spans, covered, heaviest = explanation.units, set(), []
    content = list(spans.parts.content)
    for index in np.argsort(-explanation.scores, kind="stable"):
        words = {content.index(part) for part in range(spans.first[index], spans.last[index] + 1)}
        if len(heaviest) < count and not words & covered:
            covered |= words
            heaviest.append(words)
    return covered


@pytest.mark.parametrize("operator", ["absent", "mask"])
@pytest.mark.parametrize("n_spans", [1, 2])
def test_they_are_what_the_model_says_with_and_without_the_spans(operator, n_spans):
    case, settings = span_case(), {"operator": operator, "n_spans": n_spans}
    alone, rest, agrees = (
        metric(case, **settings).columns[:, 0] for metric in (span_sufficiency, span_comprehensiveness, span_agreement)
    )
    for number, (one, explained_class) in enumerate(zip(case.explanations, case.explained_classes(), strict=True)):
        heaviest = word_numbers(one, n_spans)
        others = set(range(len(one.units.parts.content))) - heaviest
        whole = answer(case, number, frozenset())
        with_spans, without_spans = (
            answer(case, number, frozenset(others), operator),
            answer(case, number, frozenset(heaviest), operator),
        )
        assert alone[number] == pytest.approx(whole[explained_class] - with_spans[explained_class], abs=1e-6)
        assert rest[number] == pytest.approx(whole[explained_class] - without_spans[explained_class], abs=1e-6)
        assert agrees[number] == (with_spans.argmax() == whole.argmax())
    assert np.abs(alone).max() > 0.01 and np.abs(rest).max() > 0.01 and 0 < agrees.mean() < 1


def test_over_random_sets_the_span_against_all_others_of_its_length():
    case = span_case()
    values = span_over_random(case, draws=99).columns[:, 0]
    agrees = span_agreement(case).columns[:, 0]
    for number, one in enumerate(case.explanations):
        heaviest, count = sorted(word_numbers(one, 1)), len(one.units.parts.content)
        texts = [one.units.parts.segment[part] for part in one.units.parts.content]
        whole = answer(case, number, frozenset()).argmax()
        others = [
            answer(case, number, frozenset(range(count)) - {*range(start, start + len(heaviest))}).argmax() == whole
            for start in range(count - len(heaviest) + 1)
            if start != heaviest[0] and len({*texts[start : start + len(heaviest)]}) == 1
        ]
        expected = agrees[number] - np.mean(others) if others else np.nan
        assert values[number] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(values).any() and (np.abs(values) > 0.1).any()


@pytest.mark.parametrize("metric", SPAN_METRICS)
def test_scores_of_words_are_judged_by_what_stands_above_their_mean(metric):
    texts = examples()[:1]
    scores = np.zeros(len(case_with(texts).scores("word")[0]))
    scores[2:4] = 1.0
    words, spans = case_with(texts, [scores]), span_case()
    one = spans.explanations[0]
    weights = np.array([(first, last) == (3, 4) for first, last in zip(one.units.first, one.units.last, strict=True)])
    same = Case(model(), words.batch, [replace(one, scores=weights.astype(float))], Scheduler(512))
    np.testing.assert_allclose(metric(words).columns, metric(same).columns)


@pytest.mark.parametrize("metric", SPAN_METRICS)
def test_they_run_when_they_are_named_and_neighbours_change_nothing(metric):
    assert not metrics.get(metric.__name__).facts["usual"]
    case = span_case()
    alone = Case(model(), case.batch.select([3]), [case.explanations[3]], Scheduler(512))
    np.testing.assert_allclose(metric(alone).columns, metric(case).columns[3:4], atol=1e-6)


def test_bad_settings_are_refused():
    with pytest.raises(BadSetting, match="n_spans"):
        span_agreement(span_case(), n_spans=0)
    with pytest.raises(BadSetting, match="draws"):
        span_over_random(span_case(), draws=0)
