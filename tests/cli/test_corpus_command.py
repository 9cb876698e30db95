"""`explain --out`, `jobs` and `query`: what they print, and what they refuse in one sentence."""

import json

import pytest

import pellucid
from tests.shared.tiny import LABELS, save_tiny


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, ten texts, and a run of a function over them."""
    folder = tmp_path_factory.mktemp("corpus-command")
    save_tiny(folder / "model", labels=LABELS)
    (folder / "texts.txt").write_text("\n".join(f"A good film {n}." for n in range(10)) + "\nunreadable\n")
    model = pellucid.from_function(answer, ["negative", "positive"])
    pellucid.explain_corpus(model, str(folder / "texts.txt"), folder=folder / "run", progress=False)
    return folder


def answer(texts):
    if "unreadable" in texts:
        raise RuntimeError("this word has no vector")
    return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--out", "new"], "--out keeps a run over data; name them: --data FILE"),
        (["A good film.", "--out", "new"], "name them: --data FILE"),
        (["--data", "texts.txt", "--out", "new", "--methods", "all"], "--methods all does not go with --out"),
        (["--data", "texts.txt", "--out", "new", "--html", "a.html"], "--html does not go with --out"),
        (["--data", "texts.txt", "--slice", "1/2"], "--slice belongs to a run in a folder; name it: --out FOLDER"),
        (["--data", "texts.txt", "--out", "new", "--slice", "3/2", "--yes"], "--slice 3/2 is out of range"),
        (["--data", "*.csv", "--out", "new"], "'*.csv' fits no file"),
        (["--data", "texts.txt", "--out", "run", "--yes"], "holds another run (model was"),
        (["--data", "texts.txt", "--out", "new", "--yes", "--engine", "slurm"], "No engine is called 'slurm'"),
        (["--data", "texts.txt", "--out", "new", "--yes", "--reuse", "nothing"], "nothing holds no run"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(run, place, monkeypatch, words, sentence):
    monkeypatch.chdir(place)
    status, _, errors = run("explain", "model", *words)
    assert status == 2 and sentence in errors and len(errors.splitlines()) == 1, errors


def test_a_run_keeps_parts_of_texts(run, place, monkeypatch):
    monkeypatch.chdir(place)
    words = ["--data", "texts.txt", "--method", "gradient", "--out", "other", "--yes", "--keep", "nowhere"]
    status, _, errors = run("explain", "model", *words)
    assert status == 2 and "keep='nowhere' is in none of the 11 texts" in errors


def test_a_long_run_wants_a_yes_in_a_script(run, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr("pellucid.explaining.commands.corpus_run.LONG", 0.0)
    status, _, errors = run("explain", "model", "--data", "texts.txt", "--method", "gradient", "--out", "new", stdin="")
    assert status == 2 and "add --yes to begin it" in errors and not (place / "new").exists()


def test_the_estimate_keeps_nothing(run, place, monkeypatch):
    monkeypatch.chdir(place)
    before = sorted(place.rglob("*"))
    status, output, _ = run("explain", "model", "--data", "texts.txt", "--method", "gradient", "--estimate")
    assert status == 0 and output.startswith("11 texts by 1 worker: about") and "judged by 11 texts" in output
    assert sorted(place.rglob("*")) == before


def test_jobs_and_query_say_what_is_in_the_folder(run, place):
    status, output, _ = run("jobs", place / "run")
    assert status == 0 and "done: 11 texts, 100 %, 1 of 1 shards" in output
    assert "failed: 1 text\n" in output and "RuntimeError: this word has no vector" in output
    status, output, _ = run("query", place / "run", "select count(*) as n from words where word = 'good'", "--json")
    assert status == 0 and json.loads(output) == {"n": 10}
    status, _, errors = run("query", place / "run", "copy texts to 'out.csv'")
    assert status == 2 and "exactly one SELECT" in errors
    assert run("jobs", place)[0] == 2
