"""The plain loops equal the lanes to float32 rounding, and stand in where those cannot be compiled."""

import pytest
import torch

from pellucid.models.span_kernel import numba_route
from pellucid.models.span_kernel.packs import latest_starts
from tests.models.span_kernel.test_span_kernel import CONTENT, SEGMENTS
from tests.models.span_kernel.test_span_routes import inputs_of, results_of

pytest.importorskip("numba")
from pellucid.models.span_kernel import numba_loops, numba_plain


def results_with(loops, monkeypatch, **settings):
    monkeypatch.setattr(numba_route, "compiled_loops", lambda: loops)
    return results_of(inputs_of(SEGMENTS, 24), SEGMENTS, "numba", **settings)


@pytest.mark.parametrize(
    "settings", ({}, {"max_width": 2}, {"latest": latest_starts(CONTENT)}), ids=("all", "width", "content")
)
def test_plain_loops_equal_the_lanes(settings, monkeypatch):
    plain = results_with(numba_plain, monkeypatch, **settings)
    lanes = results_with(numba_loops, monkeypatch, **settings)
    for one, other in zip(plain, lanes, strict=True):
        size = other[other.isfinite()].abs().max().clamp_min(1e-6)
        torch.testing.assert_close(one / size, other / size, rtol=0, atol=2e-6)


def test_the_lanes_run_where_they_compile():
    assert numba_route.compiled_loops() is numba_loops


def test_the_plain_loops_run_where_the_lanes_do_not_compile(monkeypatch):
    def fail():
        raise NotImplementedError("no such instruction")

    monkeypatch.setattr(numba_loops, "try_lanes", fail)
    numba_route.compiled_loops.cache_clear()
    try:
        assert numba_route.compiled_loops() is numba_plain
    finally:
        numba_route.compiled_loops.cache_clear()


def test_the_width_is_filled_up_to_whole_lanes():
    assert numba_route.NUMBERS == numba_loops.LANES
