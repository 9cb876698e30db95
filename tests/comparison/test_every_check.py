"""Every registered check keeps the promises that all checks share, and those that it declares itself."""

import inspect
from dataclasses import asdict, replace

import numpy as np
import pytest

from pellucid.base.errors import BadSetting, UnknownName
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import checks
from pellucid.comparison.run_checks import CheckFolder
from pellucid.results.interval import check_outcome_from
from tests.shared.cases import model
from tests.shared.check_cases import case, checking, outcome

NEEDS = {"twins", "trainer", "corpora", "explainer"}
NAMES = checks.names()
QUICK = [
    name for name in NAMES if not checks.get(name).facts["long"] and not checks.get(name).facts["needs"] & {"trainer"}
]
SETTINGS = [(name, setting) for name in QUICK for setting in checks.get(name).defaults]


def digest(one):
    return json_digest(asdict(one))


@pytest.mark.parametrize("name", NAMES)
def test_it_declares_what_lists_and_pages_need(name):
    entry = checks.get(name)
    assert entry.facts["needs"] <= NEEDS
    assert entry.summary.endswith(".") and entry.facts["cost"]
    assert not entry.facts["rule"] or entry.facts["rule"].startswith("passes where")
    parameters = list(inspect.signature(entry.make).parameters.values())
    assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == ["case"]
    assert all(one.default is not one.empty for one in parameters[1:])


@pytest.mark.parametrize("name", QUICK)
def test_lines_are_of_the_methods_with_numbers_in_order(name):
    one = outcome(name)
    assert set(one.methods) <= set(case().methods) and (one.lines or one.notes)
    assert bool(one.curves) == bool(one.curve_axis)
    for line in one.lines:
        value = line.value
        assert value.mean != value.mean or np.isfinite(value.mean)
        assert np.isnan([value.low, value.high]).any() or value.low <= value.high
        assert line.n >= 0 and line.measure
        assert line.passed is None or one.rule


@pytest.mark.parametrize("name", QUICK)
def test_the_model_stays_as_it_was_and_the_outcome_is_the_same_again(name):
    before = model().hash
    first = outcome(name)
    assert model().hash == before
    if not checks.get(name).facts["timed"]:
        assert digest(outcome(name)) == digest(first)


@pytest.mark.parametrize("name", QUICK)
def test_the_order_of_the_texts_changes_no_mean(name):
    whole = case()
    if checks.get(name).facts["timed"] or any("n_texts" in setting for setting in checks.get(name).defaults):
        pytest.skip("measured, or of the first texts alone")
    backwards = replace(
        whole,
        examples=whole.examples[::-1],
        explained={method: texts[::-1] for method, texts in whole.explained.items()},
    )
    one, other = outcome(name, whole), outcome(name, backwards)
    assert len(one.lines) == len(other.lines)
    for a, b in zip(one.lines, other.lines, strict=True):
        assert (a.method, a.measure, a.beside) == (b.method, b.measure, b.beside)
        np.testing.assert_allclose(a.value.mean, b.value.mean, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", QUICK)
def test_a_file_gives_back_the_outcome(name, tmp_path):
    one = outcome(name)
    (call,) = checks.calls([name])
    folder = CheckFolder(tmp_path, {"comparison": "1"})
    assert folder.read(call, {}) is None
    folder.write(call, {}, one)
    assert digest(folder.read(call, {})) == digest(one)
    assert digest(check_outcome_from(asdict(one))) == digest(one)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_wrong_settings_are_refused(name, setting):
    default = checks.get(name).defaults[setting]
    impossible = "no such" if isinstance(default, str) else 0
    for value in ({"a": 1}, impossible):
        with pytest.raises(BadSetting):
            outcome(name, **{setting: value})


@pytest.mark.parametrize("name", QUICK)
def test_unknown_settings_are_refused(name):
    with pytest.raises(UnknownName, match=f"setting of {name}"):
        checks.calls([(name, {"no_such": 1})])


@pytest.mark.parametrize("name", [one for one in NAMES if checks.get(one).facts["needs"] - {"explainer"}])
def test_a_check_without_what_it_needs_says_which_option_gives_it(name):
    with pytest.raises(BadSetting, match=rf"{name} needs .*: give .*, or --\w+ on the command line"):
        checking(name)
