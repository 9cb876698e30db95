"""Table 6 of S4 in small: depths pair with one layer over seeds and texts, and the paper's numbers stand beside
ours.
"""

import pytest

from pellucid.base.errors import UnknownName
from studies.s4_layers import study
from studies.s4_layers.numbers import claims, summarise
from studies.s4_layers.page import as_page, as_picture
from studies.shared.study import Settings
from tests.studies.test_s4_fragility import run


def deep(variant, layers, seed, permuted_wrong):
    return run(variant, seed, permuted_wrong=permuted_wrong) | {"layers": layers}


WRONG = {(1, "base"): 10, (1, "tying"): 30, (2, "base"): 4, (2, "tying"): 6}  # what permuted weights cost


def runs(seeds):
    return [deep(variant, layers, seed, wrong) for (layers, variant), wrong in WRONG.items() for seed in range(seeds)]


def test_claims_of_appendix_b_stand_beside_the_papers_numbers():
    models = {
        (layers, variant): [one for one in runs(3) if (one["layers"], one["variant"]) == (layers, variant)]
        for layers, variant in WRONG
    }
    robust, permuted, shrinks, _ = claims(models, paper=True)
    assert [one.paper for one in (robust, permuted, shrinks)] == [1.8, 3.8, 1.5]
    assert robust.measured.low > 0 and shrinks.measured.mean > 0 and shrinks.verdict == "reproduced"
    assert claims({(1, "base"): models[1, "base"]}, paper=True) == []
    assert claims(models, paper=False)[0].paper is None


def test_the_page_names_what_is_missing():
    about = {
        "task": "sst2",
        "title": "SST",
        "layers": [1, 2],
        "seeds": 3,
        "epochs": 1,
        "n_train": 9,
        "n_dev": 3,
        "n_test": 40,
    }
    about |= {"weights": {"tying": 10.0, "masked_words": 1.0}, "own_weights": True}
    numbers = summarise(about, runs(3)[:-1])
    page = as_page(numbers)
    assert "Tying, layers: 2 (seed 2)" in page and "Base, layers: 1 (" not in page
    assert "<br>−1.0" in page and page.count("**no verdict") == 2 and "Tying δ = 10" in page
    assert as_picture(numbers).startswith("<svg") and "Tying over Base: 2 layers against 1" in as_picture(numbers)


def test_every_seed_has_all_depths_before_the_next(tmp_path):
    own = {"task": "pocket", "choice": "", "keep_models": False}
    settings = Settings("tiny", study.SIZES["tiny"], tmp_path / "out", "pocket", tmp_path / "work", own=own)
    names = [unit.name for unit in study.training_units(settings, {})]
    assert names[0] == "additive-base-0" and names[6] == "additive-tying-1-2layers-0" and len(names) == 16
    settings.own["task"] = "sst2"
    with pytest.raises(UnknownName, match="sst2 has the sizes small"):
        study.training_units(settings, {})
