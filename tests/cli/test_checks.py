"""`pellucid checks`, and `pellucid compare --checks`: what is listed, what is printed, what is saved."""

import json

import pytest

import pellucid
from tests.shared.tiny import LABELS, save_tiny

TEXTS = ("A gripping, lovely film.", "Dull and long, and in the end not worth it.", "The soup was warm.")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model, its twin, and a file of texts."""
    folder = tmp_path_factory.mktemp("checks")
    for name in ("model", "twin"):
        save_tiny(folder / name, labels=LABELS)
    rows = [json.dumps({"text": text, "label": label}) for text, label in zip(TEXTS, LABELS, strict=True)]
    (folder / "texts.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder


def test_every_check_is_listed_with_what_it_needs(run):
    status, out, _ = run("checks")
    assert status == 0 and "needs: twins (--twin)" in out and 'runs: by name; not part of "all"' in out
    assert json.loads(run("checks", "--json")[1]) == json.loads(json.dumps(pellucid.checks()))
    names = [one["name"] for one in pellucid.checks()]
    assert names == sorted(names) and {"seed_agreement", "dead_token", "roar"} <= set(names)


def test_checks_are_printed_saved_and_drawn(run, saved, tmp_path):
    words = (
        "compare",
        saved / "model",
        saved / "texts.jsonl",
        "--methods",
        "gradient",
        "--metrics",
        "comprehensiveness",
    )
    checks = (
        "--checks",
        "seed_agreement,method_agreement",
        "--check-set",
        "method_agreement.k=1",
        "--twin",
        saved / "twin",
    )
    places = ("--out", tmp_path / "out", "--html", tmp_path / "page.html", "--save", tmp_path / "table.json")
    status, out, err = run(*words, *checks, *places)
    assert status == 0, err
    assert "seed agreement" in out and "same top word" in out
    table = pellucid.Table.read(tmp_path / "table.json")
    assert [one.check for one in table.checks] == ["seed_agreement", "method_agreement(k=1)"]
    assert table.check("seed_agreement").line("gradient").value.mean == pytest.approx(1)
    assert "seed agreement" in (tmp_path / "page.html").read_text(encoding="utf-8")
    again = json.loads(run(*words, *checks, "--out", tmp_path / "out", "--json")[1])
    assert [one["check"] for one in again["checks"]] == [one.check for one in table.checks]


def test_all_runs_what_has_what_it_needs_and_says_what_a_model_cannot(run, saved):
    words = (
        "compare",
        saved / "model",
        saved / "texts.jsonl",
        "--methods",
        "gradient",
        "--metrics",
        "comprehensiveness",
    )
    status, out, err = run(*words, "--checks", "all", "--json", "--resamples", "20")
    assert status == 0, err
    names = [one["check"] for one in json.loads(out)["checks"]]
    expected = [one["name"] for one in pellucid.checks() if not one["long"] and not one["needs"]]
    assert names == expected
