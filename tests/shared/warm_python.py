"""Programs in processes of their own that begin where torch, transformers and Pellucid are loaded already.

Python's fork server forks each process from one that has loaded them; a process from the beginning takes five seconds
to do so. What is loaded, and that importing works, `tests/test_start.py` and the tests of the command line see in
processes from the beginning.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import types
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
# Libraries by name, so that a moved module of ours does not slow the suite: what cannot be imported is left out in silence.
LOADED = [
    "tests.shared.warm_python",
    "llvmlite.binding",
    "numba",
    "pyarrow.parquet",
    "rich.console",
    "scipy.stats",
    "sklearn.linear_model",
    "typer",
    "transformers.models.bert.modeling_bert",
    "pellucid.comparison.door",
    "pellucid.explaining.explain",
    "pellucid.explaining.answers",
    "pellucid.cli",
    "pellucid.models.classifiers.hugging_face",
    "pellucid.training.train",
    "tests.shared.warm_heap",  # the last one
]


@cache
def _server():
    """The fork server; it reads the environment when it starts."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    before = dict(os.environ)
    os.environ.update(OFFLINE, PYTHONIOENCODING="utf-8")
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return context


def run(program, *words, cwd, timeout=500):
    """Run a program, its text or the path of a file, as `subprocess.run` does; cwd: its own folder. Raises
    `AssertionError` after timeout seconds.
    """
    out, err = (Path(f"{cwd}.{name}.txt") for name in ("out", "err"))  # beside it: the folder is the program's own
    process = _server().Process(target=_run, args=(program, list(map(str, words)), cwd, out, err))
    process.start()
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        raise AssertionError(f"not at its end after {timeout} seconds: {err.read_text(encoding='utf-8')}")
    texts = (path.read_text(encoding="utf-8") for path in (out, err))
    return subprocess.CompletedProcess(words, process.exitcode, *texts)


def _run(program, words, cwd, out, err):
    """In the process."""
    os.chdir(cwd)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    if isinstance(program, Path):
        sys.argv = [str(program), *words]
        sys.path.insert(0, str(program.parent))
        runpy.run_path(str(program), run_name="__main__")
    else:
        sys.argv = ["-c", *words]
        sys.path.insert(0, str(cwd))
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), module.__dict__)
