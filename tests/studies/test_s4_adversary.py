"""Figure 1 of S4 in small: curves over seeds, what a nat costs, and which models stay in the work folder."""

import math
from dataclasses import replace

import pytest

from pellucid.base.processes import no_report
from studies.s4_adversary.page import as_page, as_picture
from studies.s4_adversary.study import SIZES, imitation_units
from studies.s4_adversary.summary import cost_of_a_nat, summarise
from studies.s4_fragility.trainings import training_unit
from studies.shared.attention_models import AttentionModel
from studies.shared.claims import claim_of
from studies.shared.study import Settings

ABOUT = {
    "title": "SST",
    "task": "sst2",
    "variants": ["base", "tying"],
    "train": 9,
    "epochs": 1,
    "seeds": 3,
    "n_train": 20,
    "n_test": 40,
    "weights": {"tying": 10.0},
    "own_weights": True,
}


def curve(variant, seed, cost):
    """From λ = 0 to 1 the weights move by half a nat, and the answers by half the cost of one."""
    points = [
        {
            "divergence_weight": weight,
            "divergence": 0.1 + weight / 2,
            "distance": 0.02 + weight * cost / 2,
            "texts": 40,
        }
        for weight in (0.0, 0.3, 1.0)
    ]
    return {"variant": variant, "seed": seed, "points": points, "seconds": 1.0}


def curves(seeds=3):
    every = [curve("base", seed, 0.1 + seed / 1000) for seed in range(seeds)]
    return every + [curve("tying", seed, 0.3 + seed / 500) for seed in range(seeds)]


def test_a_nat_costs_more_of_the_answers_where_weights_matter():
    numbers = summarise(ABOUT, curves())
    [claim] = map(claim_of, numbers["claims"])
    assert claim.verdict == "reproduced" and claim.measured.mean == pytest.approx(20.1)
    assert numbers["models"]["base"]["cost"] == pytest.approx([0.1, 0.101, 0.102])
    page = as_page(numbers)
    assert "| 0.3 | 0.250 [0.250, 0.250] | 0.035 [" in page and "Not run" not in page
    assert as_picture(numbers).count("<polyline") == 2


def test_a_model_whose_weights_do_not_move_has_no_cost():
    points = curve("base", 0, 0.1)["points"]
    still = [one | {"divergence": 0.1} for one in points]
    assert cost_of_a_nat(points) == pytest.approx(0.1) and math.isnan(cost_of_a_nat(still))
    numbers = summarise(ABOUT, [{**one, "points": still} for one in curves(2)])
    assert numbers["claims"] == [] and "It could not be tested." in as_page(numbers)
    assert "Base (seed 2); Tying (seed 2)" in as_page(numbers)


@pytest.mark.whole
def test_models_of_the_study_of_fragility_are_imitated_and_stay(tmp_path):
    own = {"task": "pocket", "choice": "", "keep_models": False}
    settings = Settings("tiny", SIZES["tiny"], tmp_path / "out", "pocket", tmp_path / "work", own=own)
    first = imitation_units(settings, {})[0]
    keeping = replace(settings, own={**own, "keep_models": True})
    training_unit(keeping, AttentionModel("additive", "base"), 0, first.work.args[-1]).work(no_report)
    weights = tmp_path / "work" / "additive-base-0" / "model.safetensors"
    written = weights.stat().st_mtime_ns
    numbers = first.work(no_report)
    assert [one["divergence_weight"] for one in numbers["points"]] == [0.0, 1.0]
    assert weights.stat().st_mtime_ns == written and not any((tmp_path / "work" / "imitators").iterdir())
    second = imitation_units(settings, {})[1]
    second.work(no_report)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["additive-base-0", "imitators"]
