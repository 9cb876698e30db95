"""Table 2 of S3 in small: scores in points over seeds, the paired difference, texts that are kept apart, and
resuming.
"""

import numpy as np
import pytest

from pellucid.base.errors import UnknownName
from pellucid.base.processes import no_report
from pellucid.data.load import load_examples
from pellucid.results.bootstrap import matthews_interval
from pellucid.results.table import Interval
from studies.s3_accuracy import study
from studies.s3_accuracy.models import PRETRAINED, TITLES, model_plan, model_recipe
from studies.s3_accuracy.numbers import cells, claims, difference, points_of, summarise
from studies.s3_accuracy.page import as_page, as_picture
from studies.s3_accuracy.tasks import SIZES, TASKS, task_parts
from studies.shared.study import Settings


def run(model, seed, answers, labels=None):
    labels = [0, 1] * (len(answers) // 2) if labels is None else labels
    return {"model": model, "seed": seed, "labels": labels, "answers": answers, "seconds": 1.0}


def test_scores_are_accuracy_and_the_matthews_correlation_in_points():
    rng = np.random.default_rng(0)
    labels, answers = rng.integers(0, 3, 60).tolist(), rng.integers(0, 3, 60).tolist()
    shares = cells(3, [run("cnn", 0, answers, labels)])[0].mean(0)
    right = np.mean([one == other for one, other in zip(labels, answers, strict=True)])
    assert points_of("accuracy", 3, shares) == pytest.approx(100 * right)
    expected = matthews_interval([str(one) for one in labels], [str(one) for one in answers]).mean
    assert points_of("mcc", 3, shares) == pytest.approx(100 * expected)


def test_a_difference_pairs_seeds_and_texts():
    """Two models that err in the same texts differ by nothing at all, whatever the order of the runs."""
    answers = [[0, 1, 0, 0, 0, 1], [1, 1, 0, 1, 0, 1]]
    one = [run(PRETRAINED, seed, answers[seed]) for seed in (0, 1)]
    other = [run("cnn", seed, answers[seed]) for seed in (1, 0)]
    assert difference("accuracy", 2, one, other) == Interval(0.0, 0.0, 0.0)
    worse = [run("cnn", seed, [1 - answer for answer in answers[seed]]) for seed in (0, 1)]
    assert difference("accuracy", 2, one, worse).mean == pytest.approx(200 * 5 / 6 - 100)  # both are right in 5 of 6


@pytest.mark.parametrize("seeds, verdict", [(1, "no verdict: 1 seed"), (3, "reproduced")])
def test_the_claim_needs_three_seeds(seeds, verdict):
    right = [0, 1] * 50
    by_model = {
        PRETRAINED: [run(PRETRAINED, seed, right) for seed in range(seeds)],
        "cnn": [run("cnn", seed, [0] * 100) for seed in range(seeds)],
    }
    [claim] = claims("sst2", by_model)
    assert claim.verdict == verdict and claim.paper == 11.2 and claim.measured.mean == pytest.approx(50)


def test_missing_trainings_are_listed_and_not_judged():
    about = {"task": "sst2", "title": "SST-2", "seeds": 2, "width": 8, "epochs": dict.fromkeys(TITLES, 1)}
    about |= {"n_train": 9, "n_dev": 3, "n_test": 4}
    units = {
        "a": run("cnn", 0, [0, 1, 0, 0]),
        "b": run("bilstm", 0, [0, 1, 0, 1]),
        "c": run("bilstm", 1, [0, 1, 0, 1]),
    }
    numbers = summarise("sst2", {"trainings": units}, about)
    page = as_page(numbers)
    assert numbers["claims"] == [] and "It could not be tested." in page
    assert "MiniLM (seed 0); MiniLM (seed 1)" in page and "CNN (seed 1)" in page and "BiLSTM (seed" not in page
    assert "75.0" in page and as_picture(numbers).startswith("<svg")


def test_without_a_test_part_dev_is_judged_and_texts_of_train_choose_the_epoch(monkeypatch):
    monkeypatch.setitem(TASKS, "pocket", TASKS["cola"])
    task_parts.cache_clear()
    parts = task_parts("pocket", "pocket", "tiny")
    task_parts.cache_clear()
    segments = {split: {one.segments for one in texts} for split, texts in parts.items()}
    dev = {one.segments for one in load_examples("pocket", "dev")}
    assert segments["test"] <= dev and not segments["dev"] & dev and not segments["train"] & segments["dev"]


@pytest.fixture
def settings(tmp_path):
    own = {"task": "pocket"}
    return Settings("tiny", SIZES["tiny"], tmp_path / "out", "pocket", tmp_path / "work", own=own)


def test_each_seed_has_all_models_before_the_next(settings):
    names = [unit.name for unit in study.training_units(settings, {})]
    assert names == [f"{name}-{seed}" for seed in (0, 1) for name in TITLES]
    settings.own["task"] = "sst2"
    with pytest.raises(UnknownName, match="sst2 has the sizes small"):
        study.training_units(settings, {})


@pytest.mark.parametrize("name", ["transformer", "bilstm", "cnn"])
def test_a_training_leaves_labels_and_answers_and_no_model(settings, name):
    numbers = study._trained(settings, name, 1, no_report)
    assert len(numbers["labels"]) == len(numbers["answers"]) == 24 and numbers["seed"] == 1
    assert set(numbers["answers"]) <= {0, 1, 2} and not study.model_folder(settings, name, 1).exists()


def test_models_are_those_of_the_paper_in_small():
    plans = {name: model_plan(name, ("a", "b"), "minilm", 256) for name in TITLES}
    assert plans[PRETRAINED].encoder == "minilm" and not plans[PRETRAINED].encoder_settings
    assert plans["bilstm"].encoder_settings["layers"] == 4 and plans["bilstm"].pooler == "maximum"
    assert plans["cnn"].encoder_settings["widths"] == [1, 3, 5, 7]
    assert plans["transformer"].encoder_settings["feed_forward"] == 1024
    assert plans["transformer"].pooler == "first_token"
    assert {plan.encoder_settings.get("vectors") for plan in plans.values()} == {None, "random"}
    assert model_recipe("cnn", 2, 1).new_parts_factor == 1.0 and model_recipe(PRETRAINED, 2, 1).seed == 1
