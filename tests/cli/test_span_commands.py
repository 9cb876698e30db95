"""`pellucid spans` and `pellucid errors`: what they print and write, and where they refuse."""

import json

import pytest

from pellucid.models.composed import save_composed
from pellucid.models.plan import Plan
from tests.hostile.running import run
from tests.tiny import LABELS, save_tiny, tiny_composed

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
    for words in (["spans", plain, TEXT], ["errors", plain, "pocket", "--limit", "4"]):
        status, _, err = run(words)
        assert status == 2 and "no span attention" in err and len(err.strip().splitlines()) == 1
