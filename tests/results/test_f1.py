"""F1 of one class and its mean over classes: scikit-learn's numbers, resampled intervals, and the door."""

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

import pellucid
from pellucid.base.errors import BadSetting, UnknownName
from pellucid.results.bootstrap import f1_interval, tallies
from tests.results.test_matthews import drawn


@pytest.mark.parametrize("classes", (2, 3, 7))
@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_scikit_learns(classes, seed):
    gold, predicted = drawn(classes, 60, seed)
    names = sorted({*gold, *predicted})
    macro = f1_score(gold, predicted, average="macro", zero_division=0)
    assert f1_interval(gold, predicted, names).mean == pytest.approx(macro, abs=1e-12)
    of_one = f1_score(gold, predicted, labels=["class 1"], average="macro", zero_division=0)
    assert f1_interval(gold, predicted, ["class 1"]).mean == pytest.approx(of_one, abs=1e-12)


def test_the_interval_is_that_of_resampled_examples():
    gold, predicted = drawn(2, 40, seed=5)
    interval = f1_interval(gold, predicted, ["class 1"], resamples=100, seed=3)
    (counts,) = tallies(np.random.default_rng(3), 40, 100)
    resampled = [
        f1_score(gold, predicted, sample_weight=tally, pos_label="class 1", zero_division=0) for tally in counts
    ]
    low, high = np.quantile(resampled, (0.025, 0.975))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_a_class_that_nobody_names_has_0_and_one_example_no_interval():
    assert f1_interval(["a", "b"], ["a", "b"], ["c"]).mean == 0
    assert f1_interval(["a", "b"], ["a", "b"], ["a", "b", "c"]).mean == pytest.approx(2 / 3)
    assert math.isnan(f1_interval(["a"], ["a"], ["a"]).low)


def test_the_door_gives_f1_of_class_1_of_another_class_and_macro():
    """A4.11"""
    reviews = [("A good film.", "yes"), ("Not good at all.", "no"), ("Dull.", "no"), ("fine", "yes")]
    gold, predicted = [label for _, label in reviews], ["yes", "yes", "no", "no"]
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts], ["no", "yes"]
    )
    assert pellucid.accuracy(model, reviews, measure="f1") == f1_interval(gold, predicted, ["yes"])
    of_no = pellucid.accuracy(model, reviews, measure="f1", positive="no")
    assert of_no == f1_interval(gold, predicted, ["no"])
    macro = pellucid.accuracy(model, reviews, measure="macro_f1")
    assert macro == f1_interval(gold, predicted, ["no", "yes"])


def test_what_the_door_cannot_answer_is_one_sentence():
    model = pellucid.from_function(lambda texts: [[0.2, 0.3, 0.5] for _ in texts], ["a", "b", "c"])
    with pytest.raises(BadSetting, match=r"of one class, and .* has 3: a, b.* c; name one: positive="):
        pellucid.accuracy(model, [("x", "a")], measure="f1")
    with pytest.raises(UnknownName, match="No class is called 'd'"):
        pellucid.accuracy(model, [("x", "a")], measure="f1", positive="d")
    with pytest.raises(BadSetting, match="positive= goes with measure='f1'"):
        pellucid.accuracy(model, [("x", "a")], positive="a")
