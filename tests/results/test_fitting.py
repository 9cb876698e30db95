"""Everything that is read can be drawn: a file whose parts do not fit each other is refused."""

import json

import pytest

import pellucid
from pellucid.base.errors import BadFile
from pellucid.results.storage import save
from pellucid.results.table import Table
from tests.shared.explanations import explanation
from tests.shared.sample_results import sample_table as comparison_table

UNFIT = (
    ("unit", "zzz", "its units are 'zzz'"),
    ("settings", "[]", "the settings are"),
    ("settings", "3", "the settings are"),
    ("settings", "null", "the settings are"),
    ("meta", "[]", "meta of an example is a dictionary"),
    ("rows", '[["draw", ["a", "a"]]]', "results.json"),
    ("rows", '[[3, ["a"]]]', "a name is 3"),
    ("rows", '[["draw", []]]', "results.json"),
    ("classes", ["positive", "positive"], "two of them share a name"),
    ("unit_end", [0, 10**6, 6, 11, 16, 17, 17, 0], "a unit lies at"),
    ("scores", [float("nan")] * 8, "not a finite number"),
)


@pytest.mark.parametrize(("field", "value", "reason"), UNFIT)
def test_results_that_do_not_fit_are_refused(tmp_path, field, value, reason):
    path = tmp_path / "results.json"
    save([explanation()], path)
    record = json.loads(path.read_text())
    record["explanations"][0][field] = value
    path.write_text(json.dumps(record))
    with pytest.raises(BadFile, match=reason):
        pellucid.read(path)


@pytest.mark.parametrize(
    ("line", "value"),
    (("grid", float("nan")), ("grid", 1e308), ("mean", 1e308), ("low", -1e200), ("high", 10**400)),
)
def test_curves_that_no_picture_can_show_are_refused(tmp_path, line, value):
    comparison_table().save(tmp_path / "table.json")
    record = json.loads((tmp_path / "table.json").read_text())
    record["curves"][0][line] = [value] * len(record["curves"][0][line])
    (tmp_path / "table.json").write_text(json.dumps(record))
    with pytest.raises(BadFile, match="does not hold a comparison"):
        Table.read(tmp_path / "table.json")


def test_a_curve_over_no_points_is_refused(tmp_path):
    comparison_table().save(tmp_path / "table.json")
    record = json.loads((tmp_path / "table.json").read_text())
    record["curves"][0] |= {"grid": [], "mean": [], "low": [], "high": []}
    (tmp_path / "table.json").write_text(json.dumps(record))
    with pytest.raises(BadFile, match="over no points"):
        Table.read(tmp_path / "table.json")


def test_a_curve_whose_intervals_are_unknown_is_drawn(tmp_path):
    comparison_table().save(tmp_path / "table.json")
    record = json.loads((tmp_path / "table.json").read_text())
    unknown = [float("nan")] * len(record["curves"][0]["low"])
    record["curves"][0] |= {"low": unknown, "high": unknown}
    (tmp_path / "table.json").write_text(json.dumps(record))
    table = Table.read(tmp_path / "table.json")
    pellucid.report([], table, path=tmp_path / "report.html")
