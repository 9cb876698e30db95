"""A disk that is full or may only be read: one sentence on standard error, and what was there stays as it was."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import pellucid
from pellucid.base.errors import BadFile
from pellucid.base.files import whole_file
from tests.cli.jobs import ALONE, FIRST_FILE, signalled
from tests.shared.moments import files_of

TEXT = "A gripping, lovely film."


@pytest.fixture(scope="module")
def model(jobs):
    return jobs["compare"][1]


@pytest.fixture
def unfinished(jobs, tmp_path):
    """A function of a long command's name that gives a folder with half of its work."""

    def folder(name):
        out = tmp_path / "unfinished"
        assert signalled(jobs[name], out, file=FIRST_FILE[name], number=signal.SIGKILL)[0] == -signal.SIGKILL
        return out

    return folder


def mounted(folder, *options):
    """Whether a file system of its own could be mounted there, as only root of a whole machine may."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    line = ["mount", "-t", "tmpfs", "-o", ",".join(options), "pellucid", str(folder)]
    return subprocess.run(line, capture_output=True).returncode == 0


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own; where none can be mounted, a folder."""
    place = tmp_path / "disk"
    place.mkdir()
    there = mounted(place, "size=4m")
    yield place
    if there:
        subprocess.run(["umount", "--lazy", str(place)], check=True)  # weights may still be mapped


@contextmanager
def full(disk):
    """No room is left on the disk; where it is a mere folder, no file may grow beyond a hundred bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    filler = disk / "filler"
    if not os.path.ismount(disk):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    else:
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        filler.unlink(missing_ok=True)


@contextmanager
def read_only(disk):
    """Nothing may be written to the disk, nor to any folder in it."""
    if os.path.ismount(disk):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    folders = [] if os.path.ismount(disk) else [disk, *(path for path in disk.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        if os.access(disk, os.W_OK):
            pytest.skip("root may write everywhere, and no disk can be mounted here that it may not write to")
        yield
    finally:
        for folder in folders:
            folder.chmod(0o755)
        if os.path.ismount(disk):
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def fails_to_write(run, *words):
    """Whether a command ends in one sentence that it cannot write, with status 2; returns the sentence."""
    status, _, err = run(*words)
    assert status == 2
    err = err.removeprefix("Advice takes 100 texts or more; 40 texts give intervals only.\n")  # what compare says first
    assert err.startswith("Cannot write") and err.count("\n") == 1 and "Traceback" not in err
    return err


@pytest.mark.whole
@pytest.mark.parametrize(("name", "state"), (("train", full), ("compare", read_only)))
def test_long_work_stays_whole_and_goes_on_once_there_is_room(run, jobs, unfinished, whole, disk, *, name, state):
    words, out = jobs[name], disk / "out"
    shutil.copytree(unfinished(name), out)
    before = files_of(out)
    with state(disk):
        assert fails_to_write(run, *words, "--out", out)
        assert files_of(out) == before
    assert run(*words, "--out", out)[0] == 0
    assert files_of(out) == files_of(whole[name][0])


@pytest.mark.whole
@pytest.mark.parametrize("name", ("train", "compare"))
def test_finished_work_is_read_from_a_disk_that_may_only_be_read(run, jobs, whole, disk, name):
    shutil.copytree(whole[name][0], disk / "out")
    with read_only(disk):
        assert run(*jobs[name], "--out", disk / "out")[0] == 0
    assert files_of(disk / "out") == files_of(whole[name][0])


@pytest.mark.parametrize("state", (full, read_only))
@pytest.mark.parametrize("option", (("--save", "run.parquet"), ("--save", "run.json"), ("--html", "run.html")))
def test_results_that_cannot_be_written_leave_the_old_ones(run, model, disk, state, option):
    flag, name = option
    (disk / name).write_bytes(b"precious")
    with state(disk):
        assert fails_to_write(run, "explain", model, TEXT, "--method", "gradient", flag, disk / name)
    assert files_of(disk) == {name: b"precious"}


def test_saving_to_a_full_disk_leaves_what_was_there(model, disk):
    results = pellucid.explain(pellucid.load(model), [TEXT], "gradient")
    for name in ("run.parquet", "run.json"):
        (disk / name).write_bytes(b"precious")
        with full(disk), pytest.raises(BadFile, match="Cannot write"):
            pellucid.save(results, disk / name)
    with full(disk), pytest.raises(BadFile, match="Cannot write"):
        pellucid.report(results, path=disk / "run.html")
    assert files_of(disk) == {"run.parquet": b"precious", "run.json": b"precious"}


@pytest.mark.whole
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_reported():
    line = [sys.executable, "-m", "pellucid", "methods"]
    with Path("/dev/full").open("w") as output:
        done = subprocess.run(
            line, env=os.environ | ALONE, stdout=output, stderr=subprocess.PIPE, text=True, timeout=300
        )
    assert (done.returncode, done.stderr) == (2, "The system refused: No space left on device.\n")


@pytest.mark.parametrize("option", ("--save", "--html"))
@pytest.mark.parametrize("command", ("explain", "compare"))
def test_a_place_where_no_file_can_be_is_refused_before_the_work(run, tmp_path, command, option):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").write_text("precious")
    for place in ("folder.json", "file/run.json", "file/deeper/run.json"):
        message = fails_to_write(run, command, "no-such-model", TEXT, option, tmp_path / place)
        assert "a folder" in message  # and nothing about the model
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("name", ("train", "compare"))
def test_a_file_in_the_place_of_the_folder_is_refused_before_the_work(run, jobs, tmp_path, name):
    (tmp_path / "file").write_text("precious")
    for place in (tmp_path / "file", tmp_path / "file" / "out"):
        assert "is a file, not a folder" in fails_to_write(run, *jobs[name], "--out", place)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_device_is_not_written_over(run, tmp_path):
    pipe = tmp_path / "pipe"  # a thing of its own kind, as a device is, and one that a test may lose
    os.mkfifo(pipe)
    assert "it is a device" in fails_to_write(run, "explain", "no-such-model", TEXT, "--html", pipe)
    with pytest.raises(BadFile, match="it is a device"), whole_file(pipe):
        raise AssertionError("nothing shall be written")
    assert pipe.is_fifo()
