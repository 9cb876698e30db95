"""Equal texts are explained once, and what comes back is what each alone would get, bit for bit."""

from dataclasses import replace

import pytest

import pellucid
from pellucid.base.kinds import attributions
from pellucid.explaining.explain import equal_texts
from pellucid.text.example import Example, Rationale

FILM, DULL = "A film.", "Dull"
TWICE = (
    Example((FILM,), "positive", (), "first", {"stars": 5}),
    Example((DULL,), "negative", (), "second"),
    Example((FILM,), "negative", (Rationale(0, 2, 6),), "third"),
    Example((FILM, DULL), None, (), "pair"),
)


def test_equal_segments_are_one_and_pairs_are_others():
    once = equal_texts(TWICE, by_label=False)
    assert [one.id for one in once.distinct] == ["first", "second", "pair"] and once.index == (0, 1, 0, 2)


def test_where_the_label_matters_it_must_be_equal_too():
    once = equal_texts((*TWICE, replace(TWICE[0], id="last")), by_label=True)
    assert [one.id for one in once.distinct] == ["first", "second", "third", "pair"]
    assert once.index == (0, 1, 2, 3, 0)


@pytest.fixture
def counting(monkeypatch):
    """How many texts a method scored."""
    calls = []
    entry = attributions.get("gradient")

    def load():
        def gradient(run, target, **settings):
            calls.append(len(run.batch))
            return entry.make(run, target, **settings)

        return gradient

    monkeypatch.setitem(attributions._entries, "gradient", replace(entry, load=load))
    return calls


def test_a_text_that_comes_three_times_is_computed_once(bert, counting):
    results = pellucid.explain(bert, [FILM, DULL, FILM, FILM], method="gradient")
    assert sum(counting) == 2
    assert [one.example.id for one in results] == ["0", "1", "2", "3"]
    assert results.summary().n_distinct == 2


@pytest.mark.parametrize("method", ("gradient", "gradient_shap", "kernel_shap", "chance"))
def test_each_has_its_own_example_and_the_scores_of_the_text_alone(bert, method):
    settings = {"n_samples": 8} if method.endswith("shap") else {}
    results = pellucid.explain(bert, list(TWICE), method=method, **settings)
    assert tuple(one.example for one in results) == TWICE
    assert results[0].scores.tobytes() == results[2].scores.tobytes()
    distinct = pellucid.explain(bert, [TWICE[0], TWICE[1], TWICE[3]], method=method, **settings)
    assert results[:2] + results[3:] == distinct
    assert (results[0].is_correct, results[2].is_correct) in ((True, False), (False, True), (False, False))


def test_the_gold_class_is_that_of_each_label(bert):
    results = pellucid.explain(bert, list(TWICE[:3]), method="gradient", target="gold")
    assert [one.target.label for one in results] == ["positive", "negative", "negative"]
    contrast = pellucid.explain(bert, list(TWICE[:3]), method="gradient", target=("gold", "neutral"))
    assert [one.target.label for one in contrast] == ["positive", "negative", "negative"]
    alone = pellucid.explain(bert, [TWICE[0], TWICE[2]], method="gradient", target="gold")
    assert results[0].target == alone[0].target
