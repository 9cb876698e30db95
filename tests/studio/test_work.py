"""A desk: readers take turns, nobody waits for what nobody wants, and the number of waiting questions is bounded."""

import threading
import time
from functools import partial

import pytest

from pellucid.base.errors import BadInput
from pellucid.studio import work
from pellucid.studio.work import Desk, StillComputing


def submitted(desk, key, reader, function, **settings):
    try:
        return desk.answer(key, reader, function, patience=0, **settings)
    except StillComputing as computing:
        return computing.job


def test_readers_take_turns_and_equal_questions_are_computed_once():
    desk, begin, order = Desk("model"), threading.Event(), []
    submitted(desk, "first", "busy", lambda progress: begin.wait(10))
    jobs = [submitted(desk, index, "busy", lambda progress, index=index: order.append(index)) for index in range(5)]
    jobs.append(submitted(desk, "short", "patient", lambda progress: order.append("short")))
    assert submitted(desk, "short", "third", lambda progress: order.append("again")) is jobs[-1]
    begin.set()
    for job in jobs:
        assert job.finished.wait(10)
    assert order.index("short") <= 1 and "again" not in order


@pytest.mark.parametrize("reader", ("the same", "another"))
def test_a_short_question_goes_between_the_steps_of_a_long_one(monkeypatch, reader):
    monkeypatch.setattr(work, "SLICE", 0.0)
    desk, begun, order, threads = Desk("model"), threading.Event(), [], set()

    def long_work(progress):
        for step in range(1000):
            threads.add(threading.get_ident())
            begun.set()
            progress("explaining", step, 1000)
            time.sleep(0.001)
        order.append("long")

    long = submitted(desk, "long", "the same", long_work)
    assert begun.wait(10)
    desk.answer("short", reader, lambda progress: order.append("short"), patience=10)
    assert order == ["short"] and not long.finished.is_set()
    assert long.finished.wait(60) and order == ["short", "long"]
    assert len(threads) == 1, "hooks and torch's modes are of a thread"


def test_one_question_computes_at_a_time_and_few_have_begun(monkeypatch):
    monkeypatch.setattr(work, "SLICE", 0.0)
    desk, computing, begun, done = Desk("model"), [], set(), []

    def steps(progress, index):
        begun.add(index)
        for step in range(20):
            computing.append(index)
            time.sleep(0.001)
            assert computing == [index], "two compute at once"
            assert len(begun) - len(done) <= work.UNDER_WAY
            computing.clear()
            progress("explaining", step, 20)
        done.append(index)

    jobs = [submitted(desk, index, f"reader {index % 4}", partial(steps, index=index)) for index in range(12)]
    for job in jobs:
        assert job.finished.wait(60) and job.error is None
    assert sorted(done) == list(range(12)) and len(desk._threads) <= work.UNDER_WAY


def test_a_reader_stops_what_is_computed_for_it_and_can_ask_again():
    desk, begun = Desk("model"), threading.Event()

    def endless(progress):
        begun.set()
        while True:
            time.sleep(0.01)
            progress("explaining", 1, 2)

    job = submitted(desk, "long", "a", endless)
    assert begun.wait(10)
    desk.stop(job.key, "another")
    assert not job.finished.wait(0.1)
    desk.stop(job.key, "a")
    assert desk.answer("long", "a", lambda progress: "anew", patience=10) == "anew"
    assert type(job.error) is work.ReaderLeft


def test_what_nobody_waits_for_is_dropped(monkeypatch):
    monkeypatch.setattr(work, "LEFT", 0.05)
    desk, begin, done = Desk("model"), threading.Event(), []

    def long_work(progress):
        begin.wait(10)
        time.sleep(0.1)
        progress("explaining", 1, 2)
        done.append("long")

    running = submitted(desk, "long", "a", long_work)
    waiting = submitted(desk, "waiting", "b", lambda progress: done.append("waiting"))
    wanted = submitted(desk, "kept", "c", lambda progress: done.append("kept"), is_lasting=True)
    begin.set()
    assert wanted.finished.wait(10)
    assert done == ["kept"] and all(type(job.error) is work.ReaderLeft for job in (running, waiting))
    assert desk.answer("waiting", "b", lambda progress: "anew", patience=10) == "anew"


def test_too_many_questions_are_refused_and_an_error_is_not_remembered(monkeypatch):
    monkeypatch.setattr(work, "WAITING", 2)
    desk, begin = Desk("model"), threading.Event()
    submitted(desk, "first", "a", lambda progress: begin.wait(10))
    while desk._jobs["first"].stage != "computing":
        time.sleep(0.01)
    waiting = [submitted(desk, index, "a", lambda progress: 1 / 0) for index in range(2)]
    with pytest.raises(BadInput, match="2 questions wait"):
        submitted(desk, "more", "b", lambda progress: None)
    begin.set()
    assert all(job.finished.wait(10) for job in waiting)
    with pytest.raises(ZeroDivisionError):
        desk.answer(0, "a", lambda progress: None, patience=10)
    assert desk.answer(0, "a", lambda progress: "works", patience=10) == "works"


def test_answers_are_remembered_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(work, "REMEMBERED", 3)
    desk = Desk("model")
    for index in range(10):
        desk.answer(index, "a", lambda progress, index=index: index, patience=10)
    assert len(desk._jobs) <= 4 and desk.known(9) == 9 and desk.known(0) is None
    monkeypatch.setattr(work, "REMEMBERED", 100)
    monkeypatch.setattr(work, "CHARACTERS", 1_000)
    for index in range(10):
        desk.answer(f"{index} " * 200, "a", lambda progress, index=index: index, patience=10)
    assert len(desk._jobs) <= 3 and desk.known("9 " * 200) == 9


def test_a_closed_desk_ends_at_the_next_report_and_begins_nothing_more():
    desk, begun, done = Desk("model"), threading.Event(), []

    def long_work(progress):
        begun.set()
        while True:
            time.sleep(0.01)
            progress("explaining", 1, 2)

    submitted(desk, "long", "a", long_work, is_lasting=True)
    submitted(desk, "waiting", "a", lambda progress: done.append("waiting"))
    assert begun.wait(10)
    desk.close()
    assert work.ended(10) and not done
