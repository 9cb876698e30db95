"""A recipe's later fields: runs of earlier versions keep their names, and the fields do what they say."""

from dataclasses import asdict

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.training.recipe import LATER, Recipe, computes_in

CHANGED = {
    "beta2": 0.98,
    "layer_decay": 0.5,
    "dropout": 0.0,
    "label_smoothing": 0.1,
    "freeze_vectors": True,
    "l2": 1e-4,
    "balanced": True,
    "objectives": {"deception": 1.0},
    "objectives_from": 0.5,
    "spans": 2.0,
    "route": "onednn",
    "sharp_from": 0.5,
    "keep_best_by": "mcc",
}


def test_a_later_field_is_recorded_only_where_it_says_something():
    assert {*CHANGED, "objective_settings"} == set(LATER)
    assert Recipe().record() == {name: value for name, value in asdict(Recipe()).items() if name not in LATER}
    for name, value in CHANGED.items():
        assert Recipe(**{name: value}).record() == Recipe().record() | {name: value}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layer_decay", 0),
        ("layer_decay", 1.1),
        ("dropout", -0.1),
        ("dropout", 1),
        ("dropout", "none"),
        ("label_smoothing", 1),
        ("label_smoothing", float("nan")),
        ("freeze_vectors", "yes please"),
        ("balanced", "by class"),
        ("objectives_from", -0.1),
        ("objectives_from", 1),
        ("sharp_from", 1),
    ],
)
def test_impossible_settings_of_fine_tuning_are_refused(name, value):
    with pytest.raises(BadSetting, match=name):
        Recipe(**{name: value})


@pytest.mark.parametrize("beta2", [-0.1, 1, float("nan"), "high"])
def test_a_decay_that_divides_by_nothing_is_refused(beta2):
    with pytest.raises(BadSetting, match="beta2"):
        Recipe(beta2=beta2)


def test_automatic_precision_is_what_the_processor_has():
    cpu = torch.device("cpu")
    assert computes_in("float32", cpu) == "float32"
    assert Recipe().autocast(cpu)._enabled == (computes_in("auto", cpu) == "bfloat16")
