"""JSON lines: every form of a row is read, and a wrong row is named by file, line and reason."""

import gzip
import json

import pytest

import pellucid
from pellucid.base.errors import BadFile, UnknownName
from pellucid.data.formats.json_lines import split_file
from pellucid.data.load import classes_of, load_examples, load_parts
from pellucid.text.example import Example, Rationale


@pytest.fixture
def file(tmp_path):
    """Write rows (or raw lines) to a file and give its path."""

    def written(*rows, name="data.jsonl"):
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / name

    return written


ROWS = (
    ({"text": "A fine film."}, Example(("A fine film.",), id="1")),
    (
        {"id": "a7", "text": "A fine film.", "label": "positive", "evidence": [[2, 6]]},
        Example(("A fine film.",), "positive", (Rationale(0, 2, 6),), "a7"),
    ),
    (
        {
            "id": 7,
            "premise": "One.",
            "hypothesis": "Two.",
            "label": 2,
            "evidence_premise": [[0, 3]],
            "evidence_hypothesis": [[0, 1], [1, 3]],
        },
        Example(("One.", "Two."), "2", (Rationale(0, 0, 3), Rationale(1, 0, 1), Rationale(1, 1, 3)), "7"),
    ),
    (
        {"text_a": "One.", "text_b": "Two.", "evidence_b": [[0, 3]], "label": None},
        Example(("One.", "Two."), None, (Rationale(1, 0, 3),), "1"),
    ),
    ({"source": "Ja.", "target": "Yes.", "label": "0"}, Example(("Ja.", "Yes."), "0", (), "1")),
    (
        {"text": "שלום 👩‍👩‍👧", "label": "x", "group": "g1", "evidence_count": 3},
        Example(("שלום 👩‍👩‍👧",), "x", (), "1", {"group": "g1", "evidence_count": 3}),
    ),
)


@pytest.mark.parametrize(("row", "example"), ROWS, ids=lambda value: "+".join(value) if isinstance(value, dict) else "")
def test_a_row_becomes_an_example(file, row, example):
    assert load_examples(file(row)) == [example]


def test_blank_lines_are_no_examples_but_count_as_lines(file):
    examples = load_examples(file({"text": "one"}, "", "   ", {"text": "four"}))
    assert [example.id for example in examples] == ["1", "4"]


def test_gzipped_lines_are_the_same(file, tmp_path):
    plain = file(*(row for row, _ in ROWS))
    with gzip.open(tmp_path / "data.jsonl.gz", "wt", encoding="utf-8") as zipped:
        zipped.write(plain.read_text(encoding="utf-8"))
    assert load_examples(tmp_path / "data.jsonl.gz") == load_examples(plain)


WRONG = {
    "no JSON": ("{'text': 'a'}", "it is no JSON: Expecting"),
    "half a row": ('{"text": "a"', "Expecting"),
    "a list": ("[1, 2]", ""),
    "a string": ('"text"', ""),
    "a number": ("5", ""),
    "no text": ('{"label": "a"}', "no field is plainly a text"),
    "half a pair": ('{"premise": "a"}', "the field hypothesis is not there, which goes with premise"),
    "a blank text": ('{"text": " "}', "A text is empty"),
    "text of a number": ('{"text": 5}', "must be a string"),
    "text of nothing": ('{"text": null}', "must be a string"),
    "half a surrogate pair": ('{"text": "a\\ud800"}', "surrogate"),
    "evidence outside": (
        '{"text": "abc", "evidence": [[0, 9]]}',
        "the mark .0, 9. has no characters of its text; give 0 <= start < end <= 3",
    ),
    "evidence of other words": ('{"text": "abc", "evidence": ["ac"]}', "is no list of marks and no part of the text"),
    "evidence of a word that stands twice": ('{"text": "aba", "evidence": "a"}', "stands in the text more than once"),
    "evidence of a character that is named twice": (
        '{"text": "abc", "evidence": [0, 0, 1]}',
        "names a character twice",
    ),
    "evidence backwards": ('{"text": "abc", "evidence": [[2, 1]]}', "has no characters"),
    "evidence of one number": ('{"text": "abc", "evidence": [[1]]}', "is no list of marks"),
    "evidence of a start": ('{"text": "abc", "evidence": [{"start": 1}]}', "is no list of marks"),
    "evidence of a number": ('{"text": "abc", "evidence": 1}', "is no list of marks"),
    "evidence of floats": ('{"text": "abc", "evidence": [[0.0, 1.5]]}', ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_row_is_named(file, name):
    line, reason = WRONG[name]
    with pytest.raises(BadFile, match=rf"data\.jsonl, line 2: .*{reason}"):
        load_examples(file({"text": "fine"}, line))


def test_what_is_no_text_file_raises(tmp_path):
    (tmp_path / "data.jsonl").write_bytes(b'{"text": "\xff\xfe"}\n')
    with pytest.raises(BadFile, match=r"data\.jsonl"):
        load_examples(tmp_path / "data.jsonl")
    (tmp_path / "data.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(BadFile, match=r"data\.jsonl\.gz"):
        load_examples(tmp_path / "data.jsonl.gz")
    whole = gzip.compress(b'{"text": "one"}\n' * 1000)
    (tmp_path / "data.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile, match=r"data\.jsonl\.gz"):
        load_examples(tmp_path / "data.jsonl.gz")


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(BadFile, match="There is no file"):
        load_examples(tmp_path / "no.jsonl")


def test_a_folder_has_a_file_a_split(file, tmp_path):
    for split in ("train", "dev"):
        file({"text": split}, name=f"{split}.jsonl")
    assert split_file(tmp_path, "dev") == tmp_path / "dev.jsonl"
    assert load_examples(tmp_path, "train")[0].text == "train"
    assert {split: examples[0].text for split, examples in load_parts(tmp_path).items()} == {
        "train": "train",
        "dev": "dev",
    }
    with pytest.raises(BadFile, match=r"no test\.jsonl or test\.jsonl\.gz; JSON lines there: dev\.jsonl, train\.jsonl"):
        load_examples(tmp_path, "test")


def test_one_file_is_split_for_training(file):
    path = file(*({"text": f"text {number}", "label": "ab"[number % 2]} for number in range(100)))
    parts = load_parts(path)
    assert {split: len(examples) for split, examples in parts.items()} == {"train": 70, "dev": 16}
    assert not {example.id for example in parts["train"]} & {example.id for example in parts["dev"]}
    assert classes_of(path, parts["train"]) == ("a", "b")
    assert len(load_examples(path)) == 100


def test_a_source_that_is_none_raises():
    with pytest.raises(BadFile, match="There is no file or folder no/such; give one, or a data set: "):
        load_examples("no/such")
    with pytest.raises(BadFile):
        load_examples("nothing.jsonl")
    with pytest.raises(UnknownName, match="Did you mean 'pocket'"):
        load_examples("poket")


def test_a_label_that_is_no_number_is_none(file):
    assert [one.label for one in load_examples(file('{"text": "a", "label": NaN}', '{"text": "b", "label": 3}'))] == [
        None,
        "3",
    ]


def test_a_field_that_no_row_has_is_refused_by_its_name(file):
    with pytest.raises(UnknownName, match="No field is called 'nosuch'"):
        load_examples(file({"text": "a", "label": "b"}), text="nosuch")
    with pytest.raises(UnknownName, match="No field is called 'nosuch'"):
        load_examples(file({"text": "a", "label": "b"}), label="nosuch")


@pytest.mark.parametrize(("label", "name"), ((1.0, "1"), (0.5, "0.5"), (2, "2"), ("", None), (" neg ", " neg ")))
def test_labels_are_read_as_from_a_table(file, label, name):
    (example,) = load_examples(file({"text": "x", "label": label}))
    assert example.label == name


def test_a_row_with_an_id_of_null_has_the_number_of_its_line(file):
    examples = load_examples(file({"id": None, "text": "x"}, {"id": None, "text": "y"}, {"id": 0, "text": "z"}))
    assert [example.id for example in examples] == ["1", "2", "0"]


def test_an_empty_column_of_ids_names_no_row(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("id,text,label\n,A fine day,pos\n,A grey day, neg \nown,A day,\n")
    examples = load_examples(path)
    assert [example.id for example in examples] == ["reviews-2", "reviews-3", "own"]
    assert [example.label for example in examples] == ["pos", "neg", None]


def test_a_text_with_none_of_several_labels_comes_back_as_such(file, tmp_path):
    (example,) = load_examples(file({"text": "x", "label": []}))
    assert example.label == ""
    pellucid.write_json_lines([example], tmp_path / "again.jsonl")
    assert load_examples(tmp_path / "again.jsonl") == [example]
