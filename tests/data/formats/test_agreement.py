"""Several annotators: the union of their marks, or what most of them marked, as characters of the text as written."""

import pytest

from pellucid.base.errors import BadSetting
from pellucid.data.formats.inference import marked_characters
from pellucid.data.load import load_examples
from pellucid.data.shared.rows import agreed_rationales
from tests.data.formats.originals import E_SNLI_HEADER, E_SNLI_ROW, ORIGINALS, write


def marked_words(example):
    return [example.segments[mark.segment][mark.start : mark.end] for mark in example.rationales]


@pytest.mark.parametrize(
    ("agreement", "words"),
    (("union", ["asleep, snores.", "Nobody sleeps."]), ("majority", ["asleep,", "Nobody"])),
)
def test_e_snli(tmp_path, agreement, words):
    (example,) = load_examples(ORIGINALS["e_snli"].write(tmp_path), "test", "e_snli", agreement=agreement)
    assert marked_words(example) == words


@pytest.mark.parametrize(("agreement", "words"), (("union", ["greedy gulls", "leave"]), ("majority", ["gulls"])))
def test_hatexplain(tmp_path, agreement, words):
    (example,) = load_examples(ORIGINALS["hatexplain"].write(tmp_path), "test", "hatexplain", agreement=agreement)
    assert marked_words(example) == words


def test_e_snli_train_has_two_files_and_one_annotator(tmp_path):
    header = "pairID,gold_label,Sentence1,Sentence2,Explanation_1,Sentence1_marked_1,Sentence2_marked_1\n"
    write(
        tmp_path / "esnli_train_1.csv",
        header + "a,neutral,Rain falls.,It pours.,No.,Rain falls.,It *pours.*\n",
    )
    write(tmp_path / "esnli_train_2.csv", header + "b,entailment,Rain falls.,Wet.,Yes.,*Rain* falls.,Wet.\n")
    examples = load_examples(tmp_path, "train", "e_snli", agreement="majority")
    assert [(one.id, marked_words(one)) for one in examples] == [("a", ["pours."]), ("b", ["Rain"])]


def test_hatexplain_parts_follow_the_divisions(tmp_path):
    source = ORIGINALS["hatexplain"].write(tmp_path)
    assert [one.id for one in load_examples(source, "dev", "hatexplain")] == ["3_gab"]
    assert load_examples(source, "train", "hatexplain") == []
    assert [one.id for one in load_examples(source / "dataset.json", "test", "hatexplain")] == [
        "1_gab",
        "3_gab",
    ]


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    (
        ("A b c", "A *b* c", "b"),
        ("A b c", "*A* *b* c", "Ab"),
        ("A b, c", "A *b*, c", "b"),
        ("A  b", "A *b*", "b"),
        ("A b ", "A *b*", "b"),
        ("A* b", "A* *b*", "b"),
        ("A b", "A b", ""),
    ),
)
def test_asterisks_become_marked_characters(text, marked, words):
    is_marked = marked_characters(text, marked)
    assert "".join(character for character, mark in zip(text, is_marked, strict=True) if mark) == words


@pytest.mark.parametrize("marked", ("A c", "A", "A b c d", ""))
def test_another_sentence_raises(marked):
    with pytest.raises(ValueError, match="the marked sentence"):
        marked_characters("A b c", marked)


def test_marks_with_only_blanks_between_are_one():
    marks = [character not in " -" for character in "ab  cd-ef"]
    assert [(mark.start, mark.end) for mark in agreed_rationales("ab  cd-ef", [marks], "union")] == [
        (0, 6),
        (7, 9),
    ]
    (mark,) = agreed_rationales("a b", [[False, False, True], [True, True, False]], "union")
    assert (mark.start, mark.end) == (0, 3)
    (mark,) = agreed_rationales("a b", [[True, True, False]], "union")
    assert (mark.start, mark.end) == (0, 1)
    assert agreed_rationales("ab", [], "union") == agreed_rationales("ab", [], "majority") == []


def test_another_agreement_raises(tmp_path):
    write(tmp_path / "esnli_dev.csv", E_SNLI_HEADER + E_SNLI_ROW)
    with pytest.raises(BadSetting, match="agreement='most' is not possible"):
        load_examples(tmp_path, "dev", "e_snli", agreement="most")
