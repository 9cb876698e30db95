"""`pellucid spans` and `pellucid errors`: what they print and write, and where they refuse."""

import json

import pytest

import pellucid
from pellucid.data.load import load_part, load_parts
from pellucid.models.composed.composed import save_composed, write_trained_texts
from pellucid.models.composed.networks import Plan
from pellucid.text.example import text_digest
from tests.hostile.command_line import run
from tests.shared.tiny import LABELS, save_tiny, tiny_composed

TEXT = "A gripping, lovely film."


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A self-explaining model's folder."""
    folder, model = tmp_path_factory.mktemp("span"), tiny_composed("span")
    save_composed(model.network, model.tokenizer, Plan("tiny", "span", {}, LABELS), folder)
    return str(folder)


def test_spans_prints_json_and_writes_a_page(saved, tmp_path):
    page = tmp_path / "spans.html"
    status, out, err = run(["spans", saved, TEXT, "fine", "--k", "2", "--json", "--html", str(page)])
    assert status == 0, err
    first, second = json.loads(out)
    assert len(first["spans"]) == 2 and first["identity_gap"] < 1e-4
    assert second["spans"][0]["removal"] is None
    assert "The spans of each text" in page.read_text(encoding="utf-8")


def test_spans_is_drawn_for_people(saved):
    status, out, _ = run(["spans", saved, TEXT])
    assert status == 0 and "read alone:" in out and "of the weight" in out


def test_errors_learns_cues_from_the_train_part_and_writes_a_page(saved, tmp_path):
    page = tmp_path / "errors.html"
    words = ["errors", saved, "pocket", "--limit", "12", "--min-count", "3", "--html", str(page)]
    status, out, err = run(words)
    assert status == 0, err
    assert out.startswith("Of 12 texts the model gets") and "Cue words" in out
    assert "What errors look like" in page.read_text(encoding="utf-8")
    status, out, _ = run([*words[:-2], "--train", "pocket", "--json"])
    assert json.loads(out)["cues"]["neutral"]


def test_models_without_spans_are_refused_in_one_sentence(tmp_path):
    plain = str(save_tiny(tmp_path / "plain", id2label=dict(enumerate(LABELS))))
    status, _, err = run(["spans", plain, TEXT])
    assert status == 2 and "no span attention" in err and len(err.strip().splitlines()) == 1


def test_errors_of_a_model_without_spans_are_grouped_by_the_words_of_a_method(tmp_path):
    plain = str(save_tiny(tmp_path / "plain", id2label=dict(enumerate(LABELS))))
    status, out, _ = run(["errors", plain, "pocket", "--limit", "4", "--method", "gradient"])
    assert status == 0 and "speak most for it according to gradient" in " ".join(out.split())


@pytest.fixture(scope="module")
def one_file(tmp_path_factory):
    """A file of texts, and a model that was made with the train and dev texts of it."""
    folder = tmp_path_factory.mktemp("one")
    texts = pellucid.examples("pocket", "train")[:40]
    file = folder / "reviews.jsonl"
    pellucid.write_json_lines(texts, file)
    model, plan = tiny_composed("span"), Plan("tiny", "span", {}, LABELS)
    save_composed(model.network, model.tokenizer, plan, folder / "model")
    seen = {text_digest(each) for part in load_parts(file).values() for each in part}
    write_trained_texts(seen, folder / "model")
    return folder


def test_of_one_file_that_was_trained_on_the_rest_is_judged(one_file):
    file, rest = str(one_file / "reviews.jsonl"), len(load_part(one_file / "reviews.jsonl", "test"))
    sentence = f"made with {40 - rest} of the 40 texts of {file} (train and dev); only the {rest} others are judged"
    few = ["--methods", "gradient", "--metrics", "token_f1", "--resamples", "20", "--json"]
    status, out, err = run(["compare", str(one_file / "model"), file, *few])
    assert status == 0 and sentence in " ".join(err.split())
    assert json.loads(out)["about"]["examples"] == rest
    assert not any("train or dev part" in caveat for caveat in json.loads(out)["caveats"])
    status, out, err = run(["errors", str(one_file / "model"), file, "--min-count", "1", "--json"])
    analysis = json.loads(out)
    assert status == 0 and sentence in " ".join(err.split())
    assert analysis["wrong"] + analysis["right"] == rest
    assert not any("train" in caveat for caveat in analysis["caveats"])


def test_a_part_that_was_trained_on_is_judged_with_a_caution(one_file, tmp_path):
    """The user named it: it is judged, and nobody takes the numbers for those of new texts."""
    train = load_part(one_file / "reviews.jsonl", "train")
    pellucid.write_json_lines(train, tmp_path / "train.jsonl")
    few = ["--methods", "gradient", "--metrics", "token_f1", "--resamples", "20", "--limit", "5"]
    for data in (tmp_path, tmp_path / "train.jsonl"):
        words = ["compare", str(one_file / "model"), str(data), "--split", "train", *few]
        status, out, _ = run(words)
        assert status == 0 and "5 of 5 texts were in the train or dev part" in " ".join(out.split())
