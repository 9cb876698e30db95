"""Files of results in which something is wrong: read as what they say, where that can be, or refused in a sentence."""

import pytest
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.results.table import Table
from tests.hostile.assertions import (
    assert_drawn_safely,
    assert_good_message,
    assert_harmless,
    assert_printed_safely,
    assert_round_trip,
    assert_valid,
)
from tests.hostile.generated_cases import generated
from tests.hostile.spoilt_strategies import spoilt_bytes, spoilt_json
from tests.shared.explanations import explanation
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation, sample_table


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of good files."""
    place = tmp_path_factory.mktemp("saved")
    explanations = [
        explanation(),
        sample_explanation("one two three", spans=True),
        explanation(("a b", "c"), rows=(("draw", ("0", "1")),)),
    ]
    pellucid.save(explanations, place / "results.json")
    pellucid.save(explanations, place / "results.parquet")
    sample_table().save(place / "table.json")
    return {path.name: path.read_bytes() for path in place.iterdir()}


@generated(60, 1500, drawn=st.data(), name=st.sampled_from(["results.json", "results.json", "results.parquet"]))
def test_spoilt_results_are_read_or_refused(saved, folder, drawn, name):
    path = folder / name
    path.write_bytes(_spoilt(drawn, saved[name]))
    try:
        explanations = pellucid.read(path)
    except PellucidError as error:
        assert_good_message(error)
        return
    for one in explanations:
        one.view("word")
        assert one.prediction.label in one.prediction.labels
    assert_drawn_safely(explanations, folder)
    assert_printed_safely(explanations)
    assert_round_trip(explanations, folder, [".parquet"])


@generated(40, 700, drawn=st.data())
def test_a_spoilt_table_is_read_or_refused(saved, folder, drawn):
    path = folder / "spoilt.json"
    path.write_bytes(_spoilt(drawn, saved["table.json"]))
    try:
        table = Table.read(path)
    except PellucidError as error:
        assert_good_message(error)
        return
    assert_printed_safely(table)
    assert_harmless(parsed(table._repr_html_()))


def _spoilt(drawn, whole):
    if whole.startswith(b"{") and drawn.draw(st.integers(0, 3)):
        return drawn.draw(spoilt_json(whole))
    return drawn.draw(spoilt_bytes(whole))


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"[" * 100_000, b'{"form": "pellucid-explanations-1"}']
)
@pytest.mark.parametrize("name", ["a.json", "a.parquet", "a.pickle", "a"])
def test_files_of_something_else_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    for reading in (pellucid.read, Table.read):
        with pytest.raises(PellucidError) as raised:
            reading(tmp_path / name)
        assert_good_message(raised.value)


def test_what_is_read_is_right(saved, tmp_path):
    for name in ("results.json", "results.parquet"):
        (tmp_path / name).write_bytes(saved[name])
        for one in pellucid.read(tmp_path / name):
            assert_valid(one)
