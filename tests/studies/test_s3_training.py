"""Watched trainings in small: nats by step, layer and text, what rises and falls, what changes, and the picture."""

import numpy as np
import pytest

from studies.s3_accuracy.models import PRETRAINED
from studies.s3_training.numbers import LSTM, change_by_layer, claims, rise_and_fall, summarise
from studies.s3_training.page import as_page
from studies.s3_training.picture import as_picture, shade
from studies.s3_training.study import SIZES, about, s3_training, training_units
from studies.shared.curve_plot import spread
from studies.shared.runner import run_study
from studies.shared.study import Settings
from studies.shared.unit_files import read_unit
from tests.shared.tiny_training import save_encoder


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    encoder = str(save_encoder(folder / "encoder"))
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder)


@pytest.fixture(scope="module")
def page(settings):
    return run_study(s3_training(), settings)


def run(model, seed, nats, steps=(0, 50, 100)):
    """nats: [step layer], the same for four texts but for their own height."""
    values = [[[one + text for text in range(4)] for one in look] for look in nats]
    history = [{"dev_accuracy": 0.5}]
    layers = [str(layer) for layer in range(len(nats[0]))]
    return {"model": model, "seed": seed, "steps": list(steps), "layers": layers, "nats": values, "settled": [1.0],
            "history": history, "seconds": 1.0}  # fmt: skip


@pytest.mark.whole
def test_every_look_of_every_training_stays_and_no_model(settings, page):
    names = [unit.name for unit in training_units(settings, {})]
    assert names == [f"{LSTM}-0", f"{PRETRAINED}-0", f"{LSTM}-1", f"{PRETRAINED}-1"]
    for name in names:
        unit = read_unit(settings.runs, name)
        assert unit["steps"] == list(range(5 if unit["model"] == LSTM else 3))
        n_layers = 4 if unit["model"] == LSTM else 3
        assert np.shape(unit["nats"]) == (len(unit["steps"]), n_layers + 1, 4) and np.min(unit["nats"]) >= 0
    assert not any(settings.work.iterdir())


@pytest.mark.whole
def test_the_page_says_that_two_seeds_are_no_verdict(page):
    assert page.count("no verdict: 2 seeds") == 4 and "Not run yet" not in page
    assert "## BiLSTM" in page and "MiniLM" not in page  # the encoder has another name


@pytest.mark.whole
def test_a_finished_study_does_no_work(settings, page, monkeypatch):
    monkeypatch.setattr("studies.s3_training.study.train_model", None)
    assert run_study(s3_training(), settings) == page


def test_rise_and_fall_are_those_of_the_other_half_of_the_texts():
    nats = np.array([[[[9.0] * 4, [height] * 4] for height in heights] for heights in ([1, 5, 2], [1, 2, 4])])
    rise, fall = rise_and_fall(nats)
    assert rise.mean == pytest.approx((4 + 3) / 2) and fall.mean == pytest.approx((3 + 0) / 2)
    noisy = nats.copy()
    noisy[:, 1, 1, ::2] += 10  # a peak that only the choosing texts have
    assert rise_and_fall(noisy)[0].mean == pytest.approx((4 + 1) / 2)


def test_a_change_is_relative_to_the_first_look_and_leaves_word_vectors_out():
    nats = np.array([[[[1.0] * 4, [10.0] * 4, [20.0] * 4], [[9.0] * 4, [12.0] * 4, [15.0] * 4]]])
    np.testing.assert_allclose(change_by_layer(nats), [[20.0, 25.0]])


def test_claims_are_positive_where_the_paper_is_right():
    lstm = [run(LSTM, seed, [[5, 2], [5, 9 + seed], [5, 4]]) for seed in range(3)]
    steady = [[5, 10, 10, 10], [5, 10, 11, 12 + 0.1], [5, 10, 11, 12]]
    bert = [run(PRETRAINED, seed, steady) for seed in range(3)]
    tested = claims({LSTM: lstm, PRETRAINED: bert})
    assert [one.verdict for unit in tested.values() for one in unit] == ["reproduced"] * 4
    assert [one.measured.mean > 0 for one in tested["change"]] == [True, True]
    other = claims({LSTM: [run(LSTM, seed, steady) for seed in range(3)], PRETRAINED: bert})
    assert other["change"][0].measured.mean == 0 and not claims({PRETRAINED: bert})["nats"]


def test_both_models_are_compared_over_the_steps_that_both_have():
    longer = [run(LSTM, seed, [[5, 2], [5, 3], [5, 900]], steps=(0, 50, 900)) for seed in range(3)]
    shorter = [run(LSTM, seed, [[5, 2], [5, 3]], steps=(0, 50)) for seed in range(3)]
    bert = [run(PRETRAINED, seed, [[5, 2, 3, 4], [5, 2, 3, 4]], steps=(0, 50)) for seed in range(3)]
    one, other = (claims({LSTM: of, PRETRAINED: bert})["change"][0] for of in (longer, shorter))
    assert one.measured == other.measured and one.measured.mean > 0


def test_missing_trainings_are_listed(settings):
    numbers = summarise([run(LSTM, 0, [[5, 2], [5, 9], [5, 4]])], about(settings))
    assert numbers["missing"] == [f"{LSTM} (seed 1)", f"{PRETRAINED} (seed 0)", f"{PRETRAINED} (seed 1)"]
    assert "no verdict: 1 seed" in as_page(numbers) and as_picture(numbers).count("<polyline") == 2


def test_names_of_lines_do_not_lie_on_each_other():
    assert spread([30.0, 10.0, 12.0], 13) == [36.0, 10.0, 23.0]
    assert shade(0, 3) == "#9ec4e8" and shade(2, 3) == "#103a6e"
