"""What a comparison will cost, judged by four texts, against what it costs."""

import pytest

import pellucid

WORDS = "good film plot dull scene quiet long actor story end".split()
TEXTS = [" ".join((WORDS * 4)[: 2 + number % 24]) + "." for number in range(96)]


@pytest.fixture
def counting_model():
    return pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )


def test_evaluations_are_near_those_of_the_comparison(counting_model):
    methods, metrics = ["occlusion"], ["comprehensiveness", "sufficiency"]
    cost = pellucid.compare_cost(counting_model, TEXTS, methods, metrics)
    table = pellucid.compare(counting_model, TEXTS, methods, metrics, resamples=10)
    assert cost is not None
    assert table.about["rows"] / 1.5 < cost.evaluations < table.about["rows"] * 1.5


def test_few_texts_are_not_tried(counting_model):
    assert pellucid.compare_cost(counting_model, TEXTS[:63], ["occlusion"], ["sufficiency"]) is None
