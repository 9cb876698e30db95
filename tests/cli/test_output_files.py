"""Files that a command writes: never one that it reads, never one twice, and only valid JSON."""

import json

import pytest

from tests.shared.tiny import save_tiny

LINES = [{"text": "A fine day", "label": "positive"}, {"text": "A grey day", "label": "negative"}]
LABELS = ("negative", "neutral", "positive")
QUICK = ("--methods", "occlusion", "--metrics", "comprehensiveness", "--resamples", "20")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder to work in, with a model and texts."""
    monkeypatch.chdir(tmp_path)
    save_tiny(tmp_path / "model", labels=LABELS)
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    (tmp_path / "texts.csv").write_text("text,label\nA fine day,positive\nA grey day,negative\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "test.jsonl").write_text((tmp_path / "texts.jsonl").read_text())
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "texts.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    (
        ("explain", "model", "--data", "texts.jsonl", "--html", "texts.jsonl"),
        ("explain", "model", "--data", "texts.jsonl", "--html", "./link.jsonl"),
        ("explain", "model", "texts.csv", "--csv", "texts.csv"),
        ("convert", "texts.jsonl", "texts.jsonl"),
        ("convert", "parts", "parts/test.jsonl"),
        ("attack", "model", "--data", "parts", "--attack", "deepwordbug", "--save", "parts/test.jsonl"),
        ("links", "texts.csv", "--out", "texts.csv"),
        ("attention", "model", "texts.csv", "--weights", "texts.jsonl", "--save", "texts.jsonl"),
        ("compare", "model", "texts.csv", "--save", "texts.csv", *QUICK),
        ("attack", "model", "--data", "texts.jsonl", "--attack", "deepwordbug", "--save", "texts.jsonl"),
        ("errors", "model", "texts.csv", "--html", "texts.csv", "--method", "occlusion"),
        ("spans", "model", "--file", "texts.csv", "--html", "texts.csv"),
        ("layers", "model", "--file", "texts.csv", "--html", "texts.csv"),
        ("attention", "model", "texts.csv", "--save", "texts.csv"),
    ),
    ids=" ".join,
)
def test_what_is_read_is_not_written(run, data, words):
    names = ("texts.jsonl", "texts.csv", "parts/test.jsonl")
    before = [(data / name).read_bytes() for name in names]
    status, _, err = run(*words)
    assert status == 2 and "it is read too, and would be lost; give another name." in err
    assert [(data / name).read_bytes() for name in names] == before


def test_saved_results_are_not_written_over_either(run, data):
    assert run("explain", "model", "--data", "texts.csv", "--method", "occlusion", "--save", "r.json")[0] == 0
    before = (data / "r.json").read_bytes()
    status, _, err = run("words", "r.json", "--html", "r.json")
    assert status == 2 and "r.json: it is read too" in err and (data / "r.json").read_bytes() == before


def test_results_are_written_over_by_new_ones(run, data):
    words = ("explain", "model", "--data", "texts.csv", "--method", "occlusion", "--save", "r.json")
    assert [run(*words)[0] for _ in range(2)] == [0, 0]


def test_another_file_in_the_folder_that_is_read_is_written_again(run, data):
    assert [run("convert", "parts", "parts/all.jsonl")[0] for _ in range(2)] == [0, 0]


def test_two_outputs_have_two_names(run, data):
    status, _, err = run("explain", "model", "A day", "--html", "q.csv", "--csv", "./q.csv")
    assert status == 2 and "Cannot write q.csv twice" in err and not (data / "q.csv").exists()


def test_a_comparison_of_one_text_is_valid_json(run, data):
    def refuse(constant):
        raise AssertionError(constant)

    words = ("compare", "model", "texts.csv", "--limit", "1", *QUICK)
    status, out, _ = run(*words, "--json", "--save", "one.json")
    assert status == 0
    printed = json.loads(out, parse_constant=refuse)
    assert printed["cells"][0]["value"]["low"] is None
    json.loads((data / "one.json").read_text(), parse_constant=refuse)
