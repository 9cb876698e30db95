"""Every weight of tying and of masked words has verdicts of its own, with the paper's loss for masked words."""

from studies.s4_weights import study
from studies.s4_weights.numbers import summarise
from studies.s4_weights.page import as_page
from studies.shared.study import Settings
from tests.studies.test_s4_fragility import run

WRONG = {("base", 0.0): 10, ("tying", 1.0): 10, ("tying", 10.0): 30}  # what permuted weights cost


def numbers(seeds=3, collapsed=()):
    """Of simulated trainings; collapsed: seeds in which the plain model weighs all words alike."""
    runs = [
        run(variant, seed, permuted_wrong=wrong) | {"weight": weight}
        for (variant, weight), wrong in WRONG.items()
        for seed in range(seeds)
    ]
    for one in runs:
        if one["variant"] == "base" and one["seed"] in collapsed:
            one["test"] |= {"effective": one["test"]["units"]}
    sizes = {"seeds": 3, "epochs": 1, "n_train": 9, "n_dev": 3, "n_test": 40, "words": None}
    return summarise({"task": "sst2", "title": "SST", **sizes, "models": [["additive", *name] for name in WRONG]}, runs)


def test_each_weight_has_its_own_verdict():
    page = as_page(numbers())
    rows = {line.split(" | ")[0]: line for line in page.partition("## Verdicts")[2].splitlines()}
    assert "**undecided**, 3 seeds, 40 texts" in rows["| additive, Tying δ = 1"].split(" | ")[2]
    assert "**reproduced**, 3 seeds, 40 texts" in rows["| additive, Tying δ = 10"].split(" | ")[2]
    assert "<br>−18.0" in page and "says nothing" not in page


def test_a_collapsed_plain_model_is_named_beside_the_verdict():
    page = as_page(numbers(collapsed=(1,)))
    assert page.count("says nothing: seed 1") == 8  # four claims of each weight
    assert "(seed 2)" in as_page(numbers(seeds=2))


def test_masked_words_have_the_papers_loss_and_a_name_of_their_own(tmp_path):
    settings = Settings(
        "tiny",
        study.SIZES["tiny"],
        tmp_path / "out",
        "pocket",
        tmp_path / "work",
        own={"task": "pocket", "keep_models": False},
    )
    units = study.training_units(settings, {})
    assert [unit.name for unit in units[:4]] == [
        "additive-base-0",
        "additive-tying-1-0",
        "additive-tying-10-0",
        "additive-masked_words-1-published-0",
    ]
    settings_of = units[3].about["recipe"]["objective_settings"]
    assert settings_of == {"masked_words": {"reduction": "sum", "frequencies": False}}
