"""The command `layers`: its page, its JSON, its folder, and what it refuses in one sentence."""

import json

import pytest

import pellucid
from pellucid.layers.door import layers_at
from pellucid.layers.record import LayerAnalysis
from tests.shared.tiny import LABELS, save_tiny

METHOD = ("--method", "grad_cam")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, and a file of texts."""
    place = tmp_path_factory.mktemp("layers")
    for name in ("one", "two"):
        save_tiny(place / name, id2label=dict(enumerate(LABELS)))
    (place / "texts.txt").write_text("A gripping, lovely film.\nDull. Not a film.\nA film.\n", encoding="utf-8")
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
    assert pellucid.read(saved) == pellucid.read(tmp_path / "out") == analysis


def test_its_file_and_its_folder_are_drawn_as_a_map(run, folder, tmp_path):
    pytest.importorskip("matplotlib")
    saved, work = tmp_path / "layers.json", tmp_path / "out"
    words = ["layers", folder / "one", folder / "two", "--file", folder / "texts.txt", *METHOD]
    assert run(*words, "--save", saved, "--out", work)[0] == 0
    assert layers_at(work) == LayerAnalysis.read(saved)
    for source, text in ((saved, ()), (work, ("--text", 1)), (saved, ("--text", "2"))):
        status, _, err = run("figure", source, "--out", tmp_path / "map.svg", *text)
        assert status == 0, err
        assert "layer" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    for wrong, sentence in (
        (("--text", "9"), "0 to 2"),
        (("--kind", "words"), "map"),
        (("--top", 3), "leave them away"),
    ):
        status, _, err = run("figure", saved, "--out", tmp_path / "no.svg", *wrong)
        assert status == 2 and sentence in err and err.count("\n") == 1
    next((work / "parts").glob("01-*")).unlink()
    status, _, err = run("figure", work, "--out", tmp_path / "no.svg")
    assert status == 2 and "not finished" in err


def test_folders_with_commas_are_trainings_of_one_model(run, folder):
    both = f"{folder / 'one'},{folder / 'two'}"
    status, out, err = run("layers", both, "--file", folder / "texts.txt", *METHOD, "--json", "--layers", 1)
    assert status == 0, err
    (model,) = json.loads(out)["models"]
    assert model["name"] == "one" and len(model["seeds"]) == 2


def test_rows_may_be_time_steps(run, folder):
    words = ["--method", "guan_gradient", "--layers", 1, "--positions", "each", "--limit", 2]
    status, out, err = run("layers", folder / "one", "--file", folder / "texts.txt", *words)
    assert status == 0, err
    assert "Text 0: 13 steps" in out and ": sum" not in out


@pytest.mark.parametrize(
    "words, sentence",
    [
        (
            ["--file", "texts.txt", *METHOD, "--layers", "1", "--positions", "each"],
            "explains no state of a step",
        ),
        (["--file", "texts.txt", "--positions", "each"], "give the number of one"),
        (["--file", "texts.txt", *METHOD, "--layers", "9"], "give a number from 0 to"),
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
