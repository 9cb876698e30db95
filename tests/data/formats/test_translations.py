"""Aligned files and IWSLT's talks: what belongs together, and what is said where it does not."""

import gzip

import pytest

import pellucid
from pellucid.base.errors import BadFile
from pellucid.data.load import load_examples

TALK = "<url>http://example.org</url>\n<keywords>a, b</keywords>\n<title>Eins</title>\n"


def segments(examples):
    return [one.segments for one in examples]


def test_aligned_files_are_read_together(tmp_path):
    (tmp_path / "train.en").write_text("A dog.\nA <b> cat.\n", encoding="utf-8")
    (tmp_path / "train.de.gz").write_bytes(gzip.compress(b"Ein Hund.\nEine <b> Katze.\n"))
    (tmp_path / "valid.en").write_text("Yes.", encoding="utf-8")
    (tmp_path / "valid.de").write_text("Ja.", encoding="utf-8")
    train = load_examples(tmp_path, "train", "parallel")
    assert segments(train) == [("A dog.", "Ein Hund."), ("A <b> cat.", "Eine <b> Katze.")]
    assert segments(load_examples(tmp_path, "dev", "parallel")) == [("Yes.", "Ja.")]
    alone = pellucid.examples(tmp_path / "train.en", format="parallel")
    assert segments(alone) == segments(train)
    back = load_examples(tmp_path, "dev", "parallel", source="de", target="en")
    assert segments(back) == [("Ja.", "Yes.")]


def test_fields_of_json_lines_have_any_name(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": 7, "src": "Yes.", "ref": "Ja."}\n', encoding="utf-8")
    (one,) = load_examples(tmp_path / "x.jsonl", "test", "parallel", source="src", target="ref")
    assert one.segments == ("Yes.", "Ja.") and one.id == "7"
    assert pellucid.examples(tmp_path / "x.jsonl", source="src", target="ref") == [one]  # no other format has both


def test_what_is_no_text_is_a_bad_row(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"en": "Yes.", "de": null}\n', encoding="utf-8")
    with pytest.raises(BadFile, match="line 1: its de is no text but NoneType"):
        load_examples(tmp_path / "x.jsonl", "test", "parallel")


def test_files_of_unequal_length_are_refused_with_both_numbers(tmp_path):
    (tmp_path / "test.en").write_text("One.\nTwo.\nThree.\nFour.\n", encoding="utf-8")
    (tmp_path / "test.de").write_text("Eins.\nZwei.\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"test.en has 4 texts and .*test.de 2"):
        load_examples(tmp_path, "test", "parallel")


def test_an_empty_line_is_a_bad_row_and_does_not_move_the_others(tmp_path):
    (tmp_path / "test.en").write_text("One.\n\nThree.\n", encoding="utf-8")
    (tmp_path / "test.de").write_text("Eins.\nZwei.\nDrei.\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"test.en, line 2: its en is empty"):
        load_examples(tmp_path, "test", "parallel")
    with pytest.warns(UserWarning, match="1 bad rows"):
        read = load_examples(tmp_path, "test", "parallel", skip_bad_rows=True)
    assert segments(read) == [("One.", "Eins."), ("Three.", "Drei.")]


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "test.en").write_text("One.\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"there is no test.de with its translations"):
        load_examples(tmp_path, "test", "parallel")
    with pytest.raises(BadFile, match=r"has no train.en, train.tsv, train.jsonl for train"):
        load_examples(tmp_path, "train", "parallel")
    with pytest.raises(BadFile, match=r"does not end in \.fr"):
        load_examples(tmp_path / "test.en", "test", "parallel", source="fr")


def test_training_lines_of_iwslt_stand_between_tags_and_dev_is_cut_from_them(tmp_path):
    german = "".join(f"Satz {number}.\n" for number in range(40))
    english = "".join(f"Sentence {number}.\n" for number in range(40))
    (tmp_path / "train.tags.de-en.de").write_text(TALK + german, encoding="utf-8")
    (tmp_path / "train.tags.de-en.en").write_text(TALK + "<speaker>X</speaker>\n" + english, encoding="utf-8")
    train, dev = (load_examples(tmp_path, part, "iwslt") for part in ("train", "dev"))
    assert len(train) + len(dev) == 40 and 1 <= len(dev) <= 15
    assert all(one.segments[0].split()[1] == one.segments[1].split()[1] for one in [*train, *dev])
    back = load_examples(tmp_path, "train", "iwslt", source="en", target="de")
    assert all(one.segments[0].startswith("Sentence") for one in back)
    with pytest.raises(BadFile, match=r"has no \*\.dev2010\.de-en\.de\.xml"):
        load_examples(tmp_path, "test", "iwslt")
