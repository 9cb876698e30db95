"""What the benchmark of attributions says is computed rightly from what it measured; nothing here measures time."""

import re

import pytest

from benchmarks.attribution.cases import all_cases
from benchmarks.attribution.counting import counting
from benchmarks.attribution.definition import Definition
from benchmarks.attribution.floor import Way
from benchmarks.attribution.page import write_page
from benchmarks.attribution.results import Results
from benchmarks.attribution.targets import lines
from benchmarks.attribution.workload import sample, texts_of
from tests.asking import ask

RECORD = {
    "seconds": 20.0,
    "sampled_texts": 4,
    "texts": 64,
    "sequences": 100,
    "tokens_forward": 5000,
    "tokens_backward": 5000,
    "tokens_by_definition": 5000,
    "floors": [1700.0, 1800.0],
    "forward_share": 0.3,
    "backward_share": 0.6,
    "megabytes": 100.0,
    "when": "2026-01-01T00:00:00+00:00",
}


def records(ratios):
    """One record for each case, with the ratio of its library."""
    return {case.name: RECORD | {"ratio": ratios[case.by]} for case in all_cases(2) if case.by in ratios}


def test_the_texts_are_as_many_and_as_long_as_the_page_says():
    short, long = ([len(text.split()) for text in texts_of(kind)] for kind in ("short", "long"))
    assert (len(short), min(short), max(short)) == (64, 8, 60)
    assert (len(long), min(long), max(long)) == (8, 376, 399)
    assert texts_of("short") == texts_of("short")


def test_a_sample_keeps_to_the_budget_and_spreads_over_the_sizes():
    costs = list(range(1, 65))
    sampled = sample(costs, 130)
    assert sum(costs[number] for number in sampled) <= 130
    assert min(sampled) < 16 and max(sampled) > 48
    assert sample(costs, 1e9) == list(range(64))
    assert len(sample(costs, 0)) == 1


@pytest.mark.parametrize(
    "definition, evaluations",
    [
        (Definition("both", "pass"), 1),
        (Definition("both", "points", 50), 50),
        (Definition("forward", "samples", 25), 25),
        (Definition("forward", "windows"), 9),  # eight windows and the text
        (Definition("forward", "permutations", 25), 25 * 7 + 2),
    ],
)
def test_a_definition_counts_passes_of_a_text_of_eight_pieces(definition, evaluations):
    assert definition.evaluations(10) == evaluations
    assert definition.tokens(10) == 10 * evaluations


def test_every_row_is_in_a_batch_within_the_tokens():
    rows = [[1] * length for length in (3, 9, 4, 30, 5)]
    packed = Way(20, repeated=False).batches(rows)
    assert sorted(map(len, (row for batch in packed for row in batch))) == [3, 4, 5, 9, 30]
    assert all(len(batch) == 1 or len(batch) * max(map(len, batch)) <= 20 for batch in packed)
    assert [len(batch) for batch in Way(20, repeated=True).batches(rows)] == [6, 2, 5, 1, 4]


def test_what_the_network_computes_is_counted(bert):
    with counting(bert.network) as counted:
        explanation = ask(bert, ["A fine film."], ("integrated_gradients", {"n_steps": 4}))[0]
    assert counted.backward == 4 * len(explanation.units)
    assert counted.forward > counted.backward
    assert counted.sequences >= 6  # four points, the text and the blank text
    assert min(counted.forward_seconds, counted.backward_seconds) > 0
    assert not bert.network._forward_hooks


def test_verdicts_say_what_is_met_and_by_how_much_not():
    verdicts = {line.what: line.verdict for line in lines(records({"pellucid": 1.12}), "cpu")}
    assert verdicts["integrated_gradients ÷ floor"] == "must met, aim missed by 12.0%"
    assert verdicts["thermostat_lime ÷ floor of all tokens"] == "must missed by 1.8%"
    assert verdicts["peak memory beyond the model, 8 long texts (worst: together)"] == "aim met"
    assert {verdict for verdict in verdicts.values() if "not measured" in verdict} == {
        "not measured: not run"
    }


def test_the_page_holds_every_case(tmp_path):
    (tmp_path / "pictures").mkdir()
    results = Results(tmp_path / "results.json", "cpu", fresh=True)
    for name, record in records({"pellucid": 1.1, "captum": 1.5, "lime": 1.2}).items():
        results.keep(name, record)
    results.keep("partition / shap / short / minilm, 1 thread", {"skipped": "no reason"})
    again = Results(tmp_path / "results.json", "cpu", fresh=False)
    assert again.has("gradient / captum / short / minilm, 1 thread")
    assert not again.has("partition / shap / short / minilm, 1 thread")
    page = write_page(again.contents, tmp_path).read_text(encoding="utf-8")
    assert len(re.findall(r"\*\*1\.50\*\* \| 1\.36 x", page)) == sum(
        case.by == "captum" for case in all_cases(2)
    )
    assert "- partition by shap: no reason" in page
    assert (tmp_path / "pictures" / "performance.png").stat().st_size > 10_000
