"""The grid of data sets: which pair stands where, and names that are hard to read off."""

from itertools import combinations

import pytest

from pellucid.comparison.checks_view import corpus_grid, data_sets
from pellucid.explaining.report import write_page as report
from pellucid.results.interval import CheckLine, CheckOutcome
from pellucid.results.table import Cell, Interval, Table

NAN = float("nan")


def lines(names, method="gradient"):
    pairs = combinations(names, 2)
    return [
        CheckLine(
            method,
            "Pearson over common words",
            Interval(0.1 * n, 0.1 * n - 0.05, 0.1 * n + 0.05),
            120,
            f"{a} and {b}",
        )
        for n, (a, b) in enumerate(pairs)
    ]


def outcome(names, methods=("gradient", "chance")):
    return CheckOutcome(
        "corpus_agreement", "What it asks.", tuple(one for method in methods for one in lines(names, method))
    )


@pytest.mark.parametrize(
    "names",
    [
        ("these texts", "imdb"),
        ("these texts", "imdb", "yelp", "sst"),
        ("these texts", "salt and pepper", "a and b and c"),
        ("this and that", "one", "two"),
    ],
)
def test_names_are_read_off_the_pairs(names):
    assert data_sets(lines(names)) == names
    assert data_sets([*lines(names)[:-1], CheckLine("a", "b", Interval(0, 0, 0), 1, "x")]) == ()


def test_two_data_sets_need_no_grid():
    assert corpus_grid(outcome(("these texts", "imdb"))) is None


def test_each_pair_stands_once_in_its_row_and_column(tmp_path):
    names = ("these texts", "imdb", "<b>yelp</b>", "sst")
    page = str(corpus_grid(outcome(names)))
    assert page.count("<figure") == 2 and "120 common words" in page
    assert "&lt;b&gt;yelp" in page and "<b>yelp" not in page
    for value in (".100", ".200", ".300", ".400", ".500"):
        assert page.count(value) == 2
    cells = (Cell("gradient", "hiding", Interval(0.2, NAN, NAN), 5, "lower"),)
    report([], Table(cells, (), {}, (), (outcome(names),)), path=tmp_path / "page.html")
    assert "common words" in (tmp_path / "page.html").read_text(encoding="utf-8")
