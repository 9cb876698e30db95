"""What every version has saved, this one too, is read as it was; and only the version that began a folder goes on in it."""

import json
import tarfile
from pathlib import Path

import pytest

import pellucid
from tests.golden.pack import EXPECTED, READINGS

VERSION = "version.txt"
ARCHIVES = sorted(Path(__file__).parent.glob("version-*.tar.xz"))

# What is written otherwise now: a card that recommends nothing has no tick, and marks that were not corrected for their
# number are none; a caution says so.
REWRITTEN = {
    "✓ Use for faithful reading\n   Undecided": "○ No method is recommended\n   Undecided",
    "0.643] ▲": "0.643] ○",
    "same texts, ○ unclear; in\nbrackets the 95 % interval\n": "same texts (5 % for all marks\ntogether), ○ unclear; in "
    "brackets the 95 % interval\nCaution: This table was saved by an earlier build, whose marks were not\ncorrected for "
    "their number; all methods are undecided here. Compare again to see\nwhich are better than random scores.\n",
}


AGAIN = "a finished comparison, asked for again"  # the one reading that only the same version answers


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name)
def unpacked(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    (folder / VERSION).write_text(request.param.name.removeprefix("version-").removesuffix(".tar.xz"))
    return folder


def near(value):
    """Numbers of a reading within the rounding of another processor."""
    if isinstance(value, list):
        return [near(part) for part in value]
    return pytest.approx(value, abs=2e-3) if isinstance(value, float) else value


@pytest.mark.parametrize("name", READINGS)
def test_what_was_saved_is_read(unpacked, monkeypatch, name):
    monkeypatch.chdir(unpacked)
    expected = json.loads((unpacked / EXPECTED).read_text(encoding="utf-8"))
    if name not in expected:
        pytest.skip("this version saved nothing of the kind")
    wanted, version = expected[name], (unpacked / VERSION).read_text()
    if name == AGAIN and version != pellucid.__version__:
        refusal = (
            f"compare holds another comparison (version: there {version}, here {pellucid.__version__}); give another"
        )
        assert refusal in READINGS[name]() and pellucid.verify("compare").is_whole
        return
    if isinstance(wanted, str):
        for before, now in REWRITTEN.items():
            wanted = wanted.replace(before, now)
    assert READINGS[name]() == near(wanted)


def test_the_newest_archive_has_every_kind():
    """`make release` refuses a version without its own."""
    with tarfile.open(max(ARCHIVES, key=lambda path: path.name)) as archive:
        kinds = json.load(archive.extractfile(EXPECTED))
    assert kinds.keys() == READINGS.keys()


def test_damage_to_what_was_saved_is_seen(unpacked, monkeypatch, tmp_path):
    """The check can fail: a byte of a score makes another reading."""
    monkeypatch.chdir(unpacked)
    expected = json.loads((unpacked / EXPECTED).read_text(encoding="utf-8"))
    assert READINGS["explanations, JSON"]() != near(
        [[score + 1 for score in row] for row in expected["explanations, JSON"]]
    )
