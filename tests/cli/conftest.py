"""A command run in this process; and the long commands on tiny models, with the results of runs without
interruption.
"""

import io
import re
import sys
import time

import pytest

from pellucid.cli import main
from tests.cli.jobs import commands, finished


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    """The words of each long command, but for --out."""
    return commands(tmp_path_factory.mktemp("jobs"))


class WholeRuns(dict):
    """Each long command's name -> the folder of an uninterrupted run, and how many seconds it took; run when it is
    first read.
    """

    def __init__(self, jobs, folder):
        super().__init__()
        self.jobs, self.folder = jobs, folder

    def __missing__(self, name):
        words, out, begun = self.jobs[name], self.folder / name, time.monotonic()
        status, err = finished(words, out)
        is_quiet = words[0] in ("train", "extract")
        assert (status, err == "") == (0, is_quiet), err
        assert is_quiet or re.search(f"Written: {re.escape(str(out))}", err), err
        self[name] = out, time.monotonic() - begun
        return self[name]


@pytest.fixture(scope="session")
def whole(jobs, tmp_path_factory):
    """For each long command the folder of an uninterrupted run, and how many seconds it took."""
    return WholeRuns(jobs, tmp_path_factory.mktemp("whole"))


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
