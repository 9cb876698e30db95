"""`pellucid lens`: from plain texts to a lens in a folder, with its table; what cannot be done ends in one sentence."""

import json

import pytest

import pellucid
from pellucid.models.language_heads.lens_folder import load_lens
from tests.shared.tiny import LABELS, save_tiny
from tests.shared.tiny_training import save_encoder

FEW = "--head-steps 3 --translator-steps 2 --batch-size 8 --dev-rows 4".split()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A tiny classifier, a tiny encoder, and texts: a plain file and a folder of parts."""
    folder = tmp_path_factory.mktemp("files")
    save_tiny(folder / "model", labels=LABELS)
    save_encoder(folder / "encoder")
    examples = pellucid.examples("pocket", "train")[:40]
    (folder / "texts.txt").write_text("\n\n".join(one.text for one in examples), encoding="utf-8")
    for part in ("train", "dev"):
        pellucid.write_json_lines(examples[:10], folder / "data" / f"{part}.jsonl")
    return folder


def test_a_classifiers_lens_from_a_plain_file(run, files, tmp_path):
    out = tmp_path / "lens"
    status, printed, err = run("lens", files / "model", "--texts", files / "texts.txt", "--out", out, *FEW)
    assert status == 0 and "named first" in printed and "Trained on the classifier" in err
    lens = load_lens(out)
    assert lens.record.n_layers == 3 and lens.record.n_texts == 28
    status, again, _ = run("lens", files / "model", "--texts", files / "texts.txt", "--out", out, *FEW)
    assert (status, again) == (0, printed)
    status, _, err = run("lens", files / "model", "--texts", files / "data", "--out", out, *FEW)
    assert status == 2 and "holds a lens of another model, other texts or another recipe" in err


def test_an_encoders_lens_as_json(run, files, tmp_path):
    out = tmp_path / "lens"
    words = ["lens", files / "encoder", "--texts", files / "data", "--out", out, *FEW, "--json"]
    status, printed, err = run(*words)
    assert status == 0 and "Trained on the encoder before fine-tuning" in err
    assert json.loads(printed) == json.loads((out / "lens.json").read_text())["table"]
    assert load_lens(out).trained_on == "the encoder before fine-tuning"


def test_what_cannot_be_done_ends_in_one_sentence(run, files, tmp_path):
    model, texts, out = files / "model", files / "texts.txt", tmp_path / "lens"
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "short.txt").write_text("a\nb\nc\n")
    cases = {
        "fine-tuned, and does not say from which encoder": [model, "--texts", texts, "--on", "encoder"],
        "is an encoder and no classifier": ["minilm", "--texts", texts, "--on", "classifier"],
        "on='both' is not possible": [model, "--texts", texts, "--on", "both"],
        "There is no text in": [model, "--texts", tmp_path / "empty.txt"],
        "no text of 2 pieces or more": [model, "--texts", tmp_path / "short.txt"],
        "There is no file or folder": [model, "--texts", tmp_path / "nothing.txt"],
        "There is no folder": [tmp_path / "nothing", "--texts", texts],
        "learning_rate=0.0 is out of range": [model, "--texts", texts, "--learning-rate", "0"],
    }
    for sentence, words in cases.items():
        status, printed, err = run("lens", *words, "--out", out, *FEW)
        assert (status, printed) == (2, "") and sentence in err and err.count("\n") == 1, err
    assert not out.exists()
    status, _, err = run("lens", model, "--texts", texts, "--out", model, *FEW)
    assert status == 2 and "holds a model; give another folder for the lens" in err


def test_in_python_a_list_and_a_loaded_model(files, tmp_path):
    texts = [one.text for one in pellucid.examples("pocket", "train")[:40]]
    model = pellucid.load(files / "model")
    lens = pellucid.lens(model, texts, out=tmp_path / "lens", head_steps=2, translator_steps=2, dev_rows=4)
    assert lens.record.model_hash == model.hash
    for message, values in {
        "No setting of a lens is called 'steps'": {"steps": 3},
        "format= says how files are read": {"format": "table"},
        "loaded by its name or folder": {"on": "encoder"},
        "used as it is": {"device": "cpu"},
        "mask_share=0.9 is out of range": {"mask_share": 0.9},
    }.items():
        with pytest.raises(pellucid.PellucidError, match=message):
            pellucid.lens(model, texts, out=tmp_path / "other", **values)


@pytest.mark.whole
def test_the_encoder_that_a_trained_model_began_with(files, tmp_path):
    model = pellucid.train(
        {part: pellucid.examples("pocket", part)[:12] for part in ("train", "dev")},
        encoder=files / "encoder",
        pooler="first_token",
        out=tmp_path / "model",
        epochs=1,
    )
    texts = {part: pellucid.examples("pocket", part)[:8] for part in ("train", "dev")}
    steps = {"head_steps": 2, "translator_steps": 2, "dev_rows": 4}
    before = pellucid.lens(tmp_path / "model", texts, on="encoder", out=tmp_path / "before", **steps)
    after = pellucid.lens(tmp_path / "model", texts, out=tmp_path / "after", **steps)
    assert before.trained_on == "the encoder before fine-tuning" and after.trained_on == "the classifier"
    assert before.record.vocabulary == after.record.vocabulary and before.digest != after.digest
    assert after.record.model_hash == model.hash
