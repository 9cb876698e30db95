"""A fine-tuned classifier is upgraded: encoder, labels and tokenizer stay, and both are judged on the same texts."""

import json
import sys
from dataclasses import replace

import pytest
import torch

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.cli import main
from pellucid.models.composed.composed import as_classifier, compose, save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.text.example import Example, as_examples
from pellucid.training import upgrading
from pellucid.training.upgrading import Upgrade, change
from tests.shared.asking import ask
from tests.shared.moments import files_of
from tests.shared.tiny import DECODERS, FAMILIES, LABELS, save_tiny, tiny_composed, tiny_on_vectors

ORDER = ("positive", "negative", "neutral")  # as the classifier has them, not as they sort
FEW = {"epochs": 1, "batch_size": 8, "precision": "float32", "progress": False}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for part, size in (("train", 24), ("dev", 12), ("test", 15)):
        pellucid.write_json_lines(pellucid.examples("pocket", part)[:size], folder / f"{part}.jsonl")
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("source"), "roberta", ORDER)


@pytest.fixture(scope="module")
def upgraded(data, source, tmp_path_factory):
    out = tmp_path_factory.mktemp("upgraded") / "better"
    return pellucid.train(data, start_from=source, out=out, **FEW), out


@pytest.mark.whole
def test_the_labels_and_the_tokenizer_stay(upgraded, source):
    model, out = upgraded
    assert model.labels == pellucid.load(out).labels == ORDER
    new, old = (each.encode(as_examples("A fine film.")) for each in (model, load_classifier(source)))
    without_content = tuple(replace(row, content=()) for row in new.rows)  # what only the new one reads
    assert replace(new, rows=without_content, whole_rows=without_content) == old
    assert pellucid.explain(model, "A gripping, lovely film.", "span_attention")[0].spans(2)


def test_both_are_judged_on_the_same_texts(upgraded, data, source):
    model, out = upgraded
    upgrade, before = Upgrade.read(out), pellucid.load(source)
    assert set(upgrade.parts) == {"dev", "test"} and not upgrade.left_out
    for part, of_part in upgrade.parts.items():
        examples = pellucid.examples(data, part)
        assert of_part.n == len(examples)
        assert of_part.before == pellucid.accuracy(before, examples)
        assert of_part.after == pellucid.accuracy(model, examples)
        assert of_part.difference.mean == pytest.approx(of_part.after.mean - of_part.before.mean)


def test_a_finished_upgrade_is_loaded_and_a_lost_record_written_again(upgraded, data, source):
    _, out = upgraded
    before = files_of(out)
    (out / "upgrade.json").unlink()
    pellucid.train(data, start_from=source, out=out, **FEW)
    assert files_of(out) == before
    with pytest.raises(BadFile, match="trained otherwise"):
        pellucid.train(data, start_from=source, out=out, **{**FEW, "epochs": 2})


@pytest.mark.whole
def test_the_command_says_what_it_did(data, source, tmp_path, monkeypatch, capsys):
    words = ["--from", source, "--pooler", "span", "--pooler-set", "weights=uniform", "--epochs", 1]
    line = ["pellucid", "train", data, *words, "--batch-size", 8, "--out", tmp_path / "better"]
    monkeypatch.setattr(sys, "argv", [str(word) for word in line])
    with pytest.raises(SystemExit) as ended:
        main()
    out = " ".join(capsys.readouterr().out.split())
    assert not ended.value.code
    assert "Accuracy on dev (12 texts): " in out and "Accuracy on test (15 texts): " in out
    assert " % before, " in out and " points [" in out and "chosen on dev" in out
    config = json.loads((tmp_path / "better" / "config.json").read_text())
    assert config["pooler_settings"] == {"weights": "uniform"} and config["labels"] == list(ORDER)


@pytest.mark.whole
def test_a_missing_part_is_reported_as_missing(data, source, tmp_path):
    for part in ("train", "dev"):
        (tmp_path / f"{part}.jsonl").write_bytes((data / f"{part}.jsonl").read_bytes())
    pellucid.train(tmp_path, start_from=source, out=tmp_path / "out", **FEW)
    upgrade = Upgrade.read(tmp_path / "out")
    assert set(upgrade.parts) == {"dev"} and "no test.jsonl" in upgrade.left_out["test"]
    assert any("The test part was not judged" in line for line in upgrade.in_words())
    (tmp_path / "test.jsonl").write_bytes((data / "test.jsonl").read_bytes())
    pellucid.train(tmp_path, start_from=source, out=tmp_path / "out", **FEW)  # trained already, judged anew
    assert Upgrade.read(tmp_path / "out").parts["test"].n == 15


def test_a_part_that_the_new_form_cannot_read_is_left_out(data, source, tmp_path, monkeypatch):
    """Only the test part has so long a text; the model is trained, and dev is judged."""
    monkeypatch.setattr("pellucid.models.poolers.span.MOST_UNITS", 40)
    monkeypatch.setattr("pellucid.models.pooling.span_attention.MOST_UNITS", 40)
    for part in ("train", "dev"):
        (tmp_path / f"{part}.jsonl").write_bytes((data / f"{part}.jsonl").read_bytes())
    row = {"id": "long", "text": "a " * 41, "label": ORDER[0]}
    (tmp_path / "test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    settings = {**FEW, "pooler_settings": {"interaction": "exact"}}
    pellucid.train(tmp_path, start_from=source, out=tmp_path / "out", **settings)
    upgrade = Upgrade.read(tmp_path / "out")
    assert set(upgrade.parts) == {"dev"} and "at most 40 units a text" in upgrade.left_out["test"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_encoder_of_every_family_stays(family, tmp_path):
    folder = save_tiny(tmp_path, family, LABELS)
    if family in DECODERS:
        with pytest.raises(ModelCannot, match="from left to right"):
            upgrading.start(folder, None, None, "cpu")
        return
    started = upgrading.start(folder, None, None, "cpu")
    plan = Plan(str(folder), "span", {}, started.labels, started_from=started.hash)
    network, tokenizer = compose(plan, 0)
    own = started.network.base_model.state_dict()
    encoder_weights = network.encoder.state_dict()
    assert encoder_weights and all(torch.equal(tensor, own[name]) for name, tensor in encoder_weights.items())
    assert all(name in encoder_weights or name.startswith("pooler.") for name in own)
    model = as_classifier(network.eval(), tokenizer, plan, "upgraded")
    for text in ("A fine film.", ("The café was closed.", "Nobody could eat there.")):
        assert ask(model, [text], "span_attention")[0].diagnostics["parity"] < 1e-5


@pytest.mark.parametrize("make_model", (tiny_composed, tiny_on_vectors), ids=lambda make_model: make_model.__name__)
def test_a_composed_model_is_upgraded_too(make_model, tmp_path):
    old = make_model(pooler="mean")
    kind = getattr(old.network.config, "model_type", "")
    save_composed(old.network, old.tokenizer, Plan(kind, "mean", {}, LABELS), tmp_path)
    started = upgrading.start(tmp_path, None, None, "cpu")
    network, _ = compose(Plan(str(tmp_path), "span", {}, LABELS, started_from=started.hash), 0)
    encoder_weights = network.encoder.state_dict()
    assert all(torch.equal(tensor, encoder_weights[name]) for name, tensor in old.network.encoder.state_dict().items())


@pytest.mark.whole
def test_a_model_that_passes_over_full_stops_goes_on_to(data, tmp_path):
    old = tiny_composed("mean")
    plan = Plan("tiny", "mean", {}, LABELS, strip_final_full_stop=True)
    save_composed(old.network, old.tokenizer, plan, tmp_path / "old")
    model = pellucid.train(data, start_from=tmp_path / "old", out=tmp_path / "new", **FEW)
    assert model.encode(as_examples("Fine .")).rows == model.encode(as_examples("Fine")).rows


def test_one_logit_becomes_two_classes(tmp_path):
    started = upgrading.start(save_tiny(tmp_path, n_labels=1, id2label={0: "fine"}), None, None, "cpu")
    assert upgrading.problem_of(started) == "single_label"
    parts = {"train": [Example(("x",), label="fine"), Example(("y",), label="not fine")]}
    assert upgrading.classes(started, parts) == ("not fine", "fine")
    assert len(upgrading.right(started, parts["train"])) == 2


def test_several_labels_stay_several(tmp_path):
    folder = save_tiny(tmp_path, labels=LABELS, problem_type="multi_label_classification")
    started = upgrading.start(folder, None, None, "cpu")
    parts = {"train": [Example(("x",), label="negative, positive"), Example(("y",), label="")]}
    assert (upgrading.problem_of(started), upgrading.classes(started, parts)) == ("multi_label", LABELS)
    assert len(upgrading.right(started, parts["train"])) == 2
    with pytest.raises(BadSetting, match="multi_label; leave problem="):
        upgrading.start(folder, None, "single_label", "cpu")


def test_what_cannot_be_upgraded_is_refused(data, source, tmp_path):
    with pytest.raises(BadSetting, match="leave encoder="):
        pellucid.train(data, start_from=source, encoder="minilm", out=tmp_path / "a")
    with pytest.raises(BadSetting, match="encoder_settings belong to bilstm, cnn"):
        pellucid.train(data, start_from=source, encoder_settings={"width": 8}, out=tmp_path / "b", **FEW)
    strange = save_tiny(tmp_path / "strange", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(BadInput, match="negative, neutral, positive; it knows LABEL_0, LABEL_1, LABEL_2"):
        pellucid.train(data, start_from=strange, out=tmp_path / "c", **FEW)
    number = save_tiny(tmp_path / "number", n_labels=1, problem_type="regression")
    with pytest.raises(ModelCannot, match="regression"):
        pellucid.train(data, start_from=number, out=tmp_path / "d", **FEW)
    with pytest.raises(BadFile, match="no record of an upgrade"):
        (tmp_path / "upgrade.json").write_text("[]")
        Upgrade.read(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([True] * 50 + [False] * 50, [True] * 90 + [False] * 10, "better than before"),
        ([True] * 90 + [False] * 10, [True] * 50 + [False] * 50, "worse than before"),
        ([True, False] * 20, [False, True] * 20, "too close to tell apart"),
        ([True, False] * 20, [True, False] * 20, "too close to tell apart"),
    ],
)
def test_the_verdict_is_that_of_the_paired_difference(before, after, verdict, tmp_path):
    of_part = change(before, after)
    assert of_part.verdict == verdict
    record = Upgrade("old", {"dev": of_part}, {})
    record.save(tmp_path)
    assert Upgrade.read(tmp_path) == record
