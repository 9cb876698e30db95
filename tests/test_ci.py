"""What the build runs: lints, types and tests, each of them even when another one failed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
MAKE = '#!/bin/sh\necho "$*" >> ../targets\ntest "$*" != "$FAILING"\n'


@pytest.mark.parametrize(("failing", "fails"), [("check", True), ("test", True), ("neither", False)])
def test_checks_and_tests_both_run_and_either_can_fail(tmp_path, failing, fails):
    clone, programs = tmp_path / "clone", tmp_path / "programs"
    (clone / ".ci").mkdir(parents=True)
    programs.mkdir()
    shutil.copy(RUN, clone / ".ci" / "run")
    (programs / "make").write_text(MAKE)
    (programs / "make").chmod(0o755)
    surroundings = {"PATH": f"{programs}:{os.defpath}", "FAILING": failing}
    done = subprocess.run(["bash", clone / ".ci" / "run"], env=surroundings, capture_output=True)
    assert (done.returncode != 0) == fails
    assert (tmp_path / "targets").read_text().split() == ["check", "test"]
