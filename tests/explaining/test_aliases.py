"""Short names of methods: they stand for the full name, which the results carry, and a warning says so."""

import warnings

import pytest

import pellucid
from pellucid.base.errors import AliasUsed, UnknownName
from pellucid.base.kinds import attributions
from pellucid.explaining.inputs.readings import methods_to_run

SHORT = {"ig": "integrated_gradients", "shap": "kernel_shap", "lrp": "relevance", "gradcam": "grad_cam"}


@pytest.mark.parametrize("alias", SHORT)
def test_a_short_name_is_the_method_and_says_so(bert, alias):
    with pytest.warns(AliasUsed, match=f"^{alias} is short for {SHORT[alias]}\\.$"):
        (explanation,) = pellucid.explain(bert, "A film.", method=alias)
    assert explanation.method == SHORT[alias]


def test_a_full_name_says_nothing(bert):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pellucid.explain(bert, "A film.", method="gradient")


def test_settings_and_all_know_the_short_name(bert):
    with pytest.warns(AliasUsed):
        side = pellucid.explain_all(bert, "A film.", [("ig", {"n_steps": 2}), "gradient"])
    assert list(side) == ["integrated_gradients(n_steps=2)", "gradient"]
    choices, by_all = methods_to_run(bert, ["all", "ig"])
    assert "integrated_gradients" not in by_all and choices[-1] == "ig"


def test_short_names_are_no_other_method_and_belong_to_one():
    every = [alias for name in attributions.names() for alias in attributions.get(name).facts["aliases"]]
    assert sorted(every) == sorted(SHORT) and not set(every) & set(attributions.names())


def test_an_unknown_name_stays_unknown(bert):
    with pytest.raises(UnknownName, match="'igg'"):
        pellucid.explain(bert, "A film.", method="igg")
