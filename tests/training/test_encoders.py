"""Training on word vectors, from the command line on: settings arrive, the plan is remembered, and it learns."""

import json
import sys

import pytest

import pellucid
from pellucid.base.kinds import encoders
from pellucid.cli import main
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example
from pellucid.training.recipes import recipe_of

LABELS = ("negative", "positive")
SMALL = {
    "bilstm": {"vectors": "random", "width": 16, "dropout": 0},
    "cnn": {"vectors": "random", "filters": 8, "widths": [2, 3], "dropout": 0},
    "transformer": {
        "vectors": "random",
        "width": 16,
        "heads": 2,
        "feed_forward": 32,
        "layers": 1,
        "dropout": 0,
    },
}


@pytest.fixture
def data(tmp_path):
    """Two words decide the label."""
    words = (("good", "positive"), ("bad", "negative"))
    texts = [Example((f"the {word} film {n}",), label=label) for n in range(32) for word, label in words]
    for part in ("train", "dev"):
        pellucid.write_json_lines(texts, tmp_path / "data" / f"{part}.jsonl")
    return tmp_path / "data"


@pytest.mark.whole
@pytest.mark.parametrize("name", encoders.names())
def test_the_command_trains_it(name, data, tmp_path, monkeypatch):
    settings = [f"--encoder-set={key}={json.dumps(value)}" for key, value in SMALL[name].items()]
    words = ["--encoder", name, *settings, "--strip-final-full-stop", "--learning-rate", 0.02, "--epochs", 2]
    line = ["pellucid", "train", data, *words, "--batch-size", 8, "--out", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", [str(word) for word in line])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    model = pellucid.load(tmp_path / "out")
    assert pellucid.accuracy(model, pellucid.examples(data, "dev")).mean == 1
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["encoder_settings"] == SMALL[name] and config["strip_final_full_stop"] is True
    assert config["trained"]["recipe"]["learning_rate"] == 0.02
    (explanation,) = pellucid.explain(model, "the good film 3 .", "span_attention")
    assert explanation.prediction.label == "positive" and "." not in explanation.units.parts.labels


@pytest.mark.parametrize("name", encoders.names())
def test_an_encoder_without_pretraining_learns_at_its_own_rate(name):
    recipe = recipe_of("span", 0, None, name)
    assert (recipe.learning_rate, recipe.new_parts_factor) == (encoders.get(name).facts["learning_rate"], 1)
    assert recipe.penalties == {"entropy": 0.1}
    assert recipe_of("mean", 0, None, name, learning_rate=0.5).learning_rate == 0.5


def test_plans_of_older_versions_stay_the_same():
    """What a run is named by, and what its folder says, has nothing new where nothing new was asked for."""
    record = Plan("minilm", "span", {"max_width": 3}, LABELS).record()
    assert record == {
        "encoder": "minilm",
        "pooler": "span",
        "pooler_settings": {"max_width": 3},
        "labels": LABELS,
        "problem": "single_label",
        "trained": {},
    }
    assert Plan("minilm", "span", {}, LABELS, strip_final_full_stop=True).record()["strip_final_full_stop"]


@pytest.mark.whole
@pytest.mark.parametrize("name", encoders.names())
def test_an_encoder_from_a_folder_keeps_its_own_rate(name, data, tmp_path):
    """Begun by its name or taken from a trained model, it learns alike."""
    small = {"out": tmp_path / "first", "encoder_settings": SMALL[name], "epochs": 1, "pooler": "mean"}
    pellucid.train(data, encoder=name, **small)
    pellucid.train(data, encoder=tmp_path / "first", pooler="span", out=tmp_path / "second", epochs=1)
    rates = []
    for folder in ("first", "second"):
        recipe = json.loads((tmp_path / folder / "config.json").read_text())["trained"]["recipe"]
        rates.append((recipe["learning_rate"], recipe["new_parts_factor"]))
    assert rates == [(encoders.get(name).facts["learning_rate"], 1)] * 2
