"""The command `layers`: its page, its JSON, its folder, and what it refuses in one sentence."""

import json

import pytest

import pellucid
from pellucid.core.corpus.layer_analysis import LayerAnalysis
from pellucid.core.foundation.errors import BadFile
from tests.tiny import LABELS, save_tiny

METHOD = ("--method", "grad_cam")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, and a file of texts."""
    place = tmp_path_factory.mktemp("layers")
    for name in ("one", "two"):
        save_tiny(place / name, id2label=dict(enumerate(LABELS)))
    (place / "texts.txt").write_text(
        "A gripping, lovely film.\nDull. Not a film.\nA film.\n", encoding="utf-8"
    )
    return place


def test_it_prints_saves_and_draws(run, folder, tmp_path):
    words = ["layers", folder / "one", folder / "two", "--file", folder / "texts.txt", *METHOD, "--limit", 2]
    html, saved = tmp_path / "layers.html", tmp_path / "layers.json"
    status, out, err = run(*words, "--html", html, "--save", saved, "--out", tmp_path / "out")
    assert status == 0, err
    assert out.startswith("2 texts by grad cam") and "layer 0: sum" in out
    assert "What the layers know" in html.read_text(encoding="utf-8")
    analysis = LayerAnalysis.read(saved)
    assert analysis.names == ("one", "two") and len(analysis.texts) == 2
    assert json.loads(run(*words, "--json")[1]) == analysis.record()
    with pytest.raises(BadFile, match=r"LayerAnalysis\.read"):
        pellucid.read(saved)


def test_folders_with_commas_are_trainings_of_one_model(run, folder):
    both = f"{folder / 'one'},{folder / 'two'}"
    status, out, err = run("layers", both, "--file", folder / "texts.txt", *METHOD, "--json", "--layers", 1)
    assert status == 0, err
    (model,) = json.loads(out)["models"]
    assert model["name"] == "one" and len(model["seeds"]) == 2


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--file", "texts.txt", *METHOD, "--layers", "9"], "has layers 0 to"),
        (["--file", "texts.txt", *METHOD, "--layers", "top"], "give all, head or the number"),
        (["--file", "texts.txt", "--method", "lime"], "Methods that do"),
        (["--file", "texts.txt", "--method", "grad"], "grad_cam"),
        (["--file", "none.txt", *METHOD], "none.txt"),
        (METHOD, "name them with --file"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(run, folder, monkeypatch, words, sentence):
    monkeypatch.chdir(folder)
    status, _, err = run("layers", "one", *words)
    assert status == 2 and sentence in err and len(err.strip().splitlines()) == 1
