"""Stored scores in place of those that an attack's order computes."""

import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting

TEXTS = ["The film was a good one.", "So good a day."]


@pytest.fixture(scope="module")
def model():
    def answer(texts):
        values = [0.2 + 0.3 * ("good" in text) + 0.25 * ("a" in text.split()) for text in texts]
        return [[1 - value, value] for value in values]

    return pellucid.from_function(answer, ["negative", "positive"])


def attacked(model, texts=TEXTS, attack="deepwordbug", **settings):
    return pellucid.attack(model, texts, attack, progress=False, **settings)


def test_the_methods_own_scores_give_the_same_edits_for_fewer_queries(model, tmp_path):
    results = pellucid.explain(model, TEXTS, "occlusion", output="probability", progress=False)
    pellucid.save(results, tmp_path / "explained.parquet")
    own = attacked(model)
    for source in (results, tmp_path / "explained.parquet", str(tmp_path / "explained.parquet")):
        stored = attacked(model, order_from=source)
        assert [one.edits for one in stored] == [one.edits for one in own]
        assert all(one.queries < other.queries for one, other in zip(stored, own, strict=True))


def test_other_scores_change_the_order(model):
    results = pellucid.explain(model, TEXTS[:1], "occlusion", output="probability", progress=False)
    chance = pellucid.explain(model, TEXTS[:1], "chance", n_draws=1, progress=False)
    own, random = (
        attacked(model, TEXTS[:1], order_from=results),
        attacked(model, TEXTS[:1], order_from=chance),
    )
    assert own[0].queries <= random[0].queries


def test_scores_that_do_not_fit_are_refused(model):
    one = pellucid.explain(model, TEXTS[:1], "occlusion", progress=False)
    two = pellucid.explain(model, TEXTS, "lime", progress=False)
    with pytest.raises(BadInput, match="no scores of the text"):
        attacked(model, order_from=one)
    both = pellucid.Results((*pellucid.explain(model, TEXTS, "occlusion", progress=False), *two))
    with pytest.raises(BadSetting, match="2 methods"):
        attacked(model, order_from=both)
    with pytest.raises(BadSetting, match="reads no scores"):
        attacked(model, TEXTS[:1], pellucid.AttackPlan("text_order", ("typos",)), order_from=one)
