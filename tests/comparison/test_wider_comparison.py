"""A folder goes on with more metrics from its explanations; its values are also one Parquet file."""

import json
import random
import shutil

import numpy as np
import pandas
import pyarrow.parquet as pq
import pytest

from pellucid.base.errors import BadFile
from pellucid.comparison import comparison
from pellucid.comparison import door as comparing
from pellucid.comparison import folder as comparison_folder
from pellucid.comparison.checking import checking_of
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.folder import ComparisonFolder
from pellucid.results.table import Table
from pellucid.run.target import Target
from tests.comparison.test_comparison_folder import METRICS, Stop, compared, run, some, stop_at
from tests.shared.cases import model
from tests.shared.moments import files_of, killed

FEW = METRICS[:2]
MORE = [*METRICS, ("sufficiency", {"operator": "delete"})]


@pytest.fixture(autouse=True)
def parts_of_two(monkeypatch):
    monkeypatch.setattr(comparison, "PART", 2)


@pytest.fixture
def no_explaining(monkeypatch):
    """Explaining again is an error."""

    def explain(*_):
        raise AssertionError("a part was explained again")

    monkeypatch.setattr(comparison_folder, "compared_part", explain)


@pytest.fixture
def narrow(tmp_path):
    """A finished folder with few metrics."""
    run(tmp_path / "narrow", question=compared(calls=FEW))
    return tmp_path / "narrow"


def same_but_for_counts(folder, expected):
    """All files are equal, numbers up to rounding and without how many rows were evaluated."""
    ours, theirs = files_of(folder), files_of(expected)
    assert ours.keys() == theirs.keys()
    assert ours["question.json"] == theirs["question.json"]
    values, others = (pandas.read_parquet(one / "values.parquet") for one in (folder, expected))
    pandas.testing.assert_frame_equal(values, others, atol=1e-6, rtol=0)
    for name in ours:
        if name.endswith(".parquet") and name.startswith("parts"):
            assert ours[name] == theirs[name]
    tables = [Table.read(one / "table.json") for one in (folder, expected)]
    for cell, other in zip(tables[0].cells, tables[1].cells, strict=True):
        assert (cell.method, cell.metric, cell.n) == (other.method, other.metric, other.n)
        assert cell.value.mean == pytest.approx(other.value.mean, abs=1e-6, nan_ok=True)


def test_more_metrics_go_on_from_the_explanations(narrow, tmp_path, no_explaining, monkeypatch):
    run(narrow, question=compared(calls=MORE))
    monkeypatch.undo()
    monkeypatch.setattr(comparison, "PART", 2)
    run(tmp_path / "whole", question=compared(calls=MORE))
    same_but_for_counts(narrow, tmp_path / "whole")
    assert run(narrow, question=compared(calls=MORE)).count == 0


@pytest.mark.parametrize("count", [pytest.param(5, marks=pytest.mark.whole), pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_any_moment_of_widening_it_goes_on_and_ends_with_the_same_bytes(narrow, tmp_path, count):
    finished = tmp_path / "finished"
    shutil.copytree(narrow, finished)
    moments = run(finished, question=compared(calls=MORE))
    for moment in random.Random(3).sample(range(moments.count), count):
        folder = tmp_path / str(moment)
        shutil.copytree(narrow, folder)
        killed(run, folder, moment, compared(calls=MORE))
        run(folder, question=compared(calls=MORE))
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


def test_values_that_were_there_keep_every_bit(narrow):
    before = json.loads((narrow / "parts" / "0000.json").read_text())["answers"]
    run(narrow, question=compared(calls=MORE))
    after = json.loads((narrow / "parts" / "0000.json").read_text())["answers"]
    assert [one for one in after if one["metric"] in FEW] == before


@pytest.mark.parametrize("most", [1, 3, 5])
def test_it_goes_on_where_widening_stopped_and_with_still_more_metrics(narrow, tmp_path, no_explaining, most):
    with pytest.raises(Stop):
        comparing.compare_in(ComparisonFolder(narrow, compared(calls=METRICS)), stop_at(most))
    assert not (narrow / "table.json").exists() and (narrow / "earlier.json").exists()
    run(narrow, question=compared(calls=MORE))
    assert not (narrow / "earlier.json").exists()
    table = Table.read(narrow / "table.json")
    assert table.metrics == tuple(call.title for call in compared(calls=MORE).metrics)


def test_fewer_or_other_metrics_and_other_questions_are_refused(narrow):
    for question, message in (
        (compared(calls=FEW[:1]), "metrics: there hiding, comprehensiveness, here hiding"),
        (compared(calls=["hiding", "sufficiency"]), "metrics"),
        (compared(calls=[("hiding", {"steps": 5}), *METRICS[1:]]), "metrics"),
        (compared(calls=MORE, seed=3), "seed: there 0, here 3"),
    ):
        with pytest.raises(BadFile, match=message):
            run(narrow, question=question)
    assert run(narrow, question=compared(calls=FEW)).count == 0


def test_checks_stay_but_those_of_the_metrics(tmp_path):
    def question(calls):
        return comparison_of(model(), some(), ["gradient"], calls, target=Target(), seed=0, resamples=20)

    def table(calls, **settings):
        compared_ = question(calls)
        checking = checking_of(
            compared_, ["dead_token"], twins=(), corpora=(), read=None, train=(), trainer=lambda: None
        )
        return comparing.compare_in(ComparisonFolder(tmp_path, compared_), lambda *_: None, checking)

    first = table(FEW)
    when = (tmp_path / "checks" / "dead_token.json").read_text()
    second = table(METRICS)
    assert second.check("dead_token") == first.check("dead_token")
    assert (tmp_path / "checks" / "dead_token.json").read_text() != when  # sealed as the wider comparison's


def test_every_value_stands_in_a_parquet_file(narrow):
    values = pq.read_table(narrow / "values.parquet").to_pandas()
    table = Table.read(narrow / "table.json")
    for cell in table.cells:
        of_cell = values[(values["method"] == cell.method) & (values["metric"] == cell.metric)]
        by_text = of_cell.groupby("text")["value"].mean()
        assert by_text.mean() == pytest.approx(cell.value.mean, abs=1e-12)
        assert by_text.notna().sum() == cell.n
    chance = values[values["method"].str.startswith("chance")]
    assert set(chance["draw"]) == {0, 1} and set(values["seed"]) == {0}
    assert list(values[values["metric"] == "hiding"]["example"].unique()) == [str(n) for n in range(6)]
    exact = json.loads((narrow / "parts" / "0001.json").read_text())["answers"][0]
    rows = values[(values["method"] == exact["method"]) & (values["metric"] == exact["metric"])]
    np.testing.assert_array_equal(rows[rows["text"].isin([2, 3])]["value"].to_numpy(), np.ravel(exact["columns"]))


def test_precision_and_recall_are_columns_and_what_is_not_judged_is_null(tmp_path):
    run(tmp_path, question=compared(calls=["iou_f1"]))
    values = pq.read_table(tmp_path / "values.parquet").to_pandas()
    assert set(values["column"]) == {"precision", "recall"}
    assert values[values["text"] == 1]["value"].isna().all() and values[values["text"] == 0]["value"].notna().all()


def test_a_folder_without_the_file_gets_it_without_any_work(narrow, no_explaining):
    before = files_of(narrow)
    (narrow / "values.parquet").unlink()
    run(narrow, question=compared(calls=FEW))
    assert files_of(narrow) == before
