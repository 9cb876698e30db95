"""`pellucid bleu`, `translate` and texts of a file: what training has seen is not judged, and nothing is left out in
silence.
"""

import json

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from tests.writing.conftest import PAIRS, SHORT

pytest.importorskip("sacrebleu")

FEW = ("--max-pieces", 4, "--beam", 1)
NAMED = ("--read", "source=source", "--read", "target=target")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """(folder, file): a translator that was trained on a part of a file."""
    work = tmp_path_factory.mktemp("bleu")
    file = work / "pairs.jsonl"
    rows = [{"source": f"{source} {number}", "target": target} for number in range(3) for source, target in PAIRS]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    named = {"source": "source", "target": "target"}
    pellucid.train_translator(file, out=work / "en-de", read=named, **SHORT | {"epochs": 1})
    return work / "en-de", file


def test_of_the_file_that_it_learnt_from_only_the_other_pairs_are_judged(run, trained):
    folder, file = trained
    words = (folder, file, *NAMED, *FEW)
    status, out, err = run("bleu", *words)
    assert status == 0 and "21 of the 24 texts" in err and "only the 3 others are judged" in err
    assert "over 3 sentences" in out and "Caution" not in out


def test_pairs_of_the_training_are_a_caution(trained):
    folder, _ = trained
    model = pellucid.load(folder)
    pairs = [(f"{source} 0", target) for source, target in PAIRS]
    scores = pellucid.bleu(model, pairs, max_pieces=4, beam=1, progress=False)
    assert len(scores.caveats) == 1 and "were in the train or dev part" in str(scores)
    assert not pellucid.bleu(["ein Hund"], [("a new dog", "ein Hund")]).caveats


def test_one_sentence_has_no_interval_and_is_json(run, tmp_path, trained):
    folder, _ = trained
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"source": "a new dog", "target": "ein Hund"}) + "\n")
    words = (folder, file, *NAMED, *FEW)
    status, out, _ = run("bleu", *words, "--json")
    assert status == 0 and json.loads(out)["bleu"]["low"] is None and "NaN" not in out
    assert "[one sentence: no interval]" in run("bleu", *words)[1]


def test_json_of_translations_has_the_spans_of_each_word(run, trained):
    folder, _ = trained
    words = ("a dog runs", *FEW, "--json")
    status, out, _ = run("translate", folder, *words)
    (one,) = json.loads(out)
    assert status == 0 and one["words"] and one["source"] == "a dog runs"
    for word in one["words"]:
        assert word["word"] in one["text"] and 1 <= len(word["spans"]) <= 3
        assert all(one["source"][span["start"] : span["end"]] == span["text"] for span in word["spans"])
        assert 0 < sum(span["weight"] for span in word["spans"]) <= 1 and "carried" in word


def test_blank_lines_of_a_file_are_counted(run, tmp_path, trained):
    folder, _ = trained
    file = tmp_path / "texts.txt"
    file.write_text("a dog runs\n\na cat runs\n \na man\n", encoding="utf-8")
    status, out, err = run("translate", folder, "--file", file, *FEW)
    assert status == 0 and len(out.rstrip("\n").split("\n")) == 3
    assert "Of the 5 lines" in err and "2 have no text and are left out" in err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam": 0}, "beam=0 is out of range"),
        ({"max_pieces": 0}, "max_pieces=0 is out of range"),
        ({"tokenize": "words"}, "tokenize='words' is not possible"),
        ({"resamples": 5}, "resamples=5 is too small"),
    ],
)
def test_settings_are_refused_before_anything_is_loaded_or_translated(settings, message):
    with pytest.raises(BadSetting, match=message):
        pellucid.bleu("no-such-folder", [("a", "b")], **settings)


def test_texts_are_printed_without_being_explained(run, trained, tmp_path, monkeypatch):
    folder, _ = trained
    file = tmp_path / "texts.txt"
    file.write_text("A dog.\nA cat.\n", encoding="utf-8")
    explained = []
    monkeypatch.setattr("pellucid.writing.doors.explain", lambda *words, **_: explained.append(words))
    status, _, _ = run("translate", folder, "--file", file, *FEW)
    assert status == 0 and not explained
    status, _, err = run("translate", folder, "A dog.", "--beam", 0)
    assert status == 2 and "beam" in err
