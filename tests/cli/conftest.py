"""The long commands on tiny models, and what they leave behind when nothing interrupts them: made once."""

import time

import pytest

from tests.cli.jobs import commands, finished


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    """The words of each long command, but for --out."""
    return commands(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="session")
def whole(jobs, tmp_path_factory):
    """For each long command the folder of an uninterrupted run, and how many seconds it took."""
    ends = {}
    for name, words in jobs.items():
        out, begun = tmp_path_factory.mktemp("whole") / name, time.monotonic()
        assert finished(words, out) == (0, f"Written: {out}\n" if name == "compare" else "")
        ends[name] = out, time.monotonic() - begun
    return ends
