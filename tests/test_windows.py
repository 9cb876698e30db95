"""What Windows lacks is asked for nowhere: modules, flags and functions that only Unix has; processes are started anew,
paths have blanks and signs, and the terminal has a code page.
"""

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
import pellucid.corpus.careful as careful
assert temporary_files.fcntl is None
careful._may_be_copied = lambda *_: False  # no process is a copy of another one there
temporary_files.RENAMES_OPEN_FILES = files.RENAMES_OPEN_FILES = False
with files.whole_files("folder") as folder:
    (folder / "a.txt").write_text("whole")
assert pathlib.Path("folder/a.txt").read_text() == "whole"
results = pellucid.explain(pellucid.load(sys.argv[2]), ["A good film.", "Dull."], "occlusion", progress=False)
for _ in range(2):
    pellucid.save(results, "results.parquet")
pellucid.report(results, path="page.html")
assert len(pellucid.read("results.parquet")) == 2
run = pellucid.explain_corpus(pellucid.load(sys.argv[2]), ["A good film.", "Dull."], "occlusion", folder="a run", workers=2)
assert len(run) == 2 and pellucid.verify("a run").is_whole
print(sorted(path.name for path in pathlib.Path().iterdir()), "\\u017e \\u2192")
"""
CODE_PAGE = {"PYTHONIOENCODING": "cp1252:backslashreplace", "PYTHONUTF8": "0"}


def modules():
    """Every module of the package, but for those that run a program or need a package that is not everywhere."""
    names = [each.name for each in pkgutil.walk_packages(pellucid.__path__, "pellucid.")]
    return [name for name in names if not name.endswith("__main__") and "triton" not in name]


@pytest.mark.whole
def test_the_whole_package_is_imported_and_works_without_what_only_unix_has(tmp_path):
    folder, work = save_tiny(tmp_path / "my model, v2"), tmp_path / "Jana's files (100 %) & söme"
    work.mkdir()
    line = [sys.executable, "-W", "ignore", "-c", WITHOUT + JOB, json.dumps(modules()), str(folder)]
    environment = os.environ | warm_python.OFFLINE | CODE_PAGE
    done = subprocess.run(line, cwd=work, env=environment, capture_output=True, encoding="cp1252", timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == r"['a run', 'folder', 'page.html', 'results.parquet'] ž \u2192"
