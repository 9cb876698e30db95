"""Matthews correlation: the literal formulas, scikit-learn's number, degenerate cases, and the door."""

import math

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.results.bootstrap import matthews_interval, tallies


def drawn(classes, count, seed):
    """Labels and predictions that agree in about half of the examples."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(classes, size=count)
    predicted = np.where(generator.random(count) < 0.5, gold, generator.integers(classes, size=count))
    return [[f"class {number}" for number in part] for part in (gold, predicted)]


def of_two(gold, predicted, positive):
    """Matthews (1975): from counts of right and wrong answers of two classes."""
    pairs = list(zip(gold, predicted, strict=True))
    count = lambda label, answer: sum(  # noqa: E731
        ((one == positive) is label) and ((other == positive) is answer) for one, other in pairs
    )
    tp, fp, fn, tn = count(True, True), count(False, True), count(True, False), count(False, False)
    return (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def of_many(gold, predicted):
    """Gorodkin (2004), equation 8: sums over triples of classes of products of counts."""
    names = sorted({*gold, *predicted})
    counts = np.zeros((len(names), len(names)))
    for one, other in zip(gold, predicted, strict=True):
        counts[names.index(one), names.index(other)] += 1
    span = range(len(names))
    above = sum(counts[k, k] * counts[m, n] - counts[n, k] * counts[k, m] for k in span for m in span for n in span)
    rows = sum(counts[k].sum() * (counts.sum() - counts[k].sum()) for k in span)
    columns = sum(counts[:, k].sum() * (counts.sum() - counts[:, k].sum()) for k in span)
    return above / math.sqrt(rows * columns)


@pytest.mark.parametrize("classes", (2, 3, 7))
@pytest.mark.parametrize("seed", range(4))
def test_the_number_is_the_papers_and_scikit_learns(classes, seed):
    gold, predicted = drawn(classes, 60, seed)
    mean = matthews_interval(gold, predicted).mean
    assert mean == pytest.approx(matthews_corrcoef(gold, predicted), abs=1e-12)
    assert mean == pytest.approx(of_many(gold, predicted), abs=1e-12)
    if classes == 2:
        assert mean == pytest.approx(of_two(gold, predicted, "class 1"), abs=1e-12)


def test_the_interval_is_that_of_resampled_examples():
    gold, predicted = drawn(3, 40, seed=5)
    interval = matthews_interval(gold, predicted, resamples=200, seed=3)
    (counts,) = tallies(np.random.default_rng(3), 40, 200)
    resampled = [
        matthews_corrcoef(np.repeat(gold, tally.astype(int)), np.repeat(predicted, tally.astype(int)))
        for tally in counts
    ]
    low, high = np.quantile(resampled, (0.025, 0.975))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("aabb", "aabb", 1.0),
        ("aabb", "bbaa", -1.0),
        ("aabb", "abab", 0.0),
        ("aabb", "aaaa", 0.0),  # one class is predicted
        ("aaaa", "aabb", 0.0),  # one class is there
        ("aaaa", "aaaa", 0.0),  # both, and all are right
        ("aaaa", "bbbb", 0.0),
    ],
)
def test_degenerate_cases_are_0(gold, predicted, expected):
    assert matthews_interval(list(gold), list(predicted)).mean == pytest.approx(expected, abs=1e-12)


def test_one_example_has_no_interval():
    interval = matthews_interval(["a"], ["a"])
    assert interval.mean == 0 and math.isnan(interval.low) and math.isnan(interval.high)


def test_the_door_gives_either_measure():
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts], ["no", "yes"]
    )
    reviews = [("A good film.", "yes"), ("Not good at all.", "no"), ("Dull.", "no"), ("good", "yes")]
    answers = ["yes", "yes", "no", "yes"]
    assert pellucid.accuracy(model, reviews) == pellucid.accuracy(model, reviews, measure="accuracy")
    assert pellucid.accuracy(model, reviews).mean == 0.75
    correlation = pellucid.accuracy(model, reviews, measure="mcc")
    assert correlation == matthews_interval([label for _, label in reviews], answers)
    with pytest.raises(BadSetting, match=r"measure.*accuracy, f1, macro_f1, mcc"):
        pellucid.accuracy(model, reviews, measure="f2")
