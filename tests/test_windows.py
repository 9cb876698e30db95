"""What Windows lacks is asked for nowhere: modules, flags and functions that only Unix has."""

import json
import os
import pkgutil
import subprocess
import sys

import pytest

import pellucid
from tests.shared import warm_python
from tests.shared.tiny import save_tiny

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty")
NAMES = ("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "fchmod", "killpg", "getuid", "geteuid", "setsid")
WITHOUT = f"""
import builtins, os, sys
real = builtins.__import__
def hiding(name, globals=None, *rest, **more):
    ours = (globals or {{}}).get("__name__", "").startswith("pellucid")
    if ours and name in {MODULES!r}:
        raise ModuleNotFoundError("No module named " + name, name=name)
    return real(name, globals, *rest, **more)
builtins.__import__ = hiding
import torch, transformers  # they have their own ways on Windows
for name in {NAMES!r}:
    if hasattr(os, name):
        delattr(os, name)
"""
JOB = """
import importlib, json, pathlib
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
import pellucid
import pellucid.base.temporary_files as temporary_files
import pellucid.base.files as files
assert temporary_files.fcntl is None
temporary_files.RENAMES_OPEN_FILES = files.RENAMES_OPEN_FILES = False
with files.whole_files("folder") as folder:
    (folder / "a.txt").write_text("whole")
assert pathlib.Path("folder/a.txt").read_text() == "whole"
results = pellucid.explain(pellucid.load(sys.argv[2]), ["A good film.", "Dull."], "occlusion", progress=False)
for _ in range(2):
    pellucid.save(results, "results.parquet")
pellucid.report(results, path="page.html")
assert len(pellucid.read("results.parquet")) == 2
print(sorted(path.name for path in pathlib.Path().iterdir()))
"""


def modules():
    """Every module of the package, but for those that run a program or need a package that is not everywhere."""
    names = [each.name for each in pkgutil.walk_packages(pellucid.__path__, "pellucid.")]
    return [name for name in names if not name.endswith("__main__") and "triton" not in name]


@pytest.mark.whole
def test_the_whole_package_is_imported_and_explains_and_saves_without_what_only_unix_has(tmp_path):
    folder, work = save_tiny(tmp_path / "model"), tmp_path / "work"
    work.mkdir()
    line = [sys.executable, "-W", "ignore", "-c", WITHOUT + JOB, json.dumps(modules()), str(folder)]
    environment = os.environ | warm_python.OFFLINE
    done = subprocess.run(line, cwd=work, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['folder', 'page.html', 'results.parquet']"
