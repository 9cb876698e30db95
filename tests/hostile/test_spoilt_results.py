"""Files of results in which something is wrong: read as what they say, where that can be, or refused in a sentence."""

import json

import pytest
from hypothesis import strategies as st

import pellucid
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.results.table import Table
from tests.explanations import explanation
from tests.hostile.corrupting import spoilt_bytes, spoilt_json
from tests.hostile.generated import generated
from tests.hostile.promises import drawn_safely, harmless, kept, printed_safely, right, told_well
from tests.reports.parsed import parsed
from tests.reports.sample_results import sample_explanation, sample_table


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of good files."""
    place = tmp_path_factory.mktemp("saved")
    found = [
        explanation(),
        sample_explanation("one two three", spans=True),
        explanation(("a b", "c"), rows=(("draw", ("0", "1")),)),
    ]
    pellucid.save(found, place / "results.json")
    pellucid.save(found, place / "results.parquet")
    sample_table().save(place / "table.json")
    return {path.name: path.read_bytes() for path in place.iterdir()}


@generated(
    60, 1500, drawn=st.data(), name=st.sampled_from(["results.json", "results.json", "results.parquet"])
)
def test_spoilt_results_are_read_or_refused(saved, folder, drawn, name):
    path = folder / name
    path.write_bytes(_spoilt(drawn, saved[name]))
    try:
        found = pellucid.read(path)
    except PellucidError as error:
        told_well(error)
        return
    for one in found:
        one.view("word")
        assert one.prediction.label in one.prediction.labels
    drawn_safely(found, folder)
    printed_safely(found)
    kept(found, folder, [".parquet"])


@generated(40, 700, drawn=st.data())
def test_a_spoilt_table_is_read_or_refused(saved, folder, drawn):
    path = folder / "spoilt.json"
    path.write_bytes(_spoilt(drawn, saved["table.json"]))
    try:
        table = Table.read(path)
    except PellucidError as error:
        told_well(error)
        return
    printed_safely(table)
    harmless(parsed(table._repr_html_()))


def _spoilt(drawn, whole):
    if whole.startswith(b"{") and drawn.draw(st.integers(0, 3)):
        return json.dumps(drawn.draw(spoilt_json(json.loads(whole)))).encode()
    return drawn.draw(spoilt_bytes(whole))


@pytest.mark.parametrize(
    "held", [b"", b"{}", b"[]", b"null", b"[" * 100_000, b'{"form": "pellucid-explanations-1"}']
)
@pytest.mark.parametrize("name", ["a.json", "a.parquet", "a.pickle", "a"])
def test_files_of_something_else_are_refused(tmp_path, name, held):
    (tmp_path / name).write_bytes(held)
    for reading in (pellucid.read, Table.read):
        with pytest.raises(PellucidError) as told:
            reading(tmp_path / name)
        told_well(told.value)


def test_what_is_read_is_right(saved, tmp_path):
    for name in ("results.json", "results.parquet"):
        (tmp_path / name).write_bytes(saved[name])
        for found in pellucid.read(tmp_path / name):
            right(found)
