"""Files appear whole, with the permissions of the umask; what a killed process leaves is removed."""

import gzip
import multiprocessing
import os
import signal
import stat
import threading
import time

import pytest

from pellucid.base.errors import BadFile
from pellucid.base.files import read_text, remove_unfinished, whole_file, whole_files, write_text
from pellucid.data.exports.json_lines import write_json_lines
from pellucid.text.example import Example


@pytest.fixture
def umask():
    """Sets the umask, and sets it back."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def in_parallel(*calls):
    """Call all of them at once; returns the errors that they raised."""
    errors, together = [], threading.Barrier(len(calls))

    def guarded(call):
        together.wait()
        try:
            call()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_of_several_writers_each_succeeds_and_readers_see_one_whole_text(tmp_path):
    path, texts = tmp_path / "notes.txt", [letter * 300_000 for letter in "abc"]
    write_text(path, texts[0])
    seen, done = set(), threading.Event()

    def write(text):
        for _ in range(15):
            write_text(path, text)

    def read():
        while not done.is_set():
            seen.add(read_text(path))

    reader = threading.Thread(target=read)
    reader.start()
    errors = in_parallel(*(lambda text=text: write(text) for text in texts))
    done.set()
    reader.join()
    assert not errors
    assert seen <= set(texts) and read_text(path) in texts
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_what_was_laid_in_the_way_is_not_written_through(tmp_path, monkeypatch):
    """A link lies under every name that a process would use next."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in (f".notes.txt.{os.getpid()}.part", ".pellucid-0000000000000000.part"):
        (tmp_path / name).symlink_to(precious)
    drawn = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(drawn))
    with pytest.raises(BadFile, match="Cannot write"):  # it is there: nothing is opened
        write_text(tmp_path / "notes.txt", "text")
    write_text(tmp_path / "notes.txt", "text")
    assert (precious.read_text(), read_text(tmp_path / "notes.txt")) == ("precious", "text")


def test_a_link_in_the_place_of_the_file_is_replaced_and_what_it_names_stays(tmp_path):
    (tmp_path / "target").write_text("precious")
    (tmp_path / "notes.txt").symlink_to(tmp_path / "target")
    write_text(tmp_path / "notes.txt", "text")
    assert not (tmp_path / "notes.txt").is_symlink()
    assert ((tmp_path / "target").read_text(), read_text(tmp_path / "notes.txt")) == ("precious", "text")


@pytest.mark.parametrize(("mask", "expected"), ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)))
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask, mask, expected):
    umask(mask)
    write_text(tmp_path / "notes.txt", "text")
    with whole_files(tmp_path) as folder:
        (folder / "other.txt").write_text("text")
    assert mode(tmp_path / "notes.txt") == mode(tmp_path / "other.txt") == expected


@pytest.mark.parametrize("before", (0o600, 0o640, 0o444, 0o666))
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, umask, before):
    path = tmp_path / "notes.txt"
    path.write_text("before")
    path.chmod(before)
    with whole_file(path) as file:
        file.write(b"after")
        assert all(mode(entry) & ~0o600 & ~before == 0 for entry in tmp_path.iterdir())  # never wider
    assert (mode(path), path.read_text()) == (before, "after")


def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path):
    write_text(tmp_path / ("n" * 255), "text")
    assert read_text(tmp_path / ("n" * 255)) == "text"


def test_the_folder_is_synced_after_the_file_has_its_place(tmp_path, monkeypatch):
    synced, real = [], os.fsync

    def fsync(descriptor):
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "notes.txt").exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "notes.txt", "text")
    assert synced == [(False, False), (True, True)]


def test_files_of_a_writer_with_names_of_its_own_appear_whole_or_not_at_all(tmp_path):
    (tmp_path / "a.json").write_text("before")
    with pytest.raises(ZeroDivisionError), whole_files(tmp_path) as folder:
        (folder / "a.json").write_text("half")
        raise ZeroDivisionError
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"a.json": "before"}
    with whole_files(tmp_path) as folder:
        assert mode(folder) == 0o700
        (folder / "more").mkdir()
        for name in ("a.json", "more/b.json"):
            (folder / name).write_text("after")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "more" / "b.json").read_text() == "after"
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.json", "more"}


def write_and_wait(folder):
    with whole_file(folder / "notes.txt") as file, whole_files(folder) as more:
        file.write(b"half")
        (more / "a.json").write_text("half")
        time.sleep(60)


@pytest.mark.whole
def test_what_a_killed_writer_left_is_swept_and_nothing_else(tmp_path):
    precious = {".notes.txt.1.part", ".thesis.part", ".pellucid-notes.part", ".tmpAbCdEf", "a.part"}
    for name in precious:
        (tmp_path / name).write_text("precious")
    (tmp_path / ".pellucid-00000000000000aa.part").symlink_to(tmp_path / "a.part")
    before = set(tmp_path.iterdir())
    process = multiprocessing.get_context("fork").Process(target=write_and_wait, args=(tmp_path,))
    process.start()
    while process.is_alive() and not any(path.name == "a.json" for path in tmp_path.rglob("*")):
        time.sleep(0.005)
    with whole_file(tmp_path / "mine.txt") as file:
        during = set(tmp_path.iterdir())
        assert len(during - before) == 3
        remove_unfinished(tmp_path)
        assert set(tmp_path.iterdir()) == during  # they are being written
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        remove_unfinished(tmp_path)
        assert len(set(tmp_path.iterdir()) - before) == 1
        file.write(b"whole")
    assert set(tmp_path.iterdir()) == before | {tmp_path / "mine.txt"}
    assert read_text(tmp_path / "mine.txt") == "whole"


def test_equal_examples_are_equal_bytes_also_when_compressed(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_json_lines([Example(("text",))], tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    with gzip.open(tmp_path / "a.jsonl.gz", "rt") as file:
        assert '"text": "text"' in file.read()
