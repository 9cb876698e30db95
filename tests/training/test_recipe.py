"""A recipe's later fields: runs of earlier versions keep their names, and the fields do what they say."""

from dataclasses import asdict

import pytest
import torch

from pellucid.core.foundation.errors import BadSetting
from pellucid.training.recipe import Recipe, computes_in


def test_a_later_field_is_recorded_only_where_it_says_something():
    assert Recipe().record() == {
        name: value for name, value in asdict(Recipe()).items() if name not in ("beta2", "l2")
    }
    assert Recipe(beta2=0.98, l2=1e-4).record() == asdict(Recipe(beta2=0.98, l2=1e-4))


@pytest.mark.parametrize("beta2", [-0.1, 1, float("nan"), "high"])
def test_a_decay_that_divides_by_nothing_is_refused(beta2):
    with pytest.raises(BadSetting, match="beta2"):
        Recipe(beta2=beta2)


def test_automatic_precision_is_what_the_processor_has():
    cpu = torch.device("cpu")
    assert computes_in("float32", cpu) == "float32"
    assert Recipe().autocast(cpu)._enabled == (computes_in("auto", cpu) == "bfloat16")
