"""`pellucid diff`: two versions of a model as table, JSON and page, and the exit status of limits."""

import json

import pytest

import pellucid
from tests.versions.test_versions import TEXTS, version


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of two versions, of a twin of the first, and of what cannot be compared."""
    folder = tmp_path_factory.mktemp("versions")
    files = {
        "a": version(1, 0.3),
        "b": version(2, 3.0, says=lambda n: "negative" if n < 4 else "positive"),
        "twin": version(3, 0.3),
        "other": version(2, texts=[text.upper() for text in TEXTS]),
    }
    for name, explanations in files.items():
        pellucid.save(explanations, folder / f"{name}.parquet")
    return folder


def test_the_worst_are_drawn_in_about_twenty_lines(run, saved):
    status, out, _ = run("diff", saved / "a.parquet", saved / "b.parquet")
    lines = out.splitlines()
    assert status == 0 and len(lines) <= 40 and "4 of 40 texts in common got another answer" in out
    table = lines[next(n for n, text in enumerate(lines) if text.startswith("id")) + 1 :]
    assert [text.split()[0] for text in table[:4]] == ["t0", "t1", "t2", "t3"] and "✗" in table[0]


def test_json_is_the_record(run, saved):
    status, out, _ = run("diff", saved / "a.parquet", saved / "b.parquet", "--json")
    record = json.loads(out)
    assert status == 0 and record.pop("exceeded") == []
    assert record == pellucid.diff(saved / "a.parquet", saved / "b.parquet").record()


def test_a_page_shows_both_versions(run, saved, tmp_path):
    page = tmp_path / "changes.html"
    assert run("diff", saved / "a.parquet", saved / "b.parquet", "--html", page)[0] == 0
    text = page.read_text("utf-8")
    assert "First, version 1," in text and "Second, version 2," in text and "became wrong" in text


@pytest.mark.parametrize(
    ("options", "status", "sentence"),
    (
        (("--most", "0.05"), 1, "Too many answers changed: 0.1 of all, and --most-changed is 0.05"),
        (("--most-changed", "0.1"), 0, ""),
        (("--least-overlap", "0.9"), 1, "Too few words in common"),
        (("--least-overlap", "0.1"), 0, ""),
        (
            ("--twin", "{twin}", "--beyond-twins"),
            1,
            "than its twin does, in: answers, order of words, strongest words",
        ),
        (("--most-changed", "2"), 2, "--most-changed=2.0 is out of range"),
        (("--beyond-twins",), 2, "add --twin with a twin's saved results"),
        (("--top", "0"), 2, "--top=0 is out of range"),
        (("--top", "9", "--least-overlap", "0.5", "--method", "lime"), 2, "lime"),
        (("--top", "10", "--least-overlap", "0.5"), 2, "a smaller --top"),
    ),
)
def test_limits_set_the_status(run, saved, options, status, sentence):
    words = [option.format(twin=saved / "twin.parquet") for option in options]
    ended, _, err = run("diff", saved / "a.parquet", saved / "b.parquet", *words)
    assert ended == status and sentence in err


def test_no_text_in_common_is_one_sentence(run, saved):
    status, out, err = run("diff", saved / "a.parquet", saved / "other.parquet")
    assert status == 2 and not out and "have no text in common" in err and err.count("\n") == 1
