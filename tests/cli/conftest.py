"""A command run in this process; and the long commands on tiny models, with the results of runs without interruption."""

import io
import re
import sys
import time

import pytest

from pellucid.cli.app import main
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
        status, err = finished(words, out)
        assert (status, err == "") == (0, name == "train"), err
        assert name == "train" or re.search(f"Written: {re.escape(str(out))}", err), err
        ends[name] = out, time.monotonic() - begun
    return ends


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process: (exit status, standard output, standard error)."""

    def command(*words, stdin=None):
        monkeypatch.setattr(sys, "argv", ["pellucid", *map(str, words)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return ended.value.code or 0, output.out, output.err

    return command
