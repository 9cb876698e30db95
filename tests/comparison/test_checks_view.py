"""Checks on a page and in a terminal: a grid where methods are compared with the same things, a list of words, the
frontier.
"""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.comparison.checks_view import LineGrid, WordRows, page_checks, parts_of
from pellucid.comparison.frontier import costs, frontier, frontier_view
from pellucid.explaining.report import write_page as report
from pellucid.results.interval import CheckLine, CheckOutcome
from pellucid.results.table import COST_SECONDS, Cell, Curve, Interval, Table

NAN = float("nan")


def line(method, measure, value, beside="", passed=None):
    return CheckLine(method, measure, Interval(value, value - 0.1, value + 0.1), 5, beside, passed)


def outcome(*lines, **more):
    return CheckOutcome("some_check", "What it asks.", tuple(lines), **more)


def table(*outcomes, better="higher"):
    qualities = {"a": 0.2, "b": 0.5, "c": 0.4, "d": 0.9, "chance": 2.0}
    cells = tuple(Cell(method, "hiding", Interval(value, NAN, NAN), 5, better) for method, value in qualities.items())
    return Table(cells, (), {}, (), outcomes)


COSTS = outcome(
    *(
        line(method, COST_SECONDS, value)
        for method, value in (("d", 9.0), ("a", 0.2), ("b", 1.0), ("c", 2.0), ("chance", 0.1))
    )
)
COSTS = replace(COSTS, check="cost")


def test_pairs_of_methods_and_twins_are_grids_and_words_are_lists():
    pairs = outcome(line("a", "tau", 0.1, "b"), line("a", "tau", 0.2, "c"), line("b", "tau", 0.3, "c"))
    (grid,) = parts_of(pairs)
    assert isinstance(grid, LineGrid) and grid.columns == ("b", "c") and list(grid.rows) == ["a", "b"]
    (twins,) = parts_of(
        outcome(
            line("a", "r", 0.1, "t1"),
            line("a", "r", 0.2, "t2"),
            line("b", "r", 0.3, "t1"),
            line("b", "r", 0, "t2"),
        )
    )
    assert isinstance(twins, LineGrid) and twins.columns == ("t1", "t2")
    words = outcome(*(line(method, "highest", 0.1, word) for method in "abc" for word in (f"x{method}", "same")))
    assert [type(part) for part in parts_of(words)] == [WordRows]
    alone = outcome(line("a", "tau", 0.1), line("a", "top", 0.2), line("b", "tau", 0.3), line("b", "top", 0.4))
    (together,) = parts_of(alone)
    assert isinstance(together, LineGrid) and together.columns == ("tau", "top")


def test_the_frontier_is_what_no_cheaper_method_beats_and_never_chance():
    methods = costs(table(COSTS), "hiding")
    assert [one.method for one in methods] == ["chance", "a", "b", "c", "d"]
    expected = [
        one.method
        for place, one in enumerate(methods)
        if one.method != "chance" and all(other.quality < one.quality for other in methods[1:place])
    ]
    assert [one.method for one in frontier(methods, "higher")] == expected == ["a", "b", "d"]
    assert [one.method for one in frontier(methods, "lower")] == ["a"]
    assert "on the frontier: a, b, d" in frontier_view(table(COSTS)).text
    assert frontier_view(table()) is None


@pytest.mark.parametrize("hostile", ("<script>alert(1)</script>", "a\x1b[31m"))
def test_names_of_a_file_are_escaped(hostile, tmp_path):
    curve = Curve("a", "m", (0.0, 1.0), (0.1, 0.2), (0.0, 0.1), (0.2, 0.3))
    one = outcome(
        line(hostile, hostile, 0.1, hostile, True), line("b", hostile, NAN, hostile, False),
        curves=(curve,), curve_axis=hostile, notes=(hostile,), rule=hostile, settings={hostile: hostile},
    )  # fmt: skip
    one = replace(one, check=hostile, meaning=hostile)
    page = page_checks(table(one, COSTS)).text
    assert "<script>" not in page
    assert "\x1b" not in str(table(one, COSTS))
    report([], table(one), path=tmp_path / "page.html")


def test_pass_fail_and_unclear_are_words_and_only_where_there_is_a_rule():
    lines = [line("a", "x", 0.1, passed=True), line("b", "x", 0.9, passed=False), line("c", "x", 0.5)]
    judged, open_ = (table(outcome(*lines, rule=rule)) for rule in ("passes where x is small", ""))
    for word in ("✓ passes", "✗ fails", "○ unclear"):
        assert word in str(judged) and word in page_checks(judged).text
        assert word not in page_checks(open_).text
    assert page_checks(table()) is None


def test_a_table_with_checks_is_read_back(tmp_path):
    one = table(replace(COSTS, curves=(Curve("a", "cost", (0.0,), (0.1,), (0.0,), (NAN,)),), curve_axis="x"))
    one.save(tmp_path / "table.json")
    back = Table.read(tmp_path / "table.json")
    assert str(back) == str(one) and back.check("cost").lines == one.check("cost").lines
    assert np.isnan(back.check("cost").curves[0].high[0])
