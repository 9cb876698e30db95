"""ERASER: tokens become characters of the document as it is written; claims and second documents make pairs."""

import pytest

from pellucid.base.errors import BadFile
from pellucid.data.load import load_examples
from tests.data.formats.originals import ERASER_DOCUMENT, ERASER_ROW, example, write


def row(id, evidences=(), **fields):
    groups = [[{"docid": docid, "start_token": start, "end_token": end}] for docid, start, end in evidences]
    return {
        "annotation_id": id,
        "classification": "X",
        "docids": None,
        "evidences": groups,
        "query": "",
        **fields,
    }


def read(folder, **settings):
    return load_examples(folder, "dev", "eraser", **settings)


def test_a_query_that_differs_is_the_second_text(tmp_path):
    write(tmp_path / "docs" / "d", "Lakes freeze .\nSeas do not .")
    rows = [
        row("1", [("d", 2, 5)], query="Lakes are warm .", docids=["d"]),
        row("2", [("d", 0, 1)], query="Seas freeze .", docids=["d"]),
    ]
    write(tmp_path / "val.jsonl", rows)
    assert read(tmp_path) == [
        example(("Lakes freeze .\nSeas do not .", "Lakes are warm ."), "X", "1", [(0, ".\nSeas do")], docids=["d"]),
        example(("Lakes freeze .\nSeas do not .", "Seas freeze ."), "X", "2", [(0, "Lakes")], docids=["d"]),
    ]
    assert [len(one.segments) for one in read(tmp_path, query=False)] == [1, 1]


def test_a_query_that_is_always_the_same_is_the_task(tmp_path):
    write(tmp_path / "docs" / "neg_1", ERASER_DOCUMENT)
    write(tmp_path / "dev.jsonl", [ERASER_ROW, {**ERASER_ROW, "annotation_id": "again", "docids": ["neg_1"]}])
    assert [len(one.segments) for one in read(tmp_path)] == [1, 1]
    assert [len(one.segments) for one in read(tmp_path, query=True)] == [2, 2]


def test_premise_and_hypothesis_are_a_pair_in_this_order(tmp_path):
    write(
        tmp_path / "docs.jsonl",
        [{"docid": "9_hypothesis", "document": "Wet ."}, {"docid": "9_premise", "document": "It rains ."}],
    )
    write(tmp_path / "val.jsonl", [row("9", [("9_hypothesis", 0, 1)], docids=["9_hypothesis", "9_premise"])])
    (pair,) = read(tmp_path)
    assert pair == example(("It rains .", "Wet ."), "X", "9", [(1, "Wet")], docids=["9_premise", "9_hypothesis"])


@pytest.mark.parametrize("name", ("../secret", "a/b", "..", "", "a\\b"))
def test_a_document_outside_the_folder_is_not_read(tmp_path, name):
    write(tmp_path / "secret", "not for you")
    write(tmp_path / "docs" / "d", "x")
    write(tmp_path / "val.jsonl", [row("1", docids=[name])])
    with pytest.raises(BadFile, match=r"line 1: the document .* is no plain file name"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("changed", "reason"),
    (
        ({"docids": ["a", "b", "c"]}, "3 documents, an example at most two"),
        ({"docids": ["missing"]}, "there is no document 'missing'"),
        ({"evidences": [[{"docid": "d", "start_token": 1.5, "end_token": 2}]]}, "float"),
        ({"evidences": [[{"docid": "other", "start_token": 0, "end_token": 1}]]}, "'other' is not in"),
        ({"classification": 3}, "must be a string"),
    ),
)
def test_a_wrong_annotation_is_named(tmp_path, changed, reason):
    write(tmp_path / "docs" / "d", "a b c")
    for name in "abc":
        write(tmp_path / "docs" / name, "a b c")
    write(tmp_path / "val.jsonl", [row("0", docids=["d"]), row("1", docids=["d"]) | changed])
    with pytest.raises(BadFile, match=rf"val\.jsonl, line 2: .*{reason}"):
        read(tmp_path)


def test_without_documents_it_says_so(tmp_path):
    write(tmp_path / "val.jsonl", [row("0")])
    with pytest.raises(BadFile, match=r"has neither docs nor docs\.jsonl"):
        read(tmp_path)
