"""Appendix C of S4 in small: entropy over training, in nats below uniform, and its claims."""

import math

import pytest

import pellucid
from studies.s4_start.page import as_page, as_picture, claims_of
from studies.s4_start.study import below_uniform
from studies.s4_start.summary import summarise
from studies.shared.attention_models import AttentionModel
from tests.shared.tiny import tiny_composed

ABOUT = {"task": "sst2", "title": "SST", "seeds": 3, "n_train": 9, "epochs": 1, "watched": 2}


def run(start, seed, last):
    below = [[1e-4, 2e-4], [last, last + 0.001 * seed]]
    return {"start": start, "seed": seed, "steps": [0, 5], "below": below, "history": [{"dev_accuracy": 0.8}]}


def test_the_default_start_stays_uniform_and_the_normal_one_does_not():
    runs = [run("normal", seed, 1.5) for seed in range(3)] + [run("default", seed, 0.0001) for seed in range(3)]
    numbers = summarise(ABOUT, runs)
    apart, uniform = claims_of(numbers)
    assert apart.verdict == uniform.verdict == "reproduced" and apart.measured.mean == pytest.approx(150, rel=0.01)
    assert "| 5 | 1.5005 [" in as_page(numbers)
    picture = as_picture(numbers)
    assert picture.count("<polyline") == picture.count("<polygon") == 2 and "default start</text>" in picture
    stays = summarise(ABOUT, [one for one in runs if one["start"] == "normal"])
    page = as_page(stays)
    assert claims_of(stays) == [] and "default (seeds 0, 1, 2)" in page and "They could not be tested." in page


@pytest.mark.parametrize("weights, expected", [("uniform", 0.0), ("learned", None)])
def test_equal_weights_are_not_below_uniform(weights, expected):
    model = tiny_composed("dot", weights=weights)
    [one] = pellucid.explain(model, ["a fine film"], "unit_attention", progress=False)
    scores = one.scores[list(one.units.content)].astype(float)
    expected = math.log(3) + float((scores * [math.log(score) for score in scores]).sum()) if expected is None else 0
    assert below_uniform(one) == pytest.approx(expected, abs=1e-5)


def test_the_start_is_a_setting_of_the_pooler():
    default = AttentionModel("dot", "base", query_start="default")
    assert default.plan(("a", "b")).pooler_settings == {"query_start": "default"}
    assert default.name == "dot-base-default" and not AttentionModel("dot", "base").plan(("a",)).pooler_settings
