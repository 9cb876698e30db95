"""Tables and fields: columns by name, several lines a record, long fields, and no trace left in the process."""

import csv
import json

import pandas as pd
import pytest

from pellucid.base.errors import BadFile, BadInput, InputReading, UnknownName
from pellucid.data.load import format_of, load_examples, load_parts
from pellucid.data.shared.rows import SkippedRows
from pellucid.explaining.inputs.examples import examples_from
from pellucid.text.example import Rationale
from tests.data.formats.originals import example, write


def test_columns_are_named_by_settings(tmp_path):
    file = write(tmp_path / "mails.tsv", "subject\tbody\tclass\tnumber\nHi\tCome.\twork\t4\n")
    examples = load_examples(file, text="subject", second="body", label="class", id="number")
    assert examples == [example(("Hi", "Come."), "work", "4")]


MARKED = example("Not a good film, not at all.", marks=[(0, "a good"), (0, "at all")]).rationales
FORMS = (
    [[4, 10], [21, 27]],
    ["a good", "at all"],
    [*range(4, 10), *range(21, 27)],
    [{"start": 4, "end": 10}, {"start": 21, "end": 27}],
    {"start": [4, 21], "end": [10, 27]},
    [[4, 10], "at all"],
    ((4, 10), (21, 27)),
)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", ("span", "Rationales", "evidence_review"))
def test_marks_are_read_in_every_form_and_place(form, name, tmp_path):
    """From a table, where they are written as JSON or as Python writes them, from JSON lines, a frame and a row."""
    columns = {"review": ["Not a good film, not at all.", "Dull."], name: [form, None]}
    frame, rows = pd.DataFrame(columns), pd.DataFrame(columns).to_dict("records")
    written = [form, str(form), json.dumps(form)]
    files = [
        *(pd.DataFrame(columns | {name: [text, ""]}) for text in written[1:]),
        write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
    ]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for data in (frame, rows, columns, rows[0], *files, tmp_path / "rows.csv"):
        first, *others = examples_from(data)
        assert first.rationales == MARKED and first.meta == {}
        assert all(other.rationales == () for other in others)


def test_a_list_of_two_characters_is_known_by_its_column(tmp_path):
    rows = {"text": ["abcd", "abcd"], "spans": ["[1, 3]", "[0, 1, 3]"]}
    assert [one.rationales for one in examples_from(rows)] == [
        (Rationale(0, 1, 2), Rationale(0, 3, 4)),
        (Rationale(0, 0, 2), Rationale(0, 3, 4)),
    ]
    assert examples_from({"text": ["abcd"], "spans": [[1, 3]]})[0].rationales == (Rationale(0, 1, 3),)


def test_marks_of_an_unusual_name_are_read_by_it(tmp_path):
    file = write(tmp_path / "tweets.csv", "text,picked,label\nso  sad today,so sad,bad\nhello,,good\n")
    plain, named = load_examples(file), load_examples(file, evidence="picked")
    assert plain[0].rationales == () and plain[0].meta == {"picked": "so sad"}
    assert named == [
        example("so  sad today", "bad", "tweets-2", [(0, "so  sad")]),
        example("hello", "good", "tweets-3"),
    ]


@pytest.mark.parametrize(
    ("columns", "notice"),
    (
        ({"text": ["A film.", "Dull."], "rationale": ["because it is one", "short"]}, "'rationale' is kept in meta"),
        ({"text": ["A film.", "Dull."], "rationales": [[[0, 0, 1]], [[1, 1, 1]]]}, "'rationales' is kept in meta"),
        (
            {"premise": ["A film."], "hypothesis": ["Dull."], "span": [[[0, 1]]]},
            "call the marks of each text evidence_premise, evidence_hypothesis",
        ),
    ),
)
def test_what_is_called_as_marks_and_is_none_stays_in_meta_with_a_notice(columns, notice):
    with pytest.warns(InputReading, match=notice):
        first = examples_from(columns)[0]
    assert first.rationales == () and len(first.meta) == 1


def test_a_row_whose_marks_are_wrong_is_named(tmp_path):
    text = 'text,span\ngood film,"[0, 4]"\ngood and good,good\ndull,"[0, 9]"\n'
    file = write(tmp_path / "rows.csv", text)
    with pytest.raises(
        BadFile, match=r"rows\.csv, line 3: span='good' stands in the text more than once; write .start"
    ):
        examples_from(file)
    with pytest.raises(BadInput, match=r"Row 1: span='good' stands in the text more than once.* skip_bad_rows=True"):
        examples_from(pd.read_csv(file))
    with pytest.warns(SkippedRows, match="2 bad rows"):
        assert len(examples_from(file, skip_bad_rows=True)) == 1


@pytest.mark.parametrize("setting", ({"text": "texts"}, {"label": "lable"}, {"text": "text", "second": "texts"}))
def test_a_column_that_is_not_there_names_the_nearest(tmp_path, setting):
    file = write(tmp_path / "mails.csv", "text,label\na,b\n")
    with pytest.raises(UnknownName, match=r"Did you mean '(text|label)'"):
        load_examples(file, **setting)


def test_no_usual_column_is_one_error_for_the_file(tmp_path):
    file = write(tmp_path / "mails.csv", "subject,place\na,b\n")
    with pytest.raises(
        BadFile, match=r"no field is plainly a text.* name yours with text=.*columns are: subject, place"
    ):
        load_examples(file, skip_bad_rows=True)


@pytest.mark.parametrize("names", ("sentence1,sentence2", "question1,question2", "premise,hypothesis"))
def test_usual_pairs_are_known(tmp_path, names):
    file = write(tmp_path / "pairs.csv", f"{names},label\na,b,c\n")
    assert load_examples(file) == [example(("a", "b"), "c", "pairs-2")]


def test_quotes_may_be_part_of_the_text(tmp_path):
    file = write(tmp_path / "raw.tsv", 'text\tlabel\n"so he said\tx\n')
    assert load_examples(file, quotes=False)[0].text == '"so he said'


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    file = write(tmp_path / "sheet.csv", "\ufefftext;label\r\na;b\r\n")
    assert load_examples(file, delimiter=";") == [example("a", "b", "sheet-2")]


def test_a_field_may_be_longer_than_the_readers_limit(tmp_path):
    before = csv.field_size_limit(1000)
    try:
        book = "word " * 400
        file = write(tmp_path / "books.csv", f'text\n"{book}"\n')
        assert load_examples(file)[0].text == book
        assert csv.field_size_limit() == 1000
    finally:
        csv.field_size_limit(before)


def test_what_is_not_utf8_is_named_by_its_line(tmp_path):
    file = write(tmp_path / "latin.csv", b"text,label\nna\xc3\xafve,a\ncaf\xe9,b\n")
    with pytest.raises(BadFile, match=r"latin\.csv, line 3: it is not UTF-8"):
        load_examples(file)


def test_an_empty_file_has_no_header(tmp_path):
    with pytest.raises(BadFile, match="has no header"):
        load_examples(write(tmp_path / "empty.csv", ""))


def test_json_fields_are_named_by_settings(tmp_path):
    file = write(tmp_path / "pairs.jsonl", [{"mine": "A.", "yours": "B.", "gold": 3, "evidence_mine": [[0, 1]]}])
    examples = load_examples(file, text="mine", second="yours", label="gold")
    assert examples == [example(("A.", "B."), "3", "1", [(0, "A")])]


def test_translations_are_pairs(tmp_path):
    file = write(tmp_path / "test.jsonl", [{"id": "t", "en": "A dog.", "de": "Ein Hund."}])
    assert load_examples(file) == [example(("A dog.", "Ein Hund."), None, "t")]


@pytest.mark.parametrize(
    ("name", "format"),
    (("a.jsonl", "json_lines"), ("a.jsonl.gz", "json_lines"), ("a.csv", "table"), ("a.tsv.gz", "table")),
)
def test_clear_names_tell_the_format(tmp_path, name, format):
    assert format_of(write(tmp_path / name, "x")) == format


@pytest.mark.parametrize("name", ("a.txt", "a.json", "folder/a.txt", "docs/a"))
def test_unclear_names_list_the_formats(tmp_path, name):
    write(tmp_path / name, "x")
    write(tmp_path / "docs" / "train.jsonl", "")
    source = tmp_path if "docs" in name else (tmp_path / name).parent if "folder" in name else tmp_path / name
    with pytest.raises(BadFile, match=r"pellucid\.examples\(.*format=…\).* formats are: ag_news, .*yelp"):
        load_examples(source)


def test_all_takes_all_parts(tmp_path):
    for part in ("train", "dev", "test"):
        write(tmp_path / f"{part}.csv", f"text\n{part}\n")
    assert [one.text for one in load_examples(tmp_path, "all", "table")] == ["train", "dev", "test"]
    assert [part[0].text for part in load_parts(tmp_path, "table").values()] == ["train", "dev"]


def test_nothing_but_bad_rows_raises_all_the_same(tmp_path):
    file = write(tmp_path / "bad.jsonl", "one\ntwo\n")
    with pytest.raises(BadFile, match=r"No row of .*bad\.jsonl can be read; 2 are bad, the first: .*line 1: "):
        load_examples(file, skip_bad_rows=True)


def test_many_bad_rows_are_counted_and_the_first_three_named(tmp_path):
    file = write(tmp_path / "bad.jsonl", '{"text": "x"}\n' + "no\n" * 5)
    with pytest.warns(UserWarning, match=r"5 bad rows of .*line 2: .*line 3: .*line 4: [^;]*; …$"):
        assert len(load_examples(file, skip_bad_rows=True)) == 1
