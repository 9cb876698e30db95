"""Files of any name: the right file, or one sentence."""

import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadFile, PellucidError
from pellucid.base.files import read_text, write_text
from pellucid.results.table import Table
from tests.hostile.assertions import assert_drawn_safely, assert_good_message, assert_printed_safely
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import names
from tests.shared.explanations import explanation
from tests.shared.sample_results import sample_table
from tests.shared.tiny import save_tiny

STRANGE = st.sampled_from(
    [
        "",
        ".",
        "..",
        "/",
        "-",
        "--help",
        "~",
        "~nobody/x",
        "a/../b",
        "a//b",
        "a\nb",
        "a\0b",
        "con",
        "x" * 250,
        "x" * 5000,
    ]
)
WAYS = {
    "text": lambda path: write_text(path, "held"),
    "results": lambda path: pellucid.save([explanation()], path),
    "report": lambda path: pellucid.report([explanation()], path=path),
    "table": lambda path: sample_table().save(path),
}
READING = {"results": pellucid.read, "table": Table.read, "text": read_text, "model": pellucid.load}


@generated(
    60,
    700,
    name=st.one_of(STRANGE, names(surrogates=True).map(lambda name: name.replace("/", "_"))),
    ending=st.sampled_from(["", ".json", ".parquet", ".html"]),
    way=st.sampled_from(sorted(WAYS)),
)
def test_what_is_written_lies_under_its_name_or_nowhere(tmp_path_factory, name, ending, way):
    folder = tmp_path_factory.mktemp("names")
    path = f"{folder}/inner/{name}{ending}"
    try:
        WAYS[way](path)
    except PellucidError as error:
        assert_good_message(error)
        assert [place for place in folder.rglob("*") if place.is_file()] == []
        return
    [written] = [place for place in folder.rglob("*") if place.is_file()]
    assert written.samefile(path)


@generated(60, 500, name=st.one_of(STRANGE, names(surrogates=True)), way=st.sampled_from(sorted(READING)))
def test_what_is_not_there_is_not_read(tmp_path, monkeypatch, name, way):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(PellucidError) as raised:
        READING[way](Path(name) if name in ("~", "..") else f"./{name}")
    assert_good_message(raised.value)


def test_a_model_in_a_folder_of_a_strange_name_is_loaded_and_its_results_are_saved(tmp_path):
    name = "m <b>&\x1b[31m\n\u202e"
    model = pellucid.load(save_tiny(tmp_path / "model").rename(tmp_path / name))
    explanations = pellucid.explain(model, "A fine film.", "gradient")
    pellucid.save(explanations, tmp_path / "kept.parquet")
    assert pellucid.read(tmp_path / "kept.parquet") == explanations
    assert_drawn_safely(explanations, tmp_path)
    assert_printed_safely(explanations)


def test_a_model_in_a_folder_whose_name_is_no_text_is_refused(tmp_path):
    name = os.fsdecode(b"m\xff\xfe")
    with pytest.raises(PellucidError) as raised:
        pellucid.load(save_tiny(tmp_path / "model").rename(tmp_path / name))
    assert_good_message(raised.value)


def test_reports_need_a_name():
    with pytest.raises(BadFile, match="give the name of a file"):
        pellucid.report([explanation()], path="")
