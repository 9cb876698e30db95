"""Closed streams, readers that go away, and memory that is short: never a trace of Python, never without end."""

import os
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from pellucid.cli import main
from tests.cli.jobs import ALONE
from tests.hostile.command_line import run
from tests.shared.tiny import LABELS, save_tiny

PELLUCID = f"{sys.executable} -m pellucid"
MEGABYTE = 1 << 20


def shell(line):
    """(exit status, standard output, standard error) of a line of the shell, its status that of the first command."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        env=os.environ | ALONE,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stdout + done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.whole
def test_closed_streams_end_in_a_sentence():
    status, _, err = shell(f"{PELLUCID} methods >&-")
    assert (status, err) == (2, "The system refused: Bad file descriptor.\n")
    status, _, err = shell(f"{PELLUCID} explain no/model <&-")
    assert (status, err) == (2, "There is no text in standard input; give one text a line.\n")
    status, out, err = shell(f"{PELLUCID} explain no/such/model x 2>&-")
    assert (status, out, err) == (2, "", "")
    status, out, err = shell(f"{PELLUCID} methods <&- 2>&-")
    assert (status, err) == (0, "") and "gradient" in out


@pytest.mark.whole
def test_a_reader_that_goes_away_is_no_mistake():
    assert shell(f"{PELLUCID} methods | head -1")[::2] == (0, "")
    assert shell(f"{PELLUCID} methods | true")[::2] == (0, "")


def in_a_child(seconds, work):
    """The exit status of work in a forked process that may take so many seconds; 99 for an error that is not
    expected.
    """
    child = os.fork()
    if not child:
        status = 99
        try:
            signal.alarm(seconds)
            status = work()
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def memory():
    """Bytes of address space that this process has."""
    return 1024 * int(Path("/proc/self/status").read_text().partition("VmSize:")[2].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("room", (1, 4, 16, 64))
def test_short_memory_is_called_by_its_name(tmp_path, monkeypatch, room):
    """Whatever fails first: the command ends, well or with a sentence about memory."""
    folder, out = save_tiny(tmp_path / "model", labels=LABELS), tmp_path / "err"
    words = ["explain", str(folder), "A fine film.", "--method", "gradient"]
    assert run(words)[0] == 0  # every part is loaded
    monkeypatch.setattr(sys, "argv", ["pellucid", *words])

    def explain():
        with out.open("w") as file:
            monkeypatch.setattr(sys, "stderr", file)
            resource.setrlimit(resource.RLIMIT_AS, (memory() + room * MEGABYTE,) * 2)
            try:
                main()
            except SystemExit as ended:
                return int(ended.code or 0)
        return 0

    status = in_a_child(300, explain)
    message = out.read_text()
    assert status in (0, 2), message
    assert status == 0 or ("memory" in message and message.count("\n") == 1 and "Give a folder" not in message), message
