"""A command that is killed, interrupted or ended goes on when it is run again, and ends with the same bytes."""

import random
import shutil
import signal

import pytest

from tests.cli.jobs import FIRST_FILE, finished, killed_after, killed_writing, signalled, started_anew
from tests.shared.moments import files_of

WRITES = {  # files that a run writes
    "train": 16,
    "compare": 11,
    "lens": 7,
    "layers": 14,
    "attention": 7,
    "attack": 6,
    "extract": 8,
    "imitation": 18,
    "masked_words": 16,
}
OBJECTIVES = {"imitation", "masked_words"}  # trainings too: in the suite the plain one stands for them


@pytest.mark.whole
@pytest.mark.parametrize("name", sorted(WRITES.keys() - OBJECTIVES))
def test_killed_while_it_writes_it_ends_with_the_same_bytes(jobs, whole, tmp_path, name):
    """After some work is kept; the twenty moments below, random ones among them, are for a longer run."""
    ended, _ = whole[name]
    out = tmp_path / "out"
    killed_writing(jobs[name], out, 3)
    assert finished(jobs[name], out)[0] == 0
    assert files_of(out) == files_of(ended)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted(WRITES))
def test_killed_at_twenty_random_moments_it_ends_with_the_same_bytes(jobs, whole, tmp_path, name):
    """Four moments of its start, ten or more of its work, and six of its writes, or all where it has fewer."""
    ended, seconds = whole[name]
    draw = random.Random(name)
    shares = [*((number + draw.random()) / 8 for number in range(4))]  # about half of its life is its start
    writes = draw.sample(range(WRITES[name]), min(6, WRITES[name]))
    n_working = 16 - len(writes)
    shares += [0.5 + (number + draw.random()) / (2 * n_working) for number in range(n_working)]
    times = [(killed_after, share * seconds) for share in shares]
    for number, (killed, moment) in enumerate([*times, *((killed_writing, write) for write in writes)]):
        out = tmp_path / str(number)
        while not killed(jobs[name], out, moment):  # it had ended: a little earlier, then
            shutil.rmtree(out)
            moment = moment * 0.8 if killed is killed_after else moment - 1
        assert finished(jobs[name], out)[0] == 0
        assert files_of(out) == files_of(ended), f"{killed.__name__} {moment}"


@pytest.mark.whole
def test_a_command_heeds_interruptions_also_where_the_suite_ignores_them(tmp_path):
    """As when the suite was started with nohup, or in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = started_anew(["methods"], tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode not in (0, 2)  # at its end


@pytest.mark.whole
@pytest.mark.parametrize(("name", "number"), (("train", signal.SIGTERM), ("compare", signal.SIGINT)))
def test_interrupted_it_says_that_the_same_command_goes_on_and_it_does(jobs, whole, tmp_path, name, number):
    out = tmp_path / "out"
    status, err = signalled(jobs[name], out, file=FIRST_FILE[name], number=number)
    assert status == 130
    before = (" done, about ", "Advice takes 100 texts")  # progress, on a slow machine, and what few texts can say
    notices = [line for line in err.splitlines() if not any(part in line for part in before)]
    assert len(notices) == 1 and notices[0].startswith("Interrupted; run the same command again")
    assert finished(jobs[name], out)[0] == 0
    assert files_of(out) == files_of(whole[name][0])
