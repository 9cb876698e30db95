"""The table of a comparison: its cells, its chance, its caveats, and what it refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.kinds import metrics
from pellucid.base.processes import silent
from pellucid.comparison.case import Case
from pellucid.comparison.compared_part import REMEMBERED, judge_part
from pellucid.comparison.comparison import Comparison, metric_calls
from pellucid.comparison.leads import pseudo_values
from pellucid.comparison.table import comparison_table
from pellucid.results.bootstrap import bootstrap_interval, combined, paired_interval, paired_p
from pellucid.results.table import Table
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from tests.shared.cases import examples, mark, model, with_decoy

METRICS = sorted(metrics.names(), key=lambda name: metrics.get(name).facts["column"])
METHODS = ("occlusion", ("chance", {"n_draws": 3}))


def compared(texts, choices=METRICS, methods=METHODS, target="predicted", resamples=1000, seed=0):
    request = Request(model(), method_calls(methods, model()), Target(target), seed)
    return Comparison(request, tuple(texts), metric_calls(choices), resamples)


def explained(texts, methods=METHODS):
    request = compared(texts, methods=methods).request
    return explain_batch(request, model().encode(texts), Scheduler(512), silent)


def judged_part(comparison, explanations, progress=silent):
    return judge_part(comparison, model().encode(comparison.examples), explanations, Scheduler(512), progress)


def table_of(texts, choices=METRICS, methods=METHODS, progress=silent, **settings):
    comparison = compared(texts, choices, methods, **settings)
    return comparison_table(comparison, [judged_part(comparison, explained(texts, methods), progress)])


def close(interval, expected):
    """Equal up to what rows that run in other company differ by."""
    return (interval.mean, interval.low, interval.high) == pytest.approx(
        (expected.mean, expected.low, expected.high), abs=1e-5
    )


@pytest.fixture(scope="module")
def marked():
    return [with_decoy(mark(example, [0]), 0) for example in examples()]


@pytest.fixture(scope="module")
def table(marked):
    return table_of(marked, resamples=200, seed=3)


def test_every_pair_has_a_cell_within_the_metrics_range(table):
    assert (table.methods, table.metrics) == (("occlusion", "chance(n_draws=3)"), tuple(METRICS))
    assert len(table.cells) == 2 * len(METRICS)
    for cell in table.cells:
        facts = metrics.get(cell.metric).facts
        assert facts["lowest"] <= cell.value.low <= cell.value.mean <= cell.value.high <= facts["highest"]
        # A text of one word has no other span of its length and no set of words; of ten words or fewer nothing stays
        # after deletion.
        assert cell.n in ((5, 6) if cell.metric != "deletion" else (2, 3, 4))
        assert cell.better == facts["better"]


def test_a_cell_is_the_metric_over_the_examples(table, marked):
    case = Case(model(), model().encode(marked), explained(marked)["occlusion"], Scheduler(512))
    for call in metric_calls(METRICS):
        judged = call(case)
        expected = bootstrap_interval(judged.columns, judged.combine, resamples=200, seed=3)
        assert close(table.cell("occlusion", call.title).value, expected)


def test_chance_is_the_mean_of_its_draws_and_the_rest_is_measured_from_it(table, marked):
    explanations = explained(marked)
    batch = model().encode(marked)
    for call in metric_calls(["sufficiency", "iou_f1"]):
        draws = [
            call(
                Case(
                    model(),
                    batch,
                    [row.row(str(n)) for row in explanations["chance(n_draws=3)"]],
                    Scheduler(512),
                )
            )
            for n in range(3)
        ]
        columns, combine = np.mean([draw.columns for draw in draws], axis=0), draws[0].combine
        cell = table.cell("chance(n_draws=3)", call.title)
        assert cell.value.mean == pytest.approx(combined(columns, combine))
        assert cell.spread == pytest.approx(np.std([combined(draw.columns, combine) for draw in draws], ddof=1))
        assert cell.over_chance is None
        ours = call(Case(model(), batch, explanations["occlusion"], Scheduler(512)))
        cell = table.cell("occlusion", call.title)
        rows = [pseudo_values(side, combine) for side in (ours.columns, columns)]
        assert close(cell.over_chance, paired_interval(rows[0] - rows[1]))
        assert paired_p(rows[0] - rows[1]) <= cell.p <= 1
        assert table.cell("occlusion", call.title).spread is None


def test_the_games_have_curves(table):
    assert {"hiding", "revealing"} <= {curve.metric for curve in table.curves}
    assert not {"comprehensiveness", "auprc"} & {curve.metric for curve in table.curves}
    assert {curve.method for curve in table.curves} == set(table.methods)
    curve = table.curves[0]
    assert (len(curve.grid), curve.grid[0], curve.grid[-1]) == (21, 0, 1)
    assert np.trapezoid(curve.mean, curve.grid) == pytest.approx(table.cell(curve.method, curve.metric).value.mean)


def test_it_says_what_is_needed_to_repeat_it(table, tmp_path):
    about = table.about
    assert (about["model"], about["model_hash"]) == (model().name, model().hash)
    assert (about["examples"], about["seed"], about["resamples"]) == (6, 3, 200)
    assert about["target"] == "logit of the predicted class"
    assert about["methods"]["chance(n_draws=3)"]["n_draws"] == 3
    assert about["tokens"] > about["rows"] > 0
    assert table.cell("occlusion", "comprehensiveness").settings["fractions"] == [0.01, 0.05, 0.1, 0.2, 0.5]
    table.save(tmp_path / "table.json")
    assert Table.read(tmp_path / "table.json") == table
    json.dumps(table.about)


def test_caveats_name_the_operator_the_marks_and_the_few_examples(table):
    text = " ".join(table.caveats)
    assert "Only 6 examples" in text
    assert "No method can be marked as better or worse than random scores on 6 examples: at 5 % for " in text
    assert {cell.verdict for cell in table.cells} == {"undecided"}
    assert "hiding, revealing, comprehensiveness, sufficiency" in text
    assert "“absent”" in text
    assert "token_f1, iou_f1 and auprc measure agreement" in text
    assert "Chance was not judged" not in text
    assert "Left out" not in text


def test_metrics_that_need_marks_are_left_out_when_there_are_none():
    table = table_of(examples(), ["auprc", ("sufficiency", {"operator": "mask"})], ["gradient"], resamples=50)
    assert table.metrics == ("sufficiency(operator=mask)",)
    text = " ".join(table.caveats)
    assert "no example has marked evidence: auprc." in text
    assert "Chance was not judged" in text
    assert "“mask”" in text and "agreement" not in text
    assert table.cells[0].over_chance is None


def test_some_marks_are_enough_and_it_says_how_many(marked):
    mixed = [*marked[:2], *examples()[2:]]
    table = table_of(mixed, ["token_f1"], ["gradient"], resamples=50)
    assert table.cells[0].n == 2
    assert "Only 2 of 6 examples have such marks" in " ".join(table.caveats)


def test_the_order_of_examples_and_a_forgetful_scheduler_change_nothing(monkeypatch, marked):
    straight = table_of(marked, ["hiding", "auprc"], resamples=50)
    monkeypatch.setattr("pellucid.comparison.compared_part.REMEMBERED", 0)
    backwards = table_of(marked[::-1], ["hiding", "auprc"], resamples=50)
    assert REMEMBERED > 0
    for ours, theirs in zip(straight.cells, backwards.cells, strict=True):
        assert ours.value.mean == pytest.approx(theirs.value.mean)


def test_progress_counts_every_draw_and_metric():
    reports = []
    table_of(examples()[:2], ["hiding", "sufficiency"], progress=lambda *facts: reports.append(facts), resamples=10)
    assert reports == [("judging", done, 8) for done in range(1, 9)]


def test_other_rows_than_draws_are_refused():
    texts = examples()[:2]
    draws = explained(texts, [("chance", {"n_draws": 2})])["chance(n_draws=2)"]
    layers = [replace(row, rows=(("layer", ("0", "1")),)) for row in draws]
    with pytest.raises(BadSetting, match=r"layer.*\.row\(label\)"):
        judged_part(compared(texts, ["hiding"], ["gradient"]), {"gradient": layers})


def test_explanations_have_to_be_those_of_the_batch():
    texts = examples()
    wrong = {"gradient": explained(texts, ["gradient"])["gradient"][::-1]}
    for explanations in (wrong, {"gradient": wrong["gradient"][:2]}, {}):
        with pytest.raises(BadInput):
            judged_part(compared(texts, ["hiding"], ["gradient"]), explanations)


def test_metrics_are_looked_up_like_methods():
    calls = metric_calls(["hiding", ("hiding", {"steps": 5})])
    assert [call.title for call in calls] == ["hiding", "hiding(steps=5)"]
    assert calls[1].settings == {"unit": "word", "operator": "absent", "steps": 5, "reference": "gold"}
    with pytest.raises(UnknownName, match="Did you mean 'sufficiency'"):
        metric_calls(["suficiency"])
    with pytest.raises(UnknownName, match="operator"):
        metric_calls([("hiding", {"operater": "mask"})])
    with pytest.raises(BadSetting, match="twice"):
        metric_calls(["hiding", "hiding"])


def test_the_target_is_named_in_words():
    texts = examples()[:3]
    targets = {}
    for target in ("gold", "neutral", ("neutral", "positive")):
        table = table_of(texts, ["comprehensiveness"], ["gradient"], target=target, resamples=10)
        targets[target] = table.about["target"]
    assert targets["gold"] == "logit of the gold class"
    assert targets["neutral"] == "logit of neutral"
    assert targets["neutral", "positive"] == "logit of neutral against positive"
