"""Examples as JSON lines: what is written is read back equal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import examples, write_json_lines
from pellucid.base.errors import BadFile, BadInput
from pellucid.data.exports.json_lines import as_line
from pellucid.text.example import Example, Rationale
from tests.shared.explanations import explanation

texts = st.text(min_size=1).filter(str.strip)
plain = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())


@st.composite
def any_example(draw):
    segments = tuple(draw(st.lists(texts, min_size=1, max_size=2)))
    marks = []
    for segment, text in enumerate(segments):
        start = draw(st.integers(0, len(text) - 1))
        marks += [Rationale(segment, start, draw(st.integers(start + 1, len(text))))] * draw(st.booleans())
    names = st.text().map("x {}".format)
    meta = draw(st.dictionaries(names, plain, max_size=2))
    return Example(segments, draw(st.none() | st.text()), tuple(marks), draw(st.text()), meta)


@given(any_example())
def test_any_example_comes_back_equal(tmp_path_factory, example):
    file = tmp_path_factory.mktemp("rows") / "one.jsonl"
    write_json_lines([example], file)
    assert examples(file) == [example]


@pytest.mark.parametrize("name", ("pocket", "pocket_pairs"))
def test_our_corpora_come_back_equal_also_zipped(tmp_path, name):
    write_json_lines(examples(name), tmp_path / "all.jsonl.gz")
    assert examples(tmp_path / "all.jsonl.gz") == examples(name)


def test_meta_with_the_name_of_a_field_is_refused():
    with pytest.raises(BadInput, match=r"names evidence, id, which are fields of ours; rename it"):
        as_line(Example(("a",), meta={"id": 1, "evidence": []}))


def test_meta_that_is_no_plain_value_is_refused():
    with pytest.raises(BadInput, match="cannot be written"):
        as_line(Example(("a",), meta={"who": {1, 2}}))


def test_a_failed_write_leaves_no_file(tmp_path):
    with pytest.raises(BadInput):
        write_json_lines([Example(("a",)), Example(("b",), meta={"label": 1})], tmp_path / "out.jsonl")
    assert not list(tmp_path.iterdir())


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"does not end in \.jsonl or \.jsonl\.gz"):
        write_json_lines([], tmp_path / "out.csv")


def test_explanations_are_plain_objects_without_json_inside_strings(tmp_path):
    one = explanation("A fine film.", settings={"window": 1, "of": {"a": [1]}}, diagnostics={"gap": float("nan")})
    rows = explanation("A film.", rows=(("layer", ("0", "1")),))
    write_json_lines([one, rows], tmp_path / "run.jsonl")
    first, second = map(json.loads, (tmp_path / "run.jsonl").read_text("utf-8").splitlines())
    assert first["settings"] == {"window": 1, "of": {"a": [1]}} and first["meta"] == {}
    assert first["diagnostics"] == {"gap": None} and second["rows"] == [["layer", ["0", "1"]]]
    assert first["scores"] == one.scores.tolist() and second["scores"] == rows.scores.ravel().tolist()
