"""Folders with manifests: every kind of damage is seen, strangers' manifests do no harm, and no interruption is vouched
for.
"""

import json
import os
import shutil
import socket

import pytest

import pellucid
from pellucid.base.errors import BadFile, FolderMended
from pellucid.base.files import remove_unfinished, write_text
from pellucid.base.json_text import sealed
from pellucid.base.manifest import MANIFEST, Manifest, digest_inside, read_manifest
from pellucid.base.output_folder import OutputFolder
from tests.shared.moments import Moments, files_of, killed

PARTS = {"parts/0.txt": "zero", "parts/1.txt": "one"}


def work(folder, fatal=-1, of="this", lasting=()):
    """Work of three files: two parts, and what is derived from them; missing ones are written, as a command does."""
    files = OutputFolder(folder, "work", of, ["parts/*.txt", "all.txt"], lasting=dict.fromkeys(lasting, "x"))
    with Moments(fatal) as moments:
        state = files.begin()
        remove_unfinished(folder / "parts")
        for name, text in PARTS.items():
            if not (folder / name).exists():
                write_text(folder / name, text)
        if not (folder / "all.txt").exists():
            write_text(folder / "all.txt", "".join((folder / name).read_text() for name in PARTS))
        files.end(state)
    return moments.count


@pytest.fixture
def whole(tmp_path):
    work(tmp_path / "whole")
    return tmp_path / "whole"


def harms(path):
    """Each kind of damage to a file."""
    content = path.read_bytes()
    yield path.unlink
    yield lambda: path.write_bytes(content[:-1])
    yield lambda: path.write_bytes(b"")
    yield lambda: path.write_bytes(bytes(len(content)))  # of the same size
    yield lambda: path.write_bytes(content + b"<script>")
    yield lambda: (path.unlink(), os.mkfifo(path))
    yield lambda: (path.unlink(), path.symlink_to("/dev/zero"))
    yield lambda: (path.unlink(), path.symlink_to("/etc/hostname"))


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("name", [*PARTS, "all.txt"])
def test_every_damage_is_seen_and_mended(whole, tmp_path, name, number):
    before = files_of(whole)
    list(harms(whole / name))[number]()
    seen = pellucid.verify(whole)
    assert (seen.missing, seen.changed) == (((name,), ()) if number == 0 else ((), (name,)))
    with pytest.warns(FolderMended, match=f"Made again in .*: {name}"):
        work(whole)
    assert files_of(whole) == before and pellucid.verify(whole).is_whole


def test_a_whole_folder_is_not_written_to_and_names_are_relative(whole, tmp_path):
    assert work(whole) == 0
    assert str(tmp_path) not in (whole / MANIFEST).read_text()
    shutil.move(whole, tmp_path / "mailed")
    assert pellucid.verify(tmp_path / "mailed").checked == 3
    assert pellucid.verify(str(tmp_path / "mailed")).is_whole


def test_killed_at_any_moment_no_manifest_speaks_for_half_written_files(whole, tmp_path):
    expected = files_of(whole)

    def spoilt(folder):
        shutil.copytree(whole, folder)
        (folder / "parts/1.txt").write_text("another")
        (folder / "all.txt").write_text("")
        return folder

    with pytest.warns(FolderMended):
        count = work(spoilt(tmp_path / "counted"))
    for moment in range(count):
        folder = spoilt(tmp_path / str(moment))
        killed(work, folder, moment)
        listed = (folder / MANIFEST).exists() and pellucid.verify(folder).is_whole
        there = {name: content for name, content in files_of(folder).items() if not name.endswith(".part")}
        assert not listed or there == expected, moment
        work(folder)
        assert files_of(folder) == expected, moment


def test_no_file_of_another_work_is_removed(whole):
    (whole / "all.txt").write_text("another")
    before = files_of(whole)
    OutputFolder(whole, "work", "that", ["all.txt"]).begin()
    OutputFolder(whole, "play", "this", ["all.txt"]).begin()
    assert files_of(whole) == before


def test_what_lasts_is_named_and_nothing_is_removed(whole):
    (whole / "all.txt").unlink()
    (whole / "parts/0.txt").write_text("another")
    before = files_of(whole)
    with pytest.raises(BadFile, match=r"parts/0.txt was changed"):
        work(whole, lasting=["parts/*.txt"])
    assert files_of(whole) == before


def strange(folder, files, of="this"):
    """A manifest as a stranger may write it, with a seal that fits."""
    content = {"form": "pellucid-manifest-1", "files": files, "folders": []}
    (folder / MANIFEST).write_text(json.dumps(sealed(content, {"command": "work", "work": of})))


@pytest.mark.parametrize("name", ("../all.txt", "/etc/hostname", "a/../../b", ".", "", "a//b", "./a", "a\0b", 7))
def test_names_that_leave_the_folder_are_refused(whole, name):
    record = {"size": 1, "sha256": "0" * 64}
    strange(whole, {name: record})
    if name == 7:  # in JSON, names are strings
        strange(whole, {"a": {"size": "1", "sha256": "0" * 64}})
    with pytest.raises(BadFile, match="no manifest of ours"):
        read_manifest(whole)
    seen = pellucid.verify(whole)
    assert seen.changed == (MANIFEST,) and not seen.is_whole


def test_a_strangers_manifest_takes_no_file_away_that_the_work_does_not_make(whole, tmp_path):
    wrong = {"size": 1, "sha256": "0" * 64}
    (whole / "notes.txt").write_text("mine")
    strange(whole, {"notes.txt": wrong, "all.txt": wrong})
    with pytest.warns(FolderMended):
        work(whole)
    assert (whole / "notes.txt").read_text() == "mine"
    (tmp_path / "home").mkdir()
    (tmp_path / "home/0.txt").write_text("precious")
    shutil.rmtree(whole / "parts")
    (whole / "parts").symlink_to(tmp_path / "home")
    strange(whole, {"parts/0.txt": wrong})
    assert pellucid.verify(whole).changed == ("parts/0.txt",)
    with pytest.raises(BadFile, match="a link that leads out of"):
        work(whole)
    assert (tmp_path / "home/0.txt").read_text() == "precious"


def test_pipes_devices_and_endless_files_are_not_waited_for(whole):
    os.mkfifo(whole / "pipe")
    (whole / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(whole / "socket"))
        assert [digest_inside(whole, name) for name in ("pipe", "zero", "socket", "parts", "none")] == [None] * 5
        (whole / MANIFEST).unlink()
        (whole / MANIFEST).symlink_to("/dev/zero")
        assert pellucid.verify(whole).changed == (MANIFEST,)
    (whole / MANIFEST).unlink()
    with (whole / MANIFEST).open("wb") as file:
        file.truncate(1 << 40)  # a hole, of which no more is read than a manifest may have
    assert pellucid.verify(whole).changed == (MANIFEST,)


def test_a_link_that_leads_out_is_changed_whatever_it_leads_to_and_one_that_stays_is_read(whole, tmp_path):
    for outside, changed in ((tmp_path / "outside.txt", ("all.txt",)), (whole / "inside.txt", ())):
        (whole / "all.txt").rename(outside)
        (whole / "all.txt").symlink_to(outside)
        assert pellucid.verify(whole).changed == changed
        (whole / "all.txt").unlink()
        outside.rename(whole / "all.txt")


def test_folders_inside_are_judged_by_their_own_manifests(whole):
    work(whole / "models/a")
    files = OutputFolder(whole, "work", "outer", ["all.txt", "parts/*.txt"], folders=["models/*"])
    files.end(files.begin())
    assert pellucid.verify(whole).checked == 6
    (whole / "models/a/all.txt").write_text("other")
    assert pellucid.verify(whole).changed == ("models/a/all.txt",)
    shutil.rmtree(whole / "models")
    assert pellucid.verify(whole).missing == (f"models/a/{MANIFEST}",)
    work(whole / "parts/copy")
    assert f"parts/copy/{MANIFEST}" in pellucid.verify(whole).foreign


def test_verify_says_what_it_cannot_check(tmp_path):
    with pytest.raises(BadFile, match="There is no folder"):
        pellucid.verify(tmp_path / "none")
    with pytest.raises(BadFile, match=f"has no {MANIFEST}"):
        pellucid.verify(tmp_path)


def test_a_manifest_comes_back_equal(whole):
    manifest = read_manifest(whole)
    manifest.save(whole)
    assert isinstance(manifest, Manifest) and read_manifest(whole) == manifest
    record = pellucid.verify(whole).record()
    assert json.loads(json.dumps(record)) == {
        "folder": str(whole), "checked": 3, "missing": [], "changed": [], "foreign": [], "is_whole": True
    }  # fmt: skip
