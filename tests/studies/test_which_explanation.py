"""Which explanation in small: leads, agreement with a planted truth, advice on another seed, values as Parquet, one
comparison whole.
"""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.kinds import attributions
from pellucid.base.processes import no_report
from pellucid.results.side_by_side import tau_b
from pellucid.results.table import CHANCE, Interval
from studies.shared.interval_plot import GOOD, Panel, interval_plot
from studies.shared.study import Settings
from studies.which_explanation import study
from studies.which_explanation.advice import advice_in_words, advice_rows, outcome
from studies.which_explanation.corpora import (
    CORPORA,
    PLANTED,
    SIZES,
    labels_of,
    parts_of,
    reason_of,
    settings_of,
)
from studies.which_explanation.judging import judged_numbers, training_numbers
from studies.which_explanation.judging import trained as trained_model
from studies.which_explanation.methods import METHODS, check_choices, metric_choices, short_name
from studies.which_explanation.numbers import lead, summarise, verdict
from studies.which_explanation.page import as_page
from studies.which_explanation.picture import as_picture
from studies.which_explanation.truth import TruthRun, agreement_with_truth, tau_b_of_rows, truth_runs
from studies.which_explanation.values_file import write_values
from tests.shared.tiny_training import save_encoder

TEXTS = 30
SHARE = {"mean": 0.9, "low": 0.8, "high": 1.0}
ABOUT = {"on": PLANTED, "title": "planted reasons", "settings": ["planted-token"], "seeds": 3, "longest": 30}
ABOUT |= {"resamples": 50, "n_train": 9, "n_dev": 3, "n_test": TEXTS}


def trained(seed, holds=True):
    return {"setting": "planted-token", "seed": seed, "accuracy": SHARE, "learnt": {"holds": holds}}


def compared(seed, use=("good",), faithful=("good", "middling"), avoid=("poor",)):
    """A comparison in which a metric ranks methods as the truth does, and another the other way round."""
    draw = np.random.default_rng(seed)
    means = {"good": 0.9, "middling": 0.6, "poor": 0.4, CHANCE: 0.3}

    def values(sign):
        return {name: (sign * mean + draw.normal(0, 0.05, TEXTS)).round(5).tolist() for name, mean in means.items()}

    metrics = {
        "comprehensiveness": values(1),
        "hiding": values(-1),
        "auprc": values(-1),
        "reason_found": values(1),
    }
    metrics["auprc"]["good"][0] = None
    better = dict.fromkeys(metrics, "higher") | {"hiding": "lower"}
    checks = [
        {
            "check": "dead_token",
            "method": "good",
            "measure": "share",
            "beside": "",
            "mean": 0.1,
            "passed": True,
        },
        {
            "check": "dead_token",
            "method": "poor",
            "measure": "share",
            "beside": "",
            "mean": 0.9,
            "passed": False,
        },
    ]
    card = {"use": list(use), "faithful": list(faithful), "avoid": list(avoid)}
    return {"setting": "planted-token", "seed": seed, "texts": [str(n) for n in range(TEXTS)]} | {
        "better": better,
        "ceiling": {"auprc": SHARE},
        "values": metrics,
        "checks": checks,
        "card": card,
    }


def settings_in(folder, on):
    own = {"on": on, "enough": 0.0}
    encoder = folder / "encoder"
    encoder = str(encoder if encoder.exists() else save_encoder(encoder))
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder=encoder, own=own)


def test_a_lead_is_positive_where_a_method_is_better_whatever_the_metric_s_direction():
    units = [compared(seed) for seed in range(3)]
    assert lead(units, "comprehensiveness", "good").mean == pytest.approx(0.6, abs=0.02)
    assert lead(units, "hiding", "good").mean == pytest.approx(0.6, abs=0.02)
    assert lead(units, "auprc", "good").mean == pytest.approx(-0.6, abs=0.02)
    assert verdict(Interval(0.5, 0.4, 0.6), 3) == "better" and verdict(Interval(0.5, 0.4, 0.6), 2) == ""
    assert verdict(Interval(-0.5, -0.6, -0.4), 3) == "worse" and verdict(Interval(0, -1, 1), 3) == "undecided"


def test_tau_of_many_rows_is_tau_of_each():
    draw = np.random.default_rng(0)
    one, other = draw.integers(0, 4, (20, 6)).astype(float), draw.normal(size=(20, 6))
    expected = [tau_b(a, b) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(tau_b_of_rows(one, other), expected, atol=1e-12)
    assert np.isnan(tau_b_of_rows(np.ones((1, 3)), np.arange(3.0)[None]))


def test_metrics_agree_with_the_truth_or_turn_it_round():
    runs = truth_runs([compared(seed) for seed in range(2)], CHANCE)
    assert agreement_with_truth(runs, "comprehensiveness", 50) == Interval(1.0, 1.0, 1.0)
    assert agreement_with_truth(runs, "hiding", 50).mean == 1.0  # lower is better there
    assert agreement_with_truth(runs, "auprc", 50).high < 0
    noise = np.random.default_rng(1).normal(size=(3, TEXTS))
    unsure = [TruthRun(run.reason, run.seed, {**run.values, "noise": noise}) for run in runs]
    assert not agreement_with_truth(unsure, "noise", 200).excludes_zero
    unjudged = [TruthRun(run.reason, run.seed, {**run.values, "none": noise * np.nan}) for run in runs]
    assert np.isnan(agreement_with_truth(unjudged, "none", 20).mean)


def test_advice_of_one_seed_is_tried_on_the_others():
    units = [compared(0), compared(1, ("middling",), ("middling",), ("good",)), compared(2, (), ())]
    rows = {(row["seed"], row["on"]): row["outcome"] for row in advice_rows(units)}
    assert rows[0, 1] == "avoid" and rows[1, 0] == "faithful" and rows[2, 0] == "nothing advised"
    assert rows[0, 2] == "unclear" and outcome("poor", units[0]["card"]) == "avoid"
    words = advice_in_words(advice_rows(units))
    assert "recommended on the other seed in 0 of 4 pairs, called faithful in 1 more" in words
    assert "In 2 of 6 pairs" in words and advice_in_words([]).startswith("One seed")


def test_the_page_leaves_out_models_that_have_not_learnt_their_reason():
    records = {
        "trainings": {str(seed): trained(seed, holds=seed < 2) for seed in range(3)},
        "comparisons": {str(seed): compared(seed) for seed in range(3)},
    }
    numbers = json.loads(json.dumps(summarise(ABOUT, records)))
    page = as_page(numbers)
    assert numbers["settings"]["planted-token"]["seeds"] == 2 and "| planted-token | 2 |" in page
    assert (
        "| comprehensiveness | +1.00 [+1.00, +1.00] | **agrees**; 2 models of 1 reason | token +1.00, +1.00 |  |"
        in page
    )
    assert "| auprc | -1.00 [-1.00, -1.00] | **disagrees**; 2 models of 1 reason | token -1.00, -1.00 | yes |" in page
    assert (
        "| **advice holds** | 2 of 2 pairs of seeds |" in page
        and "| good | 0.10, 2 pass |" in page
        and "| poor | 0.90, 2 fail |" in page
    )
    assert as_picture(numbers).count("<circle") == 3 * 3  # methods x those of the metrics that are drawn
    assert "| annotators | – | – | 0.90 | – |" in page
    assert "▲" not in page.partition("## How to read it")[0]
    records["trainings"]["2"] = trained(2)
    assert "(+0.60) ▲" in as_page(summarise(ABOUT, records))


def test_every_value_stands_in_the_parquet_file(tmp_path):
    path = write_values([compared(0)], tmp_path / "new")
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == 4 * 4 * TEXTS and set(rows[0]) == {
        "setting",
        "seed",
        "text",
        "metric",
        "method",
        "value",
    }
    [unjudged] = [row for row in rows if row["value"] is None]
    assert unjudged["metric"] == "auprc" and unjudged["text"] == "0" and unjudged["method"] == "good"
    assert pq.read_table(write_values([], tmp_path / "none")).num_rows == 0


def test_texts_are_short_and_the_same_for_all_seeds(tmp_path):
    assert settings_of(PLANTED, SIZES["small"]) == ("planted-token", "planted-order", "planted-token_pair")
    assert settings_of("sst2", SIZES["small"]) == ("sst2",)
    assert reason_of("planted-token_pair") == "token_pair" and reason_of("sst2") is None
    parts = parts_of("pocket", "", "tiny")
    assert {split: len(texts) for split, texts in parts.items()} == {"train": 24, "dev": 9, "test": 4}
    assert labels_of("planted-token", "", "tiny") == ("no", "yes")
    with pytest.raises(BadInput, match="give --data"):
        study.training_units(
            Settings("tiny", SIZES["tiny"], tmp_path, "", tmp_path, own={"on": "sst2", "enough": 0}), {}
        )


def test_all_metrics_run_but_those_of_spans_and_those_of_a_reason_where_there_is_none():
    plain, planted = metric_choices(None, False), metric_choices(None, True)
    assert set(planted) - set(plain) >= {"reason_found", "decoy_first"}
    assert "comprehensiveness, normalised" in plain and not any(name.startswith("span_") for name in plain)
    checks = [one if isinstance(one, str) else one[0] for one in check_choices(None, False)]
    assert {"seed_agreement", "edit_agreement", "cost"} <= set(checks) and not {
        "roar",
        "corpus_agreement",
    } & set(checks)
    assert "edit_agreement" not in check_choices(None, True) and "dead_token" in check_choices(None, True)
    assert plain["hiding"] == ("hiding", {"steps": 10})
    names = [one if isinstance(one, str) else one[0] for one in METHODS]
    assert len(set(names) - {CHANCE}) == 12 and set(names) <= set(attributions.names())
    assert short_name("lime(n_samples=60)") == "lime" and set(SIZES["small"].train) == set(CORPORA) - {PLANTED}


@pytest.mark.whole
def test_a_model_with_a_planted_reason_is_judged_whole(tmp_path):
    settings = settings_in(tmp_path, PLANTED)
    records = {
        "trainings": {"0": training_numbers(settings, "planted-token", 0, no_report)},
        "comparisons": {"0": judged_numbers(settings, "planted-token", 0, 1, no_report)},
    }
    one = records["comparisons"]["0"]
    model = trained_model(settings, "planted-token", 0)
    texts = parts_of("planted-token", "", "tiny")["test"][:1]
    assert len(pellucid.explain_all(model, texts, list(METHODS), progress=False)) == 13  # no setting is refused
    assert set(one["values"]) == {"comprehensiveness", "sufficiency", "reason_found"}
    assert {check["check"] for check in one["checks"]} == {"seed_agreement", "dead_token"}
    assert all(len(values) == 4 for of in one["values"].values() for values in of.values())
    assert set(one["card"]) == {"use", "faithful", "avoid"} and not one["card"]["use"]
    records |= {"trainings": {"0": records["trainings"]["0"] | {"about": {}}}}
    numbers = summarise(study.about(settings), records)
    assert "planted-token (seed 1)" in as_page(numbers) and set(numbers["truth"]) == {
        "comprehensiveness",
        "sufficiency",
    }
    assert [unit.name for unit in study.comparison_units(settings, records)] == ["compared-planted-token-0"]


def test_a_picture_of_too_few_seeds_has_no_colour_of_a_verdict():
    panels = [Panel("metric", "better →", {"one": Interval(0.5, 0.4, 0.6)})]
    assert GOOD in interval_plot("title", ["one"], panels, "foot")
    assert GOOD not in interval_plot("title", ["one"], panels, "foot", coloured=False)
