"""The command `attention`: its verdict, page, JSON and folder, and what it refuses in one sentence."""

import json

import pytest

from pellucid.attention.record import AttentionAnalysis
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from tests.shared.tiny import LABELS, save_tiny, tiny_composed

TEXTS = ("A gripping, lovely film.", "Dull. Not a film.", "A film.", "Fine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models that weigh, one that does not, and labelled texts."""
    place = tmp_path_factory.mktemp("attention")
    for pooler in ("additive", "span", "mean"):
        model = tiny_composed(pooler)
        save_composed(model.network, model.tokenizer, Plan("tiny", pooler, {}, LABELS), place / pooler)
    save_tiny(place / "plain", id2label=dict(enumerate(LABELS)))
    rows = [{"id": f"t{n}", "text": text, "label": LABELS[n % 3]} for n, text in enumerate(TEXTS)]
    (place / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (place / "equal.jsonl").write_text('{"id": "t2", "weights": [0.5, 0.25, 0.25]}\n', encoding="utf-8")
    (place / "equal.json").write_text('{"t2": [0.5, 0.25, 0.25]}', encoding="utf-8")
    (place / "negative.json").write_text('{"t2": [1.5, -0.5, 0]}', encoding="utf-8")
    (place / "sum.json").write_text('{"t2": [0.5, 0.5, 0.5]}', encoding="utf-8")
    (place / "broken.json").write_text("[1, 2", encoding="utf-8")
    return place


@pytest.mark.whole
def test_it_prints_saves_and_draws(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    words = ["attention", "additive", "texts.jsonl", "--against", "span"]
    html, saved, out = tmp_path / "a.html", tmp_path / "a.json", tmp_path / "out"
    status, printed, err = run(*words, "--html", html, "--save", saved, "--out", out)
    assert status == 0, err
    assert " ".join(printed.split()).startswith(
        "Whether the weights of additive may be read as an explanation is undecided: 3 texts"
    )
    assert "median change: " in printed and err.count("Written: ") == 3
    assert "Can attention be believed?" in html.read_text(encoding="utf-8")
    analysis = AttentionAnalysis.read(saved)
    assert analysis.names == ("additive", "span") and analysis == AttentionAnalysis.read(out / "analysis.json")
    assert json.loads(run(*words, "--out", out, "--json")[1]) == analysis.record()


def test_its_file_and_its_folder_are_drawn(run, folder, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(folder)
    saved, out = tmp_path / "a.json", tmp_path / "out"
    run("attention", "additive", "texts.jsonl", "--tests", "uniform", "--save", saved, "--out", out)
    for source, text, name in ((saved, "t0", "a.svg"), (out, "2", "b.svg")):
        status, printed, err = run("figure", source, "--text", text, "--out", tmp_path / name)
        assert (status, printed) == (0, "") and "Written:" in err, err
    assert AttentionAnalysis.read(out) == AttentionAnalysis.read(saved)
    (out / "analysis.json").unlink()
    for words, sentence in (
        ((out,), "holds no finished attention analysis; run the same"),
        ((saved, "--text", "nowhere"), "is no text of this analysis"),
        ((saved, "--top", "3"), "leave them away"),
    ):
        status, printed, err = run("figure", *words, "--out", tmp_path / "c.svg")
        assert (status, printed) == (2, "") and sentence in err and err.count("\n") == 1


def test_a_choice_of_tests_and_settings(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = [
        "attention",
        "additive",
        "texts.jsonl",
        "--tests",
        "permuted",
        "--set",
        "n_permutations=3",
        "--json",
    ]
    status, printed, err = run(*words)
    assert status == 0, err
    [line] = json.loads(printed)["models"][0]["lines"]
    assert line["settings"] == {"n_permutations": 3, "seed": 0}


@pytest.mark.parametrize("name", ["equal.jsonl", "equal.json"])
def test_weights_come_from_a_file(run, folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    status, printed, err = run(
        "attention", "additive", "texts.jsonl", "--weights", name, "--tests", "user_weights", "--json"
    )
    assert status == 0, err
    assert json.loads(printed)["models"][0]["lines"][0]["n"] == 1


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["additive", "texts.jsonl", "--weights", "negative.json"], "'t2' has a negative weight, -0.5"),
        (["additive", "texts.jsonl", "--weights", "sum.json"], "'t2' sum to 1.5"),
        (["additive", "texts.jsonl", "--weights", "broken.json"], "does not hold weights"),
        (["additive", "texts.jsonl", "--weights", "none.json"], "none.json"),
        (["additive", "texts.jsonl", "--tests", "permute"], "Did you mean 'permuted'"),
        (["additive", "texts.jsonl", "--set", "permuted.n_permutations=2"], "name the tests too"),
        (["additive", "none.jsonl"], "none.jsonl"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(run, folder, monkeypatch, words, sentence):
    monkeypatch.chdir(folder)
    status, _, err = run("attention", *words)
    assert status == 2 and sentence in err and len(err.strip().splitlines()) == 1
