"""Silver links by a program of the user's: read, joined, bounded in time, and one sentence for whatever fails."""

import os
import time
from pathlib import Path

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting

# In the form of eflomal 2.0.0's files.
RECORDED = {"forward": "0-0 1-1 2-2\n0-0 1-1\n", "reverse": "0-0 2-2 1-2\n1-1\n"}
PAIRS = [("a dog runs", "ein Hund rennt"), ("a cat", "eine Katze")]


def program(folder, body):
    """A program in place of eflomal's, which reads the same options."""
    path = folder / "eflomal-align"
    path.write_text(
        '#!/bin/sh\nfor option in "$@"; do case $option in\n'
        "--source=*) source=${option#*=};; --target=*) target=${option#*=};;\n"
        "--forward-links=*) forward=${option#*=};; --reverse-links=*) reverse=${option#*=};;\n"
        f"esac; done\n{body}\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def recorded(tmp_path):
    for name, text in RECORDED.items():
        (tmp_path / name).write_text(text)
    body = "".join(f"cp {tmp_path / name} ${name}\n" for name in RECORDED)
    return program(tmp_path, f"cp $source {tmp_path}/read\n{body}")


def test_links_are_what_both_directions_have(recorded, tmp_path):
    lines = pellucid.links(PAIRS, program=str(recorded), out=tmp_path / "links.txt")
    assert lines == ["0-0 2-2", "1-1"]
    assert (tmp_path / "links.txt").read_text() == "0-0 2-2\n1-1\n"
    assert (tmp_path / "read").read_text() == "a dog runs\na cat\n"


def test_pairs_beside_are_read_and_not_returned(recorded):
    assert pellucid.links(PAIRS[:1], beside=PAIRS[1:], program=str(recorded)) == ["0-0 2-2"]


def test_breaks_inside_a_text_make_no_line(recorded, tmp_path):
    pellucid.links([("a dog\nruns ", "ein Hund rennt"), PAIRS[1]], program=str(recorded))
    assert (tmp_path / "read").read_text() == "a dog runs\na cat\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo no memory >&2; exit 3", "failed: no memory"),
        ("echo 0-0 > $forward; echo 0-0 > $reverse", "wrote 1 lines of links for 2 pairs"),
        ("printf '0-9\\n\\n' > $forward; cp $forward $reverse", "pair 1: the link .0-9. names a word"),
        ("true", "wrote 0 lines of links for 2 pairs"),
    ],
)
def test_a_program_that_fails_is_one_sentence(tmp_path, body, message):
    with pytest.raises(BadFile, match=message) as caught:
        pellucid.links(PAIRS, program=str(program(tmp_path, body)))
    assert "\n" not in str(caught.value)


def test_it_ends_in_time_with_its_children(tmp_path):
    path = program(tmp_path, f"sleep 300 & echo $! > {tmp_path}/child; wait")
    began = time.monotonic()
    with pytest.raises(BadFile, match=r"took longer than 0\.5 seconds"):
        pellucid.links(PAIRS, program=str(path), seconds=0.5)
    assert time.monotonic() - began < 100
    child = int((tmp_path / "child").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(child, 0)
            if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":  # dead, and nobody's to bury yet
                raise ProcessLookupError
            time.sleep(0.05)


def test_what_cannot_be_aligned_is_refused(tmp_path):
    with pytest.raises(BadFile, match="No program 'eflomal-none' was found; install eflomal"):
        pellucid.links(PAIRS, program="eflomal-none")
    with pytest.raises(BadInput, match="has one text; give pairs"):
        pellucid.links(["a dog"])
    with pytest.raises(BadSetting, match="seconds=0"):
        pellucid.links(PAIRS, seconds=0)
