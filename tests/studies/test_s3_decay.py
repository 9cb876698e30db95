"""Penalties on the weights in small: what is measured of each model, signs of claims, words given up, and what is
missing.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from pellucid.base.processes import silent
from pellucid.results.storage import as_records, from_records
from studies.s3_decay.numbers import RETAINED, claims, measured, summarise
from studies.s3_decay.page import as_page, as_picture
from studies.s3_decay.study import SIZES, about, model_units, s3_decay
from studies.shared.runner import run_study
from studies.shared.study import Settings
from studies.shared.unit_files import units_of


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decay")
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work")


@pytest.fixture(scope="module")
def page(settings):
    return run_study(s3_decay(), settings)


@pytest.fixture(scope="module")
def units(settings, page):
    return units_of(settings.runs)


def with_scores(unit, score, seed):
    """The unit as if each piece had the same score, a little higher with each seed."""
    explanations = [
        replace(one, scores=np.full_like(one.scores, score + seed / 100)) for one in from_records(unit["explanations"])
    ]
    return unit | {"seed": seed, "explanations": [dict(one) for one in as_records(explanations)]}


@pytest.mark.whole
def test_every_weight_is_trained_with_every_seed_and_leaves_no_model(settings, units):
    assert [unit.name for unit in model_units(settings, {})] == ["l2-0-0", "l2-0.01-0", "l2-0-1", "l2-0.01-1"]
    assert len(units) == 4 and not any(settings.work.iterdir())
    squares = {(one["l2"], one["seed"]): one["squares"] for one in units}
    assert all(squares[0.0, seed] > squares[0.01, seed] for seed in (0, 1))


def test_what_is_measured_are_sums_and_shares_over_the_words(units):
    values = measured([with_scores(units[0], RETAINED + 0.1, 0), with_scores(units[0], RETAINED - 0.1, 0)])
    assert values["kept"].tolist() == [[100.0] * 3, [0.0] * 3]
    explained = from_records(units[0]["explanations"])
    pieces = [len(one.units.content) for one in explained]
    np.testing.assert_allclose(values["information"][0], [(RETAINED + 0.1) * count for count in pieces], rtol=1e-5)
    assert set(np.unique(values["accuracy"])) <= {0.0, 100.0}


def test_claims_are_positive_where_the_smaller_weight_holds_more(units):
    by_weight = {
        weight: measured([with_scores(units[0], score, seed) for seed in range(3)])
        for weight, score in ((0.0, 3.0), (1e-4, 2.0), (1e-3, 2.5))
    }
    verdicts = {one.words: one.verdict for one in claims(by_weight, "information")}
    assert verdicts == {
        "more information with α = 0 than with 0.0001": "reproduced",
        "more information with α = 0.0001 than with 0.001": "not reproduced",
        "more information with α = 0 than with 0.001": "reproduced",
    }


def test_three_trainings_show_which_words_were_dropped(settings, units):
    tiny = about(settings) | {"weights": [0.0, 0.01], "seeds": 3}
    runs = [with_scores(units[0], 3.0, seed) | {"l2": 0.0} for seed in range(3)]
    runs += [with_scores(units[0], 1.0, seed) | {"l2": 0.01} for seed in range(3)]
    numbers = summarise(runs, tiny)
    [change] = numbers["changes"]
    assert change["why_not"] == "" and 0 < change["n_stopped"] == change["n_words"] and change["n_more"] == 0
    assert "stopped using" in as_page(numbers) and as_picture(numbers).count("<circle") == 3
    [fewer] = summarise(runs[:5], tiny)["changes"]
    assert fewer["n_words"] == 0 and "3 of each" in fewer["why_not"]
    assert "l2 = 0.01 (seed 2)" in as_page(summarise(runs[:5], tiny))


def test_the_page_of_two_seeds_has_no_verdict(page):
    assert "no verdict: 2 seeds" in page and "reproduced**" not in page


def test_a_finished_study_does_no_work(settings, page, monkeypatch):
    monkeypatch.setattr("studies.s3_decay.study.train_model", None)
    assert run_study(s3_decay(), settings, silent) == page


def test_retained_words_bear_less_noise_than_words_differ():
    assert math.isclose(10 * math.exp(-RETAINED), 1.0)
