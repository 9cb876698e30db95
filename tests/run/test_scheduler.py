"""The scheduler: packs within the budget, nothing computed twice, and work goes on when memory runs out."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pellucid.base.errors import BadSetting
from pellucid.base.processes import silent
from pellucid.run.batch import Row
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.scheduler import Scheduler, default_budget, is_memory_error
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import ask


def row(*ids):
    return Row(ids, (0,) * len(ids), tuple(range(len(ids))), ids, (0,) * len(ids))


def sums(rows):
    """A network for tests: the sum of a row's ids."""
    return torch.tensor([[float(sum(row.ids))] for row in rows])


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(1, 100))
def test_packs_hold_every_row_once_within_the_budget(lengths, tokens):
    packs = Scheduler(tokens).packs(lengths)
    assert sorted(index for pack in packs for index in pack) == list(range(len(lengths)))
    for pack in packs:
        assert len(pack) == 1 or len(pack) * max(lengths[index] for index in pack) <= tokens
    order = [lengths[index] for pack in packs for index in pack]
    assert order == sorted(order, reverse=True)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=7), st.integers(12, 60))
def test_no_other_cuts_are_cheaper(lengths, tokens):
    """Every way to cut the sorted rows, counted out."""
    sizes = sorted(lengths, reverse=True)

    def cost(cuts):
        packs = [sizes[start:end] for start, end in pairwise([0, *cuts, len(sizes)])]
        padded = [len(pack) * pack[0] for pack in packs]
        return max(padded) > tokens, sum(padded) + len(packs) * tokens / 12

    places = range(1, len(sizes))
    cheapest = min(cost(cuts) for count in range(len(sizes)) for cuts in combinations(places, count))
    own = Scheduler(tokens).packs(lengths)
    assert cost(np.cumsum([len(pack) for pack in own])[:-1]) == (False, pytest.approx(cheapest[1]))


def test_packs_of_hundreds_of_rows_cost_nearly_as_little(monkeypatch):
    lengths, tokens = np.random.default_rng(0).integers(3, 40, 6000).tolist(), 20_000

    def cost():
        packs = Scheduler(tokens).packs(lengths)
        return sum(len(pack) * lengths[pack[0]] for pack in packs) + len(packs) * tokens / 12

    nearly = cost()
    monkeypatch.setattr("pellucid.run.scheduler.FINE", tokens)
    assert cost() <= nearly <= 1.005 * cost()


def test_packs_are_filled():
    assert Scheduler(10).packs([5, 2, 5, 2, 2, 2, 11]) == [[6], [0, 2], [1, 3, 4, 5]]


def test_equal_lengths_keep_their_order():
    assert Scheduler(6).packs([3, 3, 3]) == [[0, 1], [2]]


def test_answers_come_in_the_order_of_the_rows():
    rows = [row(1), row(2, 3, 4), row(5, 6), row(7)]
    assert Scheduler(4).evaluate(rows, sums)[:, 0].tolist() == [1, 9, 11, 7]


def test_identical_rows_run_once():
    ran = []

    def counting(rows):
        ran.extend(rows)
        return sums(rows)

    scheduler = Scheduler(100)
    rows = [row(1, 2), row(3), row(1, 2), row(3), row(1, 2)]
    assert scheduler.evaluate(rows, counting)[:, 0].tolist() == [3, 3, 3, 3, 3]
    assert len(ran) == 2
    scheduler.evaluate([row(1, 2), row(9)], counting)
    assert len(ran) == 3
    assert (scheduler.rows_run, scheduler.tokens_run) == (3, 4)
    scheduler.forget()
    scheduler.evaluate([row(1, 2)], counting)
    assert len(ran) == 4


def test_what_is_remembered_is_bounded_and_answers_stay_right(monkeypatch):
    monkeypatch.setattr("pellucid.run.scheduler.REMEMBERED", 5)
    scheduler = Scheduler(100)
    for start in range(0, 40, 4):
        rows = [row(number) for number in (0, *range(start, start + 8), 0)]
        assert scheduler.evaluate(rows, sums)[:, 0].tolist() == [0, *range(start, start + 8), 0]
        assert len(scheduler.known) <= 5 + 9
    assert scheduler.rows_run < 10 * 9


def test_every_pack_begins_before_the_first_answer_is_fetched(monkeypatch):
    events = []

    def run(rows):
        events.append("begun")
        return sums(rows)

    fetch = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: events.append("fetched") or fetch(tensor))
    rows = [row(number, 1, 2) for number in range(6)]
    assert Scheduler(6).evaluate(rows, run)[:, 0].tolist() == [number + 3 for number in range(6)]
    assert events == ["begun"] * 3 + ["fetched"] * 3


def test_packs_before_a_failing_one_are_remembered():
    def run(rows):
        if rows[0].ids == (3, 1, 2):
            raise ValueError("broken")
        return sums(rows)

    scheduler = Scheduler(3)
    with pytest.raises(ValueError, match="broken"):
        scheduler.evaluate([row(number, 1, 2) for number in range(6)], run)
    assert (len(scheduler.known), scheduler.rows_run, scheduler.tokens_run) == (3, 3, 9)
    assert scheduler.evaluate([row(2, 1, 2)], limited(0))[:, 0].tolist() == [5]


def test_answers_of_several_questions_are_remembered_side_by_side():
    scheduler, rows = Scheduler(4), [row(number) for number in range(50)]
    scheduler.remember(rows[:20], torch.arange(20.0).bfloat16()[:, None])
    wide = scheduler.evaluate(rows, lambda pack: torch.cat([sums(pack), -sums(pack)], 1), b"wide")
    plain = scheduler.evaluate(rows[::-1], sums)
    assert (plain.dtype, plain[:, 0].tolist()) == (torch.float32, list(range(50))[::-1])
    assert wide.tolist() == [[number, -number] for number in range(50)]


def limited(most, error=torch.OutOfMemoryError("CUDA out of memory")):  # noqa: B008 - a constant
    """A network that holds only so many rows at once."""

    def run(rows):
        if len(rows) > most:
            raise error
        return sums(rows)

    return run


@pytest.mark.parametrize(
    "error",
    (
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 99 bytes."),
    ),
    ids=lambda error: type(error).__name__,
)
def test_memory_that_runs_out_halves_the_budget_and_the_work_goes_on(error):
    scheduler = Scheduler(8)
    rows = [row(number, 1) for number in range(9)]
    assert scheduler.evaluate(rows, limited(2, error))[:, 0].tolist() == [number + 1 for number in range(9)]
    assert scheduler.tokens < 8
    assert scheduler.rows_run == 9


def test_a_halved_budget_is_remembered():
    scheduler, sizes = Scheduler(8), []

    def run(rows):
        sizes.append(len(rows))
        return limited(4)(rows)

    scheduler.evaluate([row(number) for number in range(8)], run)
    scheduler.evaluate([row(number) for number in range(10, 18)], run)
    assert sizes == [8, 4, 4, 4, 4]


def test_a_single_row_that_does_not_fit_raises():
    with pytest.raises(torch.OutOfMemoryError):
        Scheduler(8).evaluate([row(1), row(2)], limited(0))


@pytest.mark.parametrize(
    "error", (RuntimeError("shapes do not match"), ValueError("out of memory"), KeyboardInterrupt())
)
def test_other_errors_pass_through(error):
    ran = []

    def run(rows):
        ran.append(1)
        raise error

    with pytest.raises(type(error)):
        Scheduler(8).evaluate([row(1), row(2)], run)
    assert len(ran) == 1


def test_only_memory_errors_are_memory_errors():
    assert is_memory_error(MemoryError())
    assert not is_memory_error(RuntimeError("size mismatch"))


def test_a_budget_below_one_raises():
    with pytest.raises(BadSetting, match="tokens=0"):
        Scheduler(0)


def test_a_processor_gets_a_small_budget():
    assert default_budget(torch.device("cpu")) == 640 * torch.get_num_threads()
    assert default_budget(torch.device("cuda")) > 10_000


@pytest.mark.parametrize("method", ("gradient", "occlusion", "attention", "chance"))
def test_explanations_survive_memory_that_runs_out(bert, texts, method):
    def small(_, __, kwargs):
        if kwargs["input_ids"].shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    expected = ask(bert, texts, method)
    handle = bert.network.register_forward_pre_hook(small, with_kwargs=True)
    try:
        scheduler = Scheduler(10_000)
        request = Request(bert, method_calls([method], bert), Target(), 0)
        explanations = explain_batch(request, bert.encode(as_examples(texts)), scheduler, silent)[method]
    finally:
        handle.remove()
    for one, other in zip(explanations, expected, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-5)
    assert scheduler.tokens < 10_000
