"""What long work will cost is said once its pace is known, then a line a minute; short work says nothing."""

import io
import sys

import numpy as np
import pytest

from pellucid.drawing import terminal as pace
from pellucid.drawing.terminal import Pace, duration, progress_bar
from pellucid.run.explaining import run_packs
from pellucid.run.scheduler import Scheduler


def sentences(events, stage="explaining"):
    """What is said at each (second, done, total)."""
    now = [0.0]
    watched, lines = Pace(lambda: now[0]), []
    for second, done, total in events:
        now[0] = second
        if sentence := watched.sentence(stage, done, total):
            lines.append((second, sentence))
    return lines


def test_work_of_more_than_a_minute_says_so_after_ten_seconds_and_then_every_minute():
    events = [(5 * done, done, 40) for done in range(1, 41)]  # five seconds each: 200 seconds
    assert sentences(events) == [
        (15, "explaining: 3 of 40 done, about 3 minutes left"),
        (75, "explaining: 15 of 40 done, about 2 minutes left"),
        (135, "explaining: 27 of 40 done, about 1 minute left"),
        (195, "explaining: 39 of 40 done, about 10 seconds left"),
    ]


def estimates(lengths, exponent, slowed):
    """[(second, seconds said to be left)] of texts of these lengths, in packs of our scheduler, and when all ended.

    A pack takes a start and what its pieces, or their squares, take; the first three seconds more. slowed: after so many
    seconds another program takes half of the processor.
    """
    work = {index: int(length) ** exponent for index, length in enumerate(lengths)}
    clock, estimated = [0.0], []
    watched, scale = Pace(lambda: clock[0]), 100 / sum(work.values())

    def run(pack):
        seconds = 0.02 + scale * sum(work[index] for index in pack) + (0.0 if clock[0] else 3.0)
        clock[0] += seconds * (1 if clock[0] < slowed else 2)

    def report(stage, done, count):
        watched.sentence(stage, done, count)
        estimated.append((clock[0], watched.left))

    run_packs(Scheduler(1280).packs(lengths), run, Scheduler(1280), report, work)
    return [(second, left) for second, left in estimated if left is not None], clock[0]


@pytest.mark.parametrize("exponent", [1, 2], ids=["gradient", "occlusion"])
@pytest.mark.parametrize("seed", range(8))
def test_after_ten_seconds_estimates_of_uneven_texts_are_within_a_factor_of_two(exponent, seed):
    lengths = np.random.default_rng(seed).lognormal(3, 0.9, 600).clip(4, 400).astype(int)
    estimated, end = estimates(lengths, exponent, slowed=1000)
    assert 10 <= estimated[0][0] < 40  # a pack of long texts takes seconds
    assert all((end - second) / 2 - 2 <= left <= 2 * (end - second) + 2 for second, left in estimated)


def test_a_machine_that_becomes_slow_changes_the_estimate():
    """From 50 seconds on all takes twice as long: 20 seconds later that is known, and not only at the end."""
    lengths = np.random.default_rng(0).lognormal(3, 0.9, 600).clip(4, 400).astype(int)
    estimated, end = estimates(lengths, 1, slowed=50)
    ratios = [left / (end - second) for second, left in estimated if 80 <= second < end - 5]
    assert ratios and all(0.8 < ratio < 1.25 for ratio in ratios)


def test_work_of_a_minute_says_nothing():
    assert sentences([(5 * done, done, 12) for done in range(1, 13)]) == []


def test_what_was_finished_before_does_not_count_as_quick():
    events = [(0.1, 80, 100), (10.1, 82, 100), (20.1, 84, 100)]
    assert sentences(events) == [(20.1, "explaining: 84 of 100 done, about 1 minute left")]  # 80 seconds


def test_a_first_batch_that_warms_up_does_not_count():
    """Ten seconds of imports and checks, then half a second a text: 200 texts take 110 seconds, and not 2,000."""
    events = [(10 + done / 2, done, 200) for done in range(1, 201)]
    assert sentences(events)[0] == (20.5, "explaining: 21 of 200 done, about 1 minute left")  # 89.5 seconds


def test_a_long_first_batch_counts():
    """Of parts that take minutes, the first one says what all take."""
    assert sentences([(60, 16, 160)]) == [(60, "explaining: 16 of 160 done, about 9 minutes left")]


def test_the_first_moments_are_no_trial():
    assert sentences([(1.5, 1, 1000), (1.9, 2, 1000)]) == []


def test_each_stage_has_its_own_pace():
    now = [0.0]
    watched = Pace(lambda: now[0])
    for second in range(1, 11):
        now[0] = float(second)
        assert watched.sentence("quick", second, 10) is None
    now[0] = 20.0
    assert watched.sentence("slow", 1, 10) is None
    now[0] = 30.0
    assert watched.sentence("slow", 2, 10) == "slow: 2 of 10 done, about 1 minute left"


@pytest.mark.parametrize(
    "seconds, words",
    ((0.2, "10 seconds"), (44, "40 seconds"), (61, "1 minute"), (600, "10 minutes"), (9000, "2.5 hours")),
)
def test_durations_read_as_people_say_them(seconds, words):
    assert duration(seconds) == words


@pytest.fixture
def clock(monkeypatch):
    """Seconds that the test sets."""
    now = [0.0]
    monkeypatch.setattr(pace.Pace.__init__, "__defaults__", (lambda: now[0],))
    return now


def report_slowly(report, clock):
    for done in range(1, 4):
        clock[0] += 50.0
        report("com\x1bparing", done, 4)


def test_a_log_gets_a_line_a_minute(clock, capsys):
    with progress_bar() as report:
        report_slowly(report, clock)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "com␛paring: 1 of 4 done, about 2 minutes left",
        "com␛paring: 3 of 4 done, about 50 seconds left",
    ]


def test_who_wants_silence_gets_it(clock, capsys):
    with progress_bar(False) as report:
        report_slowly(report, clock)
    assert capsys.readouterr().err == ""


def test_in_a_terminal_the_cost_stands_once_above_the_bar(clock, monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar() as report:
        report_slowly(report, clock)
    assert screen.getvalue().count("minutes left") == 1
    assert "com␛paring: 1 of 4 done, about 2 minutes left" in screen.getvalue()
