"""Soft comprehensiveness and sufficiency against their definitions written out, number by number."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import ModelCannot
from pellucid.comparison.case import Case
from pellucid.comparison.metrics.erasure import importance, soft_comprehensiveness, soft_sufficiency
from pellucid.run.blank import generator_for
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import class_probabilities
from tests.reference import metrics as reference
from tests.shared.cases import case_with, examples, model

BOTH = [(soft_comprehensiveness, lambda a: 1 - a), (soft_sufficiency, lambda a: a)]


def answer_of(row, label):
    def answer(vectors):
        with torch.no_grad():
            logits = model().trace([row], embeddings=torch.tensor([vectors], dtype=torch.float32)).logits
        return float(class_probabilities(logits.double(), "single_label")[0, label])

    return answer


def literal(case, index, chances, n_draws):
    row = case.batch.rows[index]
    vectors = model().embed(torch.tensor(row.ids))
    draws = [
        torch.rand(
            len(row),
            vectors.shape[1],
            dtype=torch.float64,
            generator=generator_for(row, f"soft erasure {n}", 0),
        ).tolist()
        for n in range(n_draws)
    ]
    answer = answer_of(row, case.explained_classes()[index])
    pieces = case.batch.pieces_of(index, "word")
    return reference.soft_fall(chances, pieces, vectors.tolist(), draws, answer)


@pytest.mark.parametrize(("metric", "chances"), BOTH)
@pytest.mark.parametrize("normalised", [False, True])
def test_it_equals_its_definition(metric, chances, normalised):
    case = case_with(examples(), 3)
    values = metric(case, n_draws=3, normalised=normalised).columns[:, 0]
    for index, scores in enumerate(case.scores("word")):
        a = [(score - min(scores)) / (max(scores) - min(scores)) if len(scores) > 1 else 0.5 for score in scores]
        expected = literal(case, index, [chances(one) for one in a], 3)
        if normalised:
            without_any = literal(case, index, [0.0] * len(a), 1)
            expected = min(1, max(0, expected / without_any)) if without_any > 0 else np.nan
        assert values[index] == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_the_highest_score_of_a_text_is_1_the_lowest_0_and_equal_ones_are_halves():
    np.testing.assert_allclose(importance(np.array([-1.0, 0.0, 3.0])), [0, 0.25, 1])
    np.testing.assert_allclose(importance(np.array([2.0, 2.0])), 0.5)
    assert importance(np.array([])).shape == (0,)


def test_draws_are_the_texts_own_and_change_with_the_seed():
    case = case_with(examples(), 3)
    one, again, other = (soft_comprehensiveness(case, seed=seed).columns for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_windows_of_a_long_text_share_the_draws_of_their_overlap():
    """A text that is read in windows is judged as their mean, and alone as beside another one."""
    long = examples(["The soup was warm and the bill was small. " * 25])
    small = replace(model(), window=64)
    texts = small.encode(long)
    assert texts.rows[0].windows
    explanation = pellucid.explain(small, long, "occlusion")[0]
    case = Case(small, texts, [explanation.words()], Scheduler(512))
    value = soft_sufficiency(case, n_draws=2).columns
    beside = Case(
        small,
        small.encode([*long, *examples(["fine"])]),
        [explanation.words(), pellucid.explain(small, examples(["fine"]), "occlusion")[0].words()],
        Scheduler(512),
    )
    assert np.isfinite(value).all()
    np.testing.assert_allclose(soft_sufficiency(beside, n_draws=2).columns[:1], value, atol=1e-5)


def test_a_function_of_texts_is_refused_before_any_work():
    calls = []

    def answer(texts):
        calls.append(texts)
        return [[0.2, 0.8] for _ in texts]

    function = pellucid.from_function(answer, ["no", "yes"])
    with pytest.raises(ModelCannot, match=r"soft_sufficiency does not work with function.*Metrics that work"):
        pellucid.compare(function, ["A good film."], ["occlusion"], ["soft_sufficiency"])
    assert not calls
