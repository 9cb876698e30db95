"""Data files with a byte order mark, columns of one name, documents that are none: read as intended, or refused."""

import json

import pyarrow
import pyarrow.parquet
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from tests.data.formats.originals import ORIGINALS


@pytest.mark.parametrize("header", ("text,label,label", "text,text", "text,label,shop,shop", "label,text,"))
def test_columns_of_one_name_are_refused(tmp_path, header):
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\n" + ",".join("abcd"[: header.count(",") + 1]) + "\n")
    if header.endswith(","):
        assert load_examples(path)[0].segments == ("b",)
        return
    with pytest.raises(BadFile, match="several columns called"):
        load_examples(path)


def test_columns_of_one_name_in_parquet_are_refused(tmp_path):
    pytest.importorskip("datasets")
    table = pyarrow.table([["a b"], ["c d"]], names=["text", "text"])
    pyarrow.parquet.write_table(table, tmp_path / "data.parquet")
    with pytest.raises(BadFile, match="several columns called 'text'"):
        load_examples(tmp_path / "data.parquet", format="hugging_face")


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "data.csv").write_bytes(b"text,\x81page\nFine.,3\n")
    with pytest.raises(BadFile, match="not UTF-8"):
        load_examples(tmp_path / "data.csv")


@pytest.mark.parametrize("write", (pellucid.write_json_lines, lambda every, _: pellucid.to_dataset(every)))
def test_meta_that_no_file_can_hold_is_refused(tmp_path, write):
    example = Example(("Fine.",), "good", (), "1", {"\udcef": "x"})
    with pytest.raises(BadInput, match="plain values"):
        write([example], tmp_path / "data.jsonl")


def annotated(folder, **fields):
    """A folder of ERASER's with one annotation, in which these fields are others."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "a").write_text("A fine film .")
    evidence = {"docid": "a", "start_token": 1, "end_token": 2}
    row = {
        "annotation_id": "a",
        "classification": "good",
        "evidences": [[evidence]],
        "query": "",
        "docids": ["a"],
    }
    (folder / "test.jsonl").write_text(json.dumps({**row, **fields}) + "\n")
    return folder


@pytest.mark.parametrize(
    "docids",
    (
        "a",
        "b",
        "ab",
        7,
        [7],
        [None],
        [["a"]],
        [{}],
        {"a": 1},
        ["a", 7],
        ["a", "a", "a"],
        ["../a"],
        [""],
        True,
        ["a" * 5000],
        ["\0"],
    ),
)
def test_odd_documents_of_an_annotation_are_refused_or_read(tmp_path, docids):
    try:
        (example,) = load_examples(annotated(tmp_path, docids=docids), "test", "eraser")
    except BadFile as error:
        assert "line 1" in str(error) and "skip_bad_rows" in str(error)
    else:
        assert docids in ("a", {"a": 1}) and example.segments == ("A fine film .",)


@pytest.mark.parametrize("line", ("[" * 100_000, "{", "[]", "3", '{"docid": "a"}', '{"docid": "a", "document": 3}'))
def test_documents_that_are_none_are_refused(tmp_path, line):
    annotated(tmp_path)
    (tmp_path / "docs" / "a").unlink()
    (tmp_path / "docs").rmdir()
    (tmp_path / "docs.jsonl").write_text('{"docid": "a", "document": "A fine film ."}\n' + line + "\n")
    with pytest.raises(BadFile, match=r"docs.jsonl, line 2 holds no document"):
        load_examples(tmp_path, "test", "eraser")


@pytest.mark.parametrize("division", ({}, {"test": 3}, {"test": None}, [], "x"))
def test_divisions_that_are_none_are_refused(tmp_path, division):
    source = ORIGINALS["hatexplain"].write(tmp_path)
    (tmp_path / "post_id_divisions.json").write_text(json.dumps(division))
    with pytest.raises(BadFile, match=r"post_id_divisions.json"):
        load_examples(source, "test", "hatexplain")
