"""Methods that sample get as many evaluations as fit a time."""

import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, InputReading
from pellucid.base.kinds import attributions
from pellucid.comparison import equal_time

TEXTS = ["A good, long and lovely film about a harbour.", "It was dull and far too long for me."]


@pytest.fixture
def model(monkeypatch):
    """A function that takes a thousandth of a second a text, by a clock of its own."""
    clock = [0.0]

    def answer(texts):
        clock[0] += 0.001 * len(texts)
        return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]

    monkeypatch.setattr(equal_time, "perf_counter", lambda: clock[0])
    return pellucid.from_function(answer, ["negative", "positive"])


def test_evaluations_fit_the_time_and_settings_stay(model):
    methods = pellucid.at_equal_time(
        model, TEXTS, [("lime", {"operator": "delete", "n_samples": 64}), "kernel_shap"], seconds=0.1
    )
    assert [name for name, _ in methods] == ["lime", "kernel_shap"]
    assert methods[0][1]["operator"] == "delete"
    for _, settings in methods:  # a hundred fit; edited texts that are alike are asked once
        assert 90 <= settings["n_samples"] <= 200
    table = pellucid.compare(model, TEXTS, methods, ["comprehensiveness"], resamples=10)
    assert {title.partition("(")[0] for title in table.methods} >= {"lime", "kernel_shap"}


def test_methods_without_a_number_of_evaluations_stay_and_slow_ones_are_named(model):
    with pytest.warns(InputReading, match="These take more than twice .*: occlusion"):
        methods = pellucid.at_equal_time(model, TEXTS, ["occlusion", "shap"], seconds=0.0001)
    assert methods == [("occlusion", {}), ("kernel_shap", {"n_samples": 8})]
    with pytest.raises(BadSetting, match="seconds=0 is no time"):
        pellucid.at_equal_time(model, TEXTS, seconds=0)
    with pytest.raises(BadInput, match="no text to time"):
        pellucid.at_equal_time(model, [], ["lime"])


def test_a_cost_that_begins_with_a_setting_begins_with_a_number_of_evaluations():
    budgets = {}
    for name in attributions.names():
        entry = attributions.get(name)
        first = entry.facts["cost"].partition(" ")[0]
        if first in entry.defaults:
            budgets[name] = first
    assert {"kernel_shap", "lime", "integrated_gradients", "shapley_sampling", "smooth_gradient"} <= budgets.keys()
    assert set(budgets.values()) <= {"n_samples", "n_steps", "n_permutations", "n_seeds"}
