"""What the benchmark of attributions says is computed rightly from what it measured; nothing here measures time."""

import re
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from benchmarks.attribution import measuring
from benchmarks.attribution.cases import BY_ROUTE, all_cases, cuda_cases
from benchmarks.attribution.counting import counting
from benchmarks.attribution.definition import Definition
from benchmarks.attribution.floor import Way
from benchmarks.attribution.operations import operations_per_token
from benchmarks.attribution.page import write_page
from benchmarks.attribution.reading import Missing
from benchmarks.attribution.reasons import why
from benchmarks.attribution.results import Results, machine_words
from benchmarks.attribution.table import floors, shares, table
from benchmarks.attribution.targets import PLACE, lines, route_lines, verdicts
from benchmarks.attribution.workload import sample, texts_of
from benchmarks.attributions import Run
from benchmarks.corpus_jobs import timed
from pellucid.models.routing import linear_product
from tests.shared.asking import ask

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
COUNTS = ("sequences", "tokens_forward", "tokens_backward", "forward_share", "backward_share")
UNCOUNTED = {key: value for key, value in RECORD.items() if key not in COUNTS}
ROUTE = {f"route / {PLACE}": {"name": "openvino", "why": "it was twice as fast"}}
BEST = {"way": {"tokens": 256, "repeated": False}, "tokens_per_second": 2000.0}
FLOOR = {
    f"floor / short / {PLACE}": {
        "forward": BEST,
        "both": BEST | {"tokens_per_second": 1500.0},
        "operations_per_token": {"forward": 2e7, "both": 4e7},
    }
}


def records(ratios):
    """One record for each case, with the ratio of its library."""
    return {
        case.name: (UNCOUNTED if case.by == BY_ROUTE else RECORD) | {"ratio": ratios[case.by]}
        for case in all_cases(2)
        if case.by in ratios
    }


def requests_of(route, monkeypatch):
    """What a run of one case and its twin would measure, where that route is the best."""
    requests, run = {}, Run(None, "cpu", quick=True)

    def one(name, module, request):
        requests[name] = request
        return {"name": route, "why": "so it is"} if name.startswith("route / ") else {"both": BEST}

    monkeypatch.setattr(run, "one", one)
    monkeypatch.setattr("benchmarks.attributions.folder_of", lambda *_: "folder")
    for case in all_cases(2):
        if case.method == "gradient" and case.by.startswith("pellucid") and case.texts == "long":
            run.case(case)
    return requests


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


def test_our_cases_have_a_twin_by_route_on_a_processor():
    cases = all_cases(2)
    twins = [(one, other) for one, other in pairwise(cases) if other.by == BY_ROUTE]
    assert len(twins) == sum(case.by == "pellucid" for case in cases) > 20
    assert all(replace(twin, by="pellucid") == own for own, twin in twins)
    assert len({case.name for case in cases}) == len(cases)
    assert not any(case.by == BY_ROUTE for case in cuda_cases())


def test_a_twin_is_timed_by_the_best_route_where_that_is_not_eager(monkeypatch):
    requests = requests_of("openvino", monkeypatch)
    own, twin = (f"gradient / {by} / long / {PLACE}" for by in ("pellucid", BY_ROUTE))
    assert list(requests) == [
        "peak / 1 thread",
        f"floor / long / {PLACE}",
        own,
        f"route / {PLACE}",
        twin,
    ]
    assert (requests[own]["route"], requests[twin]["route"]) == ("eager", "openvino")
    assert twin not in requests_of("eager", monkeypatch)


@pytest.mark.parametrize("in_use", ["onednn", "eager"])
def test_a_route_that_is_not_used_is_no_measurement(monkeypatch, bert, in_use):
    case = next(case for case in all_cases(1) if case.by == BY_ROUTE)
    model = SimpleNamespace(
        network=bert.network,
        tokenizer=bert.tokenizer,
        route_in_use=in_use,
        route_choice=SimpleNamespace(why="it is missing"),
    )
    loaded = {}
    monkeypatch.setattr(measuring.pellucid, "load", lambda folder, **settings: loaded.update(settings) or model)
    task = measuring.Task(case, Way(64, False), 1.0, 1.0, "folder", "cpu", route="onednn")
    if in_use == "onednn":
        assert measuring.runner(task)[0] is bert.network
    else:
        with pytest.raises(Missing, match="onednn is not used: it is missing"):
            measuring.runner(task)
    assert loaded["route"] == "onednn"


@pytest.mark.parametrize("by", ["pellucid", BY_ROUTE])
def test_a_network_is_not_watched_while_a_route_is_timed(monkeypatch, bert, by):
    case = next(case for case in all_cases(1) if case.by == by and case.method == "gradient")
    hooks = []
    run = lambda texts: hooks.append(len(bert.network._forward_hooks))  # noqa: E731
    monkeypatch.setattr(measuring, "runner", lambda task: (bert.network, bert.tokenizer, run))
    monkeypatch.setattr(measuring, "throughput", lambda *_: 1000.0)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)
    record = measuring.measured(measuring.Task(case, Way(64, False), 1e3, 1e-3, "folder", "cpu"))
    assert max(hooks) == (by == "pellucid")
    assert {key for key in COUNTS if key in record} == (set() if by == BY_ROUTE else set(COUNTS))
    assert record["ratio"] > 0


def test_verdicts_say_what_is_met_and_by_how_much_not():
    verdicts = {line.what: line.verdict for line in lines(records({"pellucid": 1.12}), "cpu")}
    assert verdicts["integrated_gradients ÷ floor"] == "must met, aim missed by 12.0%"
    assert verdicts["thermostat_lime ÷ floor of all tokens"] == "must missed by 1.8%"
    assert verdicts["peak memory beyond the model, 8 long texts (worst: together)"] == "aim met"
    assert {verdict for verdict in verdicts.values() if "not measured" in verdict} == {"not measured: not run"}


def test_verdicts_by_the_best_route_are_a_table_of_their_own():
    ratios = {"pellucid": 1.12, BY_ROUTE: 0.7, "captum": 2.24}
    measured = records(ratios)
    assert not route_lines(measured)
    by_eager = route_lines(measured | {f"route / {PLACE}": {"name": "eager", "why": "nothing is faster"}})
    assert by_eager[0].value == 1.12
    by_what = {line.what.removeprefix("by route: "): line for line in route_lines(measured | ROUTE)}
    assert by_what["gradient ÷ floor"].verdict == "must met, aim missed by 7.7%"
    assert by_what["occlusion ÷ floor"].verdict == "must missed by 16.7%"
    assert by_what["integrated_gradients ÷ floor"].verdict == "must met, aim missed by 7.7%"
    assert by_what["lime, absent tokens ÷ floor of all tokens"].verdict == "must missed by 112.1%"
    least = [line for what, line in by_what.items() if what.startswith("captum's time ÷ ours")]
    assert [line.value for line in least] == [pytest.approx(3.2)] * 3
    assert [(line.must, line.aim) for line in least] == [(3, 4), (1.4, 1.6), (6, 8)]
    assert [line.verdict.split(",")[0] for line in least] == ["must met", "aim met", "must missed by 46.7%"]
    assert len(verdicts(measured | ROUTE, "cpu")) == len(lines(measured, "cpu")) + len(by_what)
    assert verdicts(measured | ROUTE, "cuda") == verdicts(measured, "cuda")


def test_the_worst_texts_and_the_least_gain_count_by_route():
    measured = records({BY_ROUTE: 0.2, "captum": 2.0}) | ROUTE
    for name, ratio in (("occlusion / {} / long", 0.5), ("kernel_shap / {} / short", 0.25)):
        measured[f"{name.format(BY_ROUTE)} / {PLACE}"]["ratio"] = ratio
    values = {line.what: line.value for line in route_lines(measured)}
    assert values["by route: occlusion ÷ floor"] == 0.5
    games = "by route: captum's time ÷ ours, short texts (least of kernel_shap, shapley_sampling, lime: kernel_shap)"
    assert values[games] == pytest.approx(8)


def test_a_reason_by_route_has_its_own_numbers():
    measured = records({"pellucid": 1.5, BY_ROUTE: 0.9})
    own, by_route = (why(f"{begins}occlusion ÷ floor", measured) for begins in ("", "by route: "))
    assert "1.50 x: 1.00 x the tokens, 10% outside the network; meanwhile" in own
    assert "0.90 x; meanwhile the floor itself moved between 1,700 and 1,800" in by_route


def test_a_table_shows_both_of_ours_and_what_each_gains():
    of = lambda ratios: table(records(ratios), "short", PLACE).splitlines()  # noqa: E731
    head, _, *rows = of({"pellucid": 1.2, BY_ROUTE: 0.6, "captum": 1.8})
    assert head.endswith("| ours is faster by | by route, faster by |")
    assert "| gradient | **pellucid** | ~20.0 | 100 | 5 k | 5 k | 100 | **1.20** |  |  |" in rows
    assert "| gradient | **pellucid by route** | ~20.0 | – | – | – | 100 | **0.60** |  |  |" in rows
    assert "| gradient | captum | ~20.0 | 100 | 5 k | 5 k | 100 | **1.80** | 1.50 x | 3.00 x |" in rows
    head, _, *rows = of({"pellucid": 1.2, "captum": 1.8})
    assert head.endswith("| ÷ floor | ours is faster by |")
    assert "| gradient | captum | ~20.0 | 100 | 5 k | 5 k | 100 | **1.80** | 1.50 x |" in rows
    only_by_route = records({BY_ROUTE: 0.6})
    assert shares(only_by_route).count("\n") == 1


def test_the_floor_is_a_share_of_the_faster_product():
    speeds = {"peak / 1 thread": {"gflops": {"torch": 80.0, "onednn": 100.0}}}
    forward, both = floors(FLOOR | speeds).splitlines()[2:4]
    assert forward.endswith("| 2,000 | - | 40 | 40% |")
    assert both.endswith("| 1,500 | - | 60 | 60% |")
    assert "1 thread: 80 GFLOP/s by PyTorch, 100 GFLOP/s by oneDNN" in floors(FLOOR | speeds)
    assert floors(FLOOR).splitlines()[2].endswith("| 40 | – |")
    assert " | - | 40 | " in floors(FLOOR | records({BY_ROUTE: 1.0}))
    assert " | 1,700 to 1,800 | 60 | " in floors(FLOOR | records({"pellucid": 1.0}))
    earlier = {name: {"forward": BEST, "both": BEST} for name in FLOOR}
    assert floors(earlier | speeds).splitlines()[0].endswith("| between the cases |")
    assert "GFLOP/s" not in floors(earlier | speeds)


def test_operations_are_those_of_the_blocks(bert):
    network, length = bert.network, 7
    seen = []
    hooks = [
        each.register_forward_hook(lambda module, args, _: seen.append(args[0].shape[1] * module.weight.numel()))
        for each in network.base_model.encoder.modules()
        if isinstance(each, torch.nn.Linear)
    ]
    network(input_ids=torch.full((1, length), 5))
    for hook in hooks:
        hook.remove()
    width, layers = network.config.hidden_size, network.config.num_hidden_layers
    attention = layers * 2 * (2 * length * length * width)  # scores, and the mixing of values
    operations = operations_per_token(network, length)
    assert operations["forward"] == pytest.approx((2 * sum(seen) + attention) / length)
    assert operations["both"] == 2 * operations["forward"]


def test_the_peak_is_that_of_the_fastest_repetition(monkeypatch):
    clock = iter([0.0, 0.5, 1.0, 1.1, 2.0, 2.4])
    monkeypatch.setattr(linear_product, "REPETITIONS", 3)
    monkeypatch.setattr(linear_product.time, "perf_counter", lambda: next(clock))
    assert linear_product.best_of(linear_product._by_torch, 8) == pytest.approx(2 * 8**3 / 0.1 / 1e9)


@pytest.mark.parametrize("lacks, ways", [("", {"torch", "onednn"}), ("it is missing", {"torch"})])
def test_a_product_that_is_missing_has_no_peak(monkeypatch, lacks, ways):
    monkeypatch.setattr(linear_product, "LARGE", 8)
    monkeypatch.setattr(linear_product, "lacks_product", lambda: lacks)
    monkeypatch.setattr(linear_product, "_by_onednn", linear_product._by_torch)
    assert set(linear_product.peaks()) == ways


def test_a_machine_is_named_with_its_processor_and_peaks():
    machine = {"processor": "AMD EPYC (family 25, model 1, avx2)"}
    assert machine_words(machine) == machine["processor"]
    assert "with 47 GFLOP/s by PyTorch and 45 GFLOP/s by oneDNN" in machine_words(
        machine | {"peaks": {"torch": 46.9, "onednn": 44.6}}
    )


def test_the_page_names_the_route_of_every_place(tmp_path):
    (tmp_path / "pictures").mkdir()
    results = Results(tmp_path / "results.json", "cpu", fresh=True)
    measured = records({"pellucid": 1.1, BY_ROUTE: 0.8, "captum": 1.5})
    for name, record in {**measured, **ROUTE, **FLOOR}.items():
        results.keep(name, record)
    page = write_page(results.contents, tmp_path).read_text(encoding="utf-8")
    section = page.split("### By the best route")[1].split("\n## ")[0]
    assert f"- {PLACE}: **openvino** (it was twice as fast)" in section
    assert "| by route: gradient ÷ floor | **0.80 x** | 0.85 | 0.65 | must met, aim missed by 23.1% |" in section
    assert "- **by route: occlusion ÷ floor.** On the short texts 0.80 x; meanwhile" in section
    del results.records[f"route / {PLACE}"]
    assert "By the best route" not in write_page(results.contents, tmp_path).read_text(encoding="utf-8")


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
    assert len(re.findall(r"\*\*1\.50\*\* \| 1\.36 x", page)) == sum(case.by == "captum" for case in all_cases(2))
    assert "- partition by shap: no reason" in page
    assert (tmp_path / "pictures" / "performance.png").stat().st_size > 10_000


def test_memory_is_that_of_a_command_and_not_of_what_starts_it():
    at_once = [[sys.executable, "-c", f"print(len(bytearray({size})))"] for size in (1, 200_000_000)]
    assert timed(at_once[:1])["megabytes"] < 60  # this process has several hundred
    record = timed(at_once)
    assert 190 < record["megabytes"] < 260
    assert record["output"] == "1"
