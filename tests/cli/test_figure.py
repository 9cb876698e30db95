"""`pellucid figure`: saved results as a picture."""

from xml.etree import ElementTree

import pytest

import pellucid
from pellucid.results.results import Results
from tests.shared.answered import answered
from tests.shared.sample_results import sample_table

pytest.importorskip("matplotlib")
TEXTS = Results(tuple(answered(f"a fine film {n}", [2 + n, 1 + n, -1, 0]) for n in range(4)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of one method's results, and one of two."""
    folder = tmp_path_factory.mktemp("saved")
    pellucid.save(TEXTS, folder / "one.parquet")
    other = [answered(one.example.text, [3, 0, 0, 0], method="gradient") for one in TEXTS]
    pellucid.save(TEXTS + other, folder / "two.json")
    return folder


@pytest.mark.parametrize("options", [(), ("--kind", "scores"), ("--text", TEXTS[1].example.id)])
def test_every_kind_is_drawn(run, saved, tmp_path, options):
    status, out, err = run("figure", saved / "one.parquet", "--out", tmp_path / "drawn.svg", *options)
    assert (status, out) == (0, "") and "Written:" in err
    ElementTree.parse(tmp_path / "drawn.svg")


def test_the_table_of_a_comparison_is_drawn_whole(run, tmp_path):
    sample_table().save(tmp_path / "table.json")
    words = ("figure", tmp_path / "table.json", "--out", tmp_path / "drawn.svg")
    assert run(*words)[:2] == (0, "")
    ElementTree.parse(tmp_path / "drawn.svg")
    status, _, err = run(*words, "--text", "a")
    assert status == 2 and "Leave --text away" in err


def test_a_picture_is_as_wide_and_has_as_many_words_as_wanted(run, saved, tmp_path):
    for top in (1, 3):
        words = ("--out", tmp_path / f"{top}.svg", "--top", top, "--width", 5, "--function-words")
        assert run("figure", saved / "one.parquet", *words)[0] == 0
    root = ElementTree.parse(tmp_path / "1.svg").getroot()
    assert root.attrib["width"] == "360pt"
    assert (tmp_path / "1.svg").stat().st_size < (tmp_path / "3.svg").stat().st_size


@pytest.mark.parametrize(
    ("file", "options", "sentence"),
    (
        ("one.parquet", ("--out", "a.gif"), "end it with .svg, .png, .pdf"),
        ("one.parquet", ("--out", "a.svg", "--kind", "table"), "table"),
        ("one.parquet", ("--out", "a.svg", "--text", "nowhere"), "is the id of no text"),
        ("one.parquet", ("--out", "a.svg", "--text", "x", "--top", "3"), "leave it away with --text"),
        ("one.parquet", ("--out", "a.svg", "--width", "0"), "no width in inches"),
        ("two.json", ("--out", "a.svg"), "add --method with one of: occlusion, gradient"),
    ),
)
def test_wrong_options_get_one_sentence(run, saved, tmp_path, monkeypatch, file, options, sentence):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("figure", saved / file, *options)
    assert (status, out) == (2, "") and sentence in err and err.count("\n") == 1
    assert not list(tmp_path.glob("a.*"))


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"pellucid {pellucid.__version__}\n", "")
