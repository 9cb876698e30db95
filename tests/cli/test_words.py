"""`pellucid words`: the words of saved results, of a comparison's folder, as table, CSV, JSON and page."""

import csv
import json

import pytest

import pellucid
from pellucid.results.results import Results
from tests.shared.answered import answered

TEXTS = Results(tuple(answered(f"a fine film {n}", [0, 1 + n, -1, 0]) for n in range(4)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of one method's results, and one of two."""
    folder = tmp_path_factory.mktemp("saved")
    pellucid.save(TEXTS, folder / "one.parquet")
    other = [answered(one.example.text, [3, 0, 0, 0], method="gradient") for one in TEXTS]
    pellucid.save(TEXTS + other, folder / "two.json")
    return folder


def test_the_words_are_drawn(run, saved):
    status, out, _ = run("words", saved / "one.parquet")
    assert status == 0 and "for positive" in out and "fine" in out and "+2.50" in out
    assert "film" not in run("words", saved / "one.parquet", "--top", 1, "--min-texts", 4)[1].split("against")[0]


def test_json_and_csv_have_every_word(run, saved, tmp_path):
    status, out, err = run("words", saved / "one.parquet", "--json", "--csv", tmp_path / "words.csv")
    assert status == 0 and json.loads(out) == pellucid.class_words(TEXTS).record() and "Written:" in err
    with (tmp_path / "words.csv").open(encoding="utf-8-sig") as file:
        assert {row["word"] for row in csv.DictReader(file)} == {"a", "fine", "film"}


def test_a_page_shows_them(run, saved, tmp_path):
    assert run("words", saved / "one.parquet", "--html", tmp_path / "words.html")[0] == 0
    assert "fine" in (tmp_path / "words.html").read_text("utf-8")


def test_several_methods_need_one_by_name(run, saved):
    status, _, err = run("words", saved / "two.json")
    assert status == 2 and "add --method with one of: occlusion, gradient" in err
    assert "Words by gradient" in run("words", saved / "two.json", "--method", "gradient")[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    (
        (("--class", "positiv"), "Did you mean 'positive'?"),
        (("--method", "lime"), "No method of these results is called 'lime'"),
        (("--top", "0"), "--top=0 is too small"),
        (("--csv", "words.txt"), "does not end in .csv"),
    ),
)
def test_wrong_options_get_one_sentence(run, saved, options, sentence):
    status, out, err = run("words", saved / "one.parquet", *options)
    assert status == 2 and sentence in err and not out and len(err.splitlines()) == 1


def test_one_class_alone(run, saved):
    assert "positive" in run("words", saved / "one.parquet", "--class", "positive")[1]


def test_a_comparison_s_folder_has_words(run, bert, tmp_path):
    pellucid.compare(
        bert, ["A film.", "A dull film."], ["gradient"], ["sufficiency"], resamples=10, folder=tmp_path / "c"
    )
    results = pellucid.read(tmp_path / "c")
    assert set(results.methods) == {"gradient", "chance"} and len(results.where(method="gradient")) == 2
    out = run("words", tmp_path / "c", "--method", "gradient", "--min-texts", 1)[1]
    assert "film" in out and "Words by gradient" in out


def test_a_folder_without_explanations_is_refused(run, tmp_path):
    status, _, err = run("words", tmp_path)
    assert status == 2 and "is a folder without explanations" in err


def test_lists_are_weighted_by_other_texts(run, saved, tmp_path):
    (tmp_path / "others.txt").write_text("a film\na day\n")
    page = tmp_path / "lists.html"
    status, out, _ = run("words", saved / "one.parquet", "--idf", tmp_path / "others.txt", "--html", page)
    assert status == 0 and "scores added up × idf" in out and "pl-cloud-box" in page.read_text("utf-8")
    record = json.loads(run("words", saved / "one.parquet", "--idf", tmp_path / "others.txt", "--json")[1])
    assert record["lists"]["n_idf_texts"] == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    (
        (("--idf", "empty.txt"), "There is no text in"),
        (("--idf", "nowhere.txt"), "nowhere.txt"),
        (("--unit", "piece"), "give idf"),
        (("--unit", "letter"), "unit='letter' is not possible"),
    ),
)
def test_wrong_idf_options_get_one_sentence(run, saved, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("\n")
    status, out, err = run("words", saved / "one.parquet", *options)
    assert status == 2 and sentence in err and not out and len(err.splitlines()) == 1
