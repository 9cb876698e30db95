"""Explanations are read equal to what was saved; other files raise; a full disk leaves the old file."""

import json
import resource
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pellucid.base.errors import BadFile
from pellucid.base.files import read_text, whole_file, write_text
from pellucid.base.kinds import attributions
from pellucid.results.explanation import Explained, Prediction
from pellucid.results.storage import FORM, read, save
from pellucid.run.target import Target
from pellucid.text.example import Example, Rationale
from pellucid.text.units import all_spans
from tests.shared.asking import FEW, STATE, ask, reads_states
from tests.shared.explanations import explanation, word_units

FORMS = (".parquet", ".json")
HOSTILE = "</script><img src=x onerror='alert(1)'> \" & \\ \x00\x1b[31m \u202eevil \ufeff 👩‍👩‍👧 \n\t\r ; DROP TABLE"
EXAMPLE = Example(
    (HOSTILE, "A second one."),
    label=HOSTILE,
    rationales=(Rationale(0, 2, 8), Rationale(1, 0, 1)),
    id=HOSTILE,
    meta={"domain": HOSTILE, "phenomena": ["a", "b"], "nested": {"n": 1.5, "none": None, "yes": True}},
)
EXPLANATIONS = {
    "plain": explanation(),
    "hostile": explanation(
        EXAMPLE.segments,
        example=EXAMPLE,
        target=Explained(HOSTILE, HOSTILE, "logit", -1.25),
        prediction=Prediction(HOSTILE, (HOSTILE, "other"), (1.0, 1 / 3), (0.1, 0.9)),
        method=HOSTILE,
        settings={"n": None, "f": 0.1, "list": [1, 2], "text": HOSTILE},
        model=HOSTILE,
        caveats=(HOSTILE, ""),
        diagnostics={HOSTILE: 1 / 3, "gap": 1e-300},
    ),
    "rows": explanation(rows=(("layer", ("0", "1", "2")), ("head", ("a", "b")))),
    "one row": explanation(rows=(("draw", ("0",)),)),
    "spans": explanation("A fine film.", units=all_spans(word_units(("A fine film.",)))),
    "regression": explanation(prediction=Prediction("score", ("score",), (2.5,), ())),
    "extremes": explanation("a b", scores=[0.0, -0.0, 3.4e38, -1e-45], seed=2**62),
}


@pytest.fixture(params=FORMS)
def path(request, tmp_path):
    return tmp_path / f"results{request.param}"


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_an_explanation_comes_back_equal(path, name):
    save([EXPLANATIONS[name]], path)
    (back,) = read(path)
    assert back == EXPLANATIONS[name]
    assert type(back.units) is type(EXPLANATIONS[name].units)
    assert back.scores.dtype == np.float32


def test_all_come_back_in_order(path):
    save(list(EXPLANATIONS.values()), path)
    assert read(path) == list(EXPLANATIONS.values())


def test_none_come_back_as_none(path):
    save([], path)
    assert read(path) == []


@pytest.mark.parametrize("method", attributions.names())
def test_what_the_methods_make_comes_back_equal(tmp_path, method, having, texts):
    target = STATE if reads_states(method) else Target("positive")
    some = texts[:2] if method == "linear_coefficients" else texts[:3]  # a linear model of words reads no pairs
    explanations = ask(having(method), some, (method, FEW.get(method, {})), target=target)
    for form in FORMS:
        save(explanations, tmp_path / f"results{form}")
        assert read(tmp_path / f"results{form}") == explanations, form


@pytest.mark.parametrize("field", ("scores", "units", "target", "method", "settings", "seed", "caveats", "diagnostics"))
def test_equality_sees_every_difference(field):
    other = {
        "scores": np.nextafter(EXPLANATIONS["plain"].scores, np.float32(9)),
        "units": replace(EXPLANATIONS["plain"].units, kind="word"),
        "target": Explained("negative", None, "logit", 1.5),
        "method": "gradient",
        "settings": {"window": 2},
        "seed": 1,
        "caveats": ("careful",),
        "diagnostics": {"parity": 0.0},
    }
    assert replace(EXPLANATIONS["plain"], **{field: other[field]}) != EXPLANATIONS["plain"]
    assert replace(EXPLANATIONS["plain"]) == EXPLANATIONS["plain"]
    assert EXPLANATIONS["plain"] != "plain"


def test_saving_twice_writes_the_same_bytes(path):
    save(list(EXPLANATIONS.values()), path)
    first = path.read_bytes()
    save(list(EXPLANATIONS.values()), path)
    assert path.read_bytes() == first
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_new_folder_is_created(tmp_path):
    save([EXPLANATIONS["plain"]], tmp_path / "a" / "b" / "c.json")
    assert read(str(tmp_path / "a" / "b" / "c.json")) == [EXPLANATIONS["plain"]]


NOT_OURS = {
    "empty": b"",
    "garbage": b"\x00\x01garbage\xff",
    "a list": b"[]",
    "another form": b'{"form": "other-1", "explanations": []}',
    "no explanations": json.dumps({"form": FORM}).encode(),
    "a number": json.dumps({"form": FORM, "explanations": 5}).encode(),
    "strings": json.dumps({"form": FORM, "explanations": ["a"]}).encode(),
    "half a record": json.dumps({"form": FORM, "explanations": [{"id": "1", "rows": "[]"}]}).encode(),
    "not UTF-8": '{"form": "é"}'.encode("latin-1"),
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_a_file_that_is_none_of_ours_raises(path, name):
    path.write_bytes(NOT_OURS[name])
    with pytest.raises(BadFile, match="results"):
        read(path)


@pytest.mark.parametrize("field", ("scores", "rows", "unit_labels", "unit_start", "settings", "rationales", "meta"))
@pytest.mark.parametrize("wrong", (None, "spam", 7, ["spam"]), ids=str)
def test_a_record_with_a_wrong_field_raises(tmp_path, field, wrong):
    path = tmp_path / "results.json"
    save([EXPLANATIONS["plain"]], path)
    record = json.loads(path.read_text())
    record["explanations"][0][field] = wrong
    path.write_text(json.dumps(record))
    with pytest.raises(BadFile, match=r"results.json"):
        read(path)


@pytest.mark.parametrize("share", (0.2, 0.5, 0.95))
def test_half_a_file_raises(path, share):
    save(list(EXPLANATIONS.values()), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BadFile):
        read(path)


def test_parquet_of_others_raises(tmp_path):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(BadFile, match="not explanations saved by Pellucid"):
        read(tmp_path / "other.parquet")


def test_a_missing_file_raises(path):
    with pytest.raises(BadFile):
        read(path)


def test_a_folder_raises(path):
    path.mkdir()
    with pytest.raises(BadFile):
        read(path)


def test_a_name_of_another_kind_raises(tmp_path):
    with pytest.raises(BadFile, match=r"ends in .parquet or .json"):
        save([EXPLANATIONS["plain"]], tmp_path / "results.pickle")
    assert not list(tmp_path.iterdir())


@contextmanager
def full_disk(most):
    """No file may grow beyond so many bytes: a write fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("before", (True, False))
def test_a_full_disk_raises_and_leaves_what_was_there(path, before):
    if before:
        save([EXPLANATIONS["plain"]], path)
    with full_disk(1000), pytest.raises(BadFile, match=r"Cannot write .*results"):
        save(list(EXPLANATIONS.values()) * 20, path)
    assert [entry.name for entry in path.parent.iterdir()] == ([path.name] if before else [])
    if before:
        assert read(path) == [EXPLANATIONS["plain"]]


def test_an_error_while_writing_leaves_what_was_there(tmp_path):
    write_text(tmp_path / "notes.txt", "before")
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "notes.txt") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert read_text(tmp_path / "notes.txt") == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_in_the_place_of_a_folder_raises(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadFile, match="Cannot write"):
        write_text(tmp_path / "file" / "notes.txt", "text")
