"""What the span layer's benchmark says follows from what it measured; nothing here measures time."""

import pytest
import torch

from benchmarks.span.cases import ALLOCATORS, TARGETED, all_cases, literal_gigabytes
from benchmarks.span.floor import core_floor, floors, layer_floor
from benchmarks.span.layer import inputs_of, step
from benchmarks.span.page import write_page
from benchmarks.span.targets import RATIOS, lines, named

MACHINE = {"processor": "a processor", "cores": 1, "device": "cpu", "load_before": 0.0}
FLOOR = {"tanh": 0.1, "multiply_add": 0.01, "product": 0.02}


def records(times):
    """The same times and sizes for every shape that a target names."""
    records = {"floor": FLOOR}
    for shape in TARGETED:
        for allocator in ALLOCATORS:
            records[f"times {named(shape)} {allocator}"] = times
        records[f"core {named(shape)}"] = {"numba": 1.0, "tiles": 2.0}
        for route in times:
            records[f"memory {named(shape)} {route}"] = {route: times[route]}
    return records


@pytest.mark.parametrize("route", ["tiles", "numba"])
def test_both_sides_compute_the_same_layer(route):
    if route != "tiles":
        pytest.importorskip(route)
    inputs = inputs_of((12, 2, 7))
    ours, literal = step(route, inputs), step("literal", inputs)
    del literal[9]  # the gradient of a bias that is added and then removed
    for value, expected in zip(ours, literal, strict=True):
        torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)


def test_names_are_all_different_and_the_literal_side_keeps_to_its_memory():
    cases = all_cases("cpu", most_gigabytes=1)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        if "literal" in case.request.get("routes", ()):
            assert literal_gigabytes(case.request["shape"]) < 1


def test_verdicts_follow_the_times(tmp_path):
    fast = {"numba": 1.0, "tiles": 3.0, "literal": 500.0}
    verdicts = {line.what: line.verdict for line in lines(records(fast), "cpu")}
    assert len(verdicts) >= 2 * len(RATIOS)
    times = [verdict for what, verdict in verdicts.items() if "literal / numba, time" in what]
    assert "must missed" not in times and "aim met" in times
    slow = {"numba": 400.0, "tiles": 450.0, "literal": 500.0}
    missed = [line for line in lines(records(slow), "cpu") if line.verdict == "must missed"]
    assert len([line for line in missed if "allocator" in line.what]) == 2 * len(RATIOS)


def test_the_floor_adds_up():
    assert core_floor(FLOOR) == pytest.approx(2 * 0.1 + 12 * 0.01)
    spans, products = 2 * 3 * 4 / 2 * 5, 9 * 2 * 3 * 5**2
    assert layer_floor(FLOOR, (5, 2, 3)) == pytest.approx(1e-6 * (spans * 0.32 + products * 0.02))


def test_the_floor_is_measured_by_the_loops_that_the_layer_has():
    pytest.importorskip("numba")
    assert all(nanoseconds > 0 for nanoseconds in floors().values())


def test_the_page_shows_what_was_measured(tmp_path):
    results = {
        "made_on": MACHINE,
        "versions": {"python": "3", "torch": "2"},
        "records": records({"numba": 1.0, "tiles": 3.0, "literal": 40.0}) | {"memory 1,1,1 tiles": {"failed": "no"}},
    }
    page = write_page(results, tmp_path).read_text(encoding="utf-8")
    assert "| (384, 8, 32) | default | 1.0 | 3.0 | 40.0 | 40.0 | 13.3 | 1 | 3 | 40 |" in page
    assert "must missed" in page and "(span-layer-cuda.md)" in page
    assert "a processor, 1 core, cpu" in page and "**Must** is the least" in page
    _, missed = page.split("What is missed, and why:\n\n")
    reasons = [line.rpartition("**. ")[2] for line in missed.split("\n\n")[0].splitlines()]
    assert reasons and len(set(reasons)) == len(reasons)
