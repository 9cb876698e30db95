"""A command that is killed, interrupted or ended goes on when it is run again, and ends with the same bytes."""

import random
import signal
import time

import pytest

from tests.cli.jobs import commands, finished, killed_after, killed_writing, signalled
from tests.moments import files_of

KEPT = {"train": "checkpoint.safetensors", "compare": "parts/0000.json"}
WRITES = {"train": 11, "compare": 9}  # files that a run is sure to write: one is enough to be hit


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    return commands(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def whole(jobs, tmp_path_factory):
    """What uninterrupted runs leave behind, and how many seconds they take."""
    ends = {}
    for name, words in jobs.items():
        out, begun = tmp_path_factory.mktemp("whole") / name, time.monotonic()
        assert finished(words, out) == (0, f"Written: {out}\n" if name == "compare" else "")
        ends[name] = files_of(out), time.monotonic() - begun
    return ends


@pytest.mark.whole
@pytest.mark.parametrize("name", ("train", "compare"))
def test_killed_three_times_it_ends_with_the_same_bytes(jobs, whole, tmp_path, name):
    """Each time it has come further: at the start, at work, while it writes."""
    bytes_of, seconds = whole[name]
    out, draw = tmp_path / "out", random.Random(name)
    killed_after(jobs[name], out, seconds * draw.uniform(0.1, 0.6))
    killed_after(jobs[name], out, seconds * draw.uniform(0.7, 0.9))
    killed_writing(jobs[name], out, 1)
    assert finished(jobs[name], out)[0] == 0
    assert files_of(out) == bytes_of


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ("train", "compare"))
def test_killed_at_twenty_random_moments_it_ends_with_the_same_bytes(jobs, whole, tmp_path, name):
    """Fourteen moments of its whole life, and six of its writes."""
    bytes_of, seconds = whole[name]
    draw = random.Random(name)
    moments = [(number + draw.random()) / 14 * seconds for number in range(14)]
    writes = draw.sample(range(WRITES[name]), 6)
    kills = 0
    for number, (killed, moment) in enumerate(
        [*((killed_after, moment) for moment in moments), *((killed_writing, moment) for moment in writes)]
    ):
        out = tmp_path / str(number)
        kills += killed(jobs[name], out, moment)
        assert finished(jobs[name], out)[0] == 0
        assert files_of(out) == bytes_of, f"{killed.__name__} {moment}"
    assert kills >= 15  # the last moments may come too late where the machine is quicker than before


@pytest.mark.whole
@pytest.mark.parametrize(("name", "number"), (("train", signal.SIGTERM), ("compare", signal.SIGINT)))
def test_interrupted_it_says_that_the_same_command_goes_on_and_it_does(jobs, whole, tmp_path, name, number):
    out = tmp_path / "out"
    status, said = signalled(jobs[name], out, KEPT[name], number)
    assert status == 130
    assert said.startswith("Interrupted; run the same command again") and said.count("\n") == 1
    assert finished(jobs[name], out)[0] == 0
    assert files_of(out) == whole[name][0]
