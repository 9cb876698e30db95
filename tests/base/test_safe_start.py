"""Where programs are looked for, and what processes that we start are told about the current folder."""

import os
from multiprocessing import util

import pytest

from pellucid.base.processes import program_path, safe_path


def test_only_meanwhile_do_processes_begin_with_the_option():
    before, environment = util._args_from_interpreter_flags(), dict(os.environ)
    with pytest.raises(KeyError), safe_path():
        assert util._args_from_interpreter_flags() == [*before, "-P"] and os.environ == environment
        raise KeyError
    assert util._args_from_interpreter_flags() == before and os.environ == environment


def test_a_program_is_not_looked_for_in_the_current_folder(tmp_path, monkeypatch):
    program = tmp_path / "eflomal-align"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f":{os.defpath}", "../" + tmp_path.name):
        monkeypatch.setenv("PATH", path)
        assert program_path("eflomal-align") is None
    assert program_path("./eflomal-align") == str(program)
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    assert program_path("eflomal-align") == str(program)
