"""Table 1 and figure 3 of S2 in small: pairs of seeds that share trainings, claims, and explanations that are made
once.
"""

import math

import pytest

from pellucid.base.processes import no_report
from pellucid.results.table import Interval
from studies.s2_agreement import study
from studies.s2_agreement.explained import METHODS, SIZES, check_case, explained
from studies.s2_agreement.numbers import (
    OVER,
    TABLE_1,
    corpus_claims,
    over_pairs,
    over_seeds,
    seed_claims,
    summarise,
)
from studies.s2_agreement.page import as_page
from studies.s2_agreement.picture import grid_picture
from studies.s2_deletion.methods import CHANCE, PAPER
from studies.s2_models.tasks import TASKS
from studies.shared.study import Settings
from tests.shared.tiny_training import save_encoder

ABOUT = {
    "tasks": {task: {"title": one.title, "n_texts": 8} for task, one in TASKS.items()},
    "seeds": 3,
    "resamples": 20,
}
VALUES = {"GS": 0.9, "GI": 0.88, "LRP": 0.8, "LAT": 0.6, CHANCE: 1.0}


def record(mean, half=0.01):
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": 40}


def pair(task, one, other, add=0.0):
    lines = {over: {name: record(value + add) for name, value in VALUES.items()} for over in OVER}
    return {"task": task, "seeds": [one, other], "lines": lines, "left_out": 1}


def grid(seed):
    pairs = ["sst5 semeval", "sst5 imdb", "sst5 yelp5", "semeval imdb", "semeval yelp5", "imdb yelp5"]
    of = {name: {one: record(value - 0.3 + seed / 1000) for one in pairs} for name, value in VALUES.items()}
    return {"seed": seed, "grid": of}


def all_pairs(tasks=tuple(TASKS)):
    return [
        pair(task, one, other, -0.1 * (task in ("imdb", "yelp5")))
        for task in tasks
        for one, other in ((0, 1), (0, 2), (1, 2))
    ]


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s2")
    own, encoder = {"phrases": False}, str(save_encoder(folder / "encoder"))
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder=encoder, own=own)


def test_pairs_of_three_seeds_are_not_three_independent_trainings():
    values = {(0, 1): 0.8, (0, 2): 0.7, (1, 2): 0.6}
    exact = {two: Interval(one, one, one) for two, one in values.items()}
    mean = over_pairs(exact)
    # without seed 0 the mean is that of (1, 2), and so on: deviations -.1, 0, .1; t of two degrees of freedom is 4.303
    assert mean.mean == pytest.approx(0.7)
    assert mean.high - mean.mean == pytest.approx(4.3027 * math.sqrt(2 / 3 * 0.02), rel=1e-3)
    assert over_pairs({(0, 1): Interval(0.5, 0.4, 0.6)}) == Interval(0.5, 0.4, 0.6)


def test_an_interval_over_seeds_holds_texts_too():
    flat = over_seeds([Interval(0.5, 0.4, 0.6)] * 3)
    assert (flat.mean, flat.low, flat.high) == pytest.approx((0.5, 0.4, 0.6))
    assert over_seeds([Interval(one, one, one) for one in (0.4, 0.5, 0.6)]).high == pytest.approx(
        0.5 + 4.3027 * 0.1 / math.sqrt(3), rel=1e-3
    )


def test_claims_of_table_1_are_positive_where_the_paper_is_right():
    claims = {one.words: one for one in seed_claims(all_pairs(), "type", ABOUT)}
    one = claims["SST-5: GS agrees more across seeds than LAT"]
    assert one.measured.mean == pytest.approx(30) and one.paper == 6.0 and one.verdict == "reproduced"
    length = claims["short texts agree more across seeds than long ones"]
    assert length.measured.mean == pytest.approx(10) and length.paper == 6.6
    few = seed_claims([pair("sst5", 0, 1)], "type", ABOUT)
    assert {one.verdict for one in few} == {"no verdict: 2 seeds"}


def test_agreement_across_data_sets_is_strong_or_not():
    verdicts = [one.verdict for one in corpus_claims([grid(seed) for seed in range(3)])]
    assert verdicts == ["reproduced", "reproduced", "undecided", "not reproduced"]


def test_the_page_shows_what_there_is_and_what_is_missing():
    units = {str(n): one for n, one in enumerate([*all_pairs(("sst5",)), grid(0), grid(1)])}
    numbers = summarise(ABOUT, {"agreement": units})
    page = as_page(numbers)
    assert "SemEval (seeds 0, 1)" in page and "data sets beside each other (seed 2)" in page
    assert "| GS | 0.90 [0.89, 0.91]<br>0.91 |" in page and "40 word forms occur in all of them" in page
    assert grid_picture(numbers).count("<rect") == 1 + 4 * 16
    empty = summarise(ABOUT, {"agreement": {}})
    assert "Not run yet." in as_page(empty) and grid_picture(empty).startswith("<svg")


@pytest.mark.whole
def test_texts_are_explained_once_and_random_scores_agree_with_themselves(settings, monkeypatch):
    numbers = study._seeds(settings, "sst5", 0, 1, no_report)
    assert set(numbers["lines"]["type"]) == set(METHODS)
    # of texts that both models answer alike; random scores depend on the text alone
    chance = numbers["lines"]["token"][CHANCE]
    assert chance["n"] == 0 or chance["mean"] == pytest.approx(1.0)
    monkeypatch.setattr("pellucid.explain_all", None)  # it would be called to explain again
    assert [len(texts) for texts in explained(settings, "sst5", 1).values()] == [8] * len(METHODS)
    assert check_case(settings, "sst5", 0).methods == tuple(explained(settings, "sst5", 0))


@pytest.mark.whole
def test_data_sets_are_compared_over_their_common_words(settings):
    numbers = study._corpora(settings, 0, no_report)
    assert set(numbers["grid"]) == set(METHODS) and set(numbers["grid"]["GS"]) == {"sst5 imdb"}
    # at size tiny both are the same texts under the same recipe
    assert numbers["grid"]["GS"]["sst5 imdb"]["mean"] > 0.99


def test_units_go_seed_by_seed(settings):
    assert [one.name for one in study.explaining_units(settings, {})][:3] == [
        "explained-sst5-0",
        "explained-imdb-0",
        "explained-sst5-1",
    ]
    names = [one.name for one in study.agreement_units(settings, {})]
    assert names == ["seeds-sst5-0-1", "seeds-imdb-0-1", "corpora-0", "corpora-1"]


def test_the_paper_s_table_is_whole():
    assert set(TABLE_1) == set(TASKS) and all(set(of) == set(PAPER) for of in TABLE_1.values())
