"""Some classes alone, and marks under another name: settings of the readers of JSON lines and AG News."""

import json

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadSetting
from pellucid.data.load import load_examples
from pellucid.text.example import Rationale

ROWS = [
    {"id": "1", "text": "he ran home", "label": "male", "impermissible": [[0, 2]]},
    {"id": "2", "text": "rates rise", "label": "Business", "impermissible": []},
    {"id": "3", "text": "she ran home", "label": "female", "impermissible": [[0, 3]]},
]


def written(folder, rows=ROWS):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_rows_of_other_classes_are_left_out_and_marks_are_read_under_their_own_name(tmp_path):
    path = written(tmp_path)
    examples = load_examples(path, classes="female, male", evidence="impermissible")
    assert [(example.id, example.label) for example in examples] == [("1", "male"), ("3", "female")]
    assert examples[0].rationales == (Rationale(0, 0, 2),) and "impermissible" not in examples[0].meta
    (plain, *_) = load_examples(path)
    assert plain.rationales == () and plain.meta["impermissible"] == [[0, 2]]
    (read, *_) = pellucid.examples(path, classes="Business")
    assert read.label == "Business"


def test_a_class_that_no_row_has_is_one_sentence(tmp_path):
    with pytest.raises(BadSetting, match=r"no row has the label 'men'; labels there: Business, female"):
        load_examples(written(tmp_path), classes="female,men")


def test_a_row_without_the_field_of_the_marks_is_a_bad_row(tmp_path):
    with pytest.raises(BadFile, match=r"line 2: the field 'impermissible' is not there"):
        load_examples(written(tmp_path, [ROWS[0], {"text": "x", "label": "male"}]), evidence="impermissible")


def test_two_topics_of_ag_news(tmp_path):
    rows = ['"1","War","Far away."', '"3","Rates","They rise."', '"2","Match","It was won."']
    (tmp_path / "test.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    examples = load_examples(tmp_path, "test", "ag_news", classes="World,Business")
    assert [example.label for example in examples] == ["World", "Business"]
