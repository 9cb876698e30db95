"""The comparison on a page: every number with its interval, direction and verdict; curves as drawings."""

from itertools import pairwise

import pytest

from pellucid.drawing.comparison_section import MOST_LINES, curves_view
from pellucid.drawing.curve_plot import COLOURS, curve_plots, frame_of, line_styles, round_ticks
from pellucid.drawing.table_view import comparison, table_view
from pellucid.results.table import Cell, Interval, Table
from tests.shared.parsed import parsed
from tests.shared.sample_results import METHODS, METRICS, sample_table


def test_methods_are_rows_and_metrics_columns_and_chance_is_last():
    table = sample_table(("chance", "lime", "gradient_x_input"))
    root = parsed(comparison(table))
    rows = list(next(root.every("tbody")).every("tr"))
    assert [next(row.every("bdi")).text for row in rows] == ["lime", "gradient x input", "chance"]
    heads = [head.text for head in next(root.every("thead")).every("th")]
    higher, lower = "↑ better", "↓ better"
    names = [f"comprehensiveness{higher}", f"sufficiency{lower}", f"hiding{lower}", f"revealing{higher}"]
    assert heads == ["method", *names]
    assert all(len(list(row.every("td"))) == len(METRICS) for row in rows)


def test_the_best_is_bold_by_the_metrics_direction():
    cells = [
        Cell(method, metric, Interval(mean, mean - 0.1, mean + 0.1), 5, better)
        for metric, better in METRICS
        for method, mean in (("a", 0.1), ("b", 0.9), ("chance", 0.0 if better == "lower" else 1.0))
    ]
    root = parsed(comparison(Table(tuple(cells), (), {})))
    bold = [[bool(list(cell.every("strong"))) for cell in row.every("td")] for row in root.every("tr")]
    assert bold[1:] == [[False, True, True, False], [True, False, False, True], [False] * 4]


def test_verdicts_are_symbol_and_word():
    def cell(method, low, high):
        over = Interval((low + high) / 2, low, high)
        return Cell(method, "m", Interval(0.5, 0.4, 0.6), 5, "higher", over, p=0.01 if over.excludes_zero else 1.0)

    root = parsed(comparison(Table((cell("a", 0.1, 0.2), cell("b", -0.2, -0.1), cell("c", -0.1, 0.1)), (), {})))
    verdicts = [next(iter(row.every("td"))).text for row in next(root.every("tbody")).every("tr")]
    assert [text.split("0.600")[1] for text in verdicts] == ["▲ better", "▼ worse", "○ unclear"]


def test_intervals_spread_settings_and_caveats_are_shown():
    text = parsed(table_view(sample_table())).text
    for fact in (
        "draws ± 0.012",
        " to ",
        "operator = absent",
        "fractions = 0.01",
        "resamples",
        "1,000",
        "Caution: Edited",
    ):
        assert fact in text


def test_a_hole_in_the_table_is_a_dash():
    table = sample_table()
    root = parsed(comparison(Table(table.cells[1:], (), {})))
    assert "–" in [cell.text for cell in root.every("td")]


def test_every_method_has_a_line_a_band_and_a_place_in_the_legend():
    root = parsed(curve_plots(sample_table()))
    plots = list(root.every("svg", css_class="pl-plot"))
    assert len(plots) == 2
    for plot in plots:
        assert [len(list(plot.every(tag))) for tag in ("polyline", "polygon")] == [len(METHODS)] * 2
        labels = [node.text for node in plot.every("text")]
        assert "100%" in labels and any("share of the text" in label for label in labels)
        assert "share of right answers" in labels
        assert plot.attributes["viewbox"] == "0 0 360 248" and plot.attributes["aria-label"]
    [legend] = root.every(css_class="pl-lines")
    assert [item.text for item in legend.every("li")][:4] == [
        "integrated gradients",
        "gradient x input",
        "attention",
        "chance",
    ]


def test_no_curves_no_plot():
    assert curve_plots(sample_table(curves=())) is None


def test_lines_differ_in_more_than_colour():
    styles = line_styles([f"m{number}" for number in range(3 * COLOURS)]).values()
    assert len({(style.css_classes, style.marker) for style in styles}) == 3 * COLOURS
    neighbours = [style.css_classes.split()[1] for style in styles]
    assert all(one != other for one, other in pairwise(neighbours))


def test_lines_stay_inside_the_frame():
    frame = frame_of([0.0, 1.0], [-0.31, 0.97])
    assert frame.y_range == (-0.5, 1.0)
    assert frame.x(0) < frame.x(1) and frame.y(0) > frame.y(1)


@pytest.mark.parametrize("low, high", [(0, 1), (0.4, 0.41), (-3, 250), (5, 5), (0, 0), (1e-6, 2e-6)])
def test_ticks_are_round_and_enclose_the_range(low, high):
    ticks = round_ticks(low, high)
    assert ticks[0] <= low + 1e-9 and ticks[-1] >= high - 1e-9 and 2 <= len(ticks) <= 8


@pytest.mark.parametrize("count", (MOST_LINES, MOST_LINES + 1))
def test_many_methods_get_a_panel_each(count):
    methods = tuple(f"m{number}" for number in range(count))
    root = parsed(curves_view(sample_table((*methods, "chance"), METRICS, ("hiding",))))
    panels = list(root.every(css_class="pl-panel"))
    assert len(panels) == (count if count > MOST_LINES else 0)
    for panel in panels:
        assert len(list(panel.every("polyline"))) == 2  # the method's and that of random scores
    assert len(list(root.every(css_class="pl-plot"))) == (len(panels) or 1)
