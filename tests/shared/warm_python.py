"""Programs in processes of their own that begin where torch, transformers and Pellucid are loaded already.

Python's fork server forks each process from one that has loaded them; a process from the beginning takes five seconds
to do so. What is loaded, and that importing works, `tests/test_start.py` and the tests of the command line see in
processes from the beginning.
"""

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
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
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(LOADED)
    before = dict(os.environ)
    os.environ.update(OFFLINE, PYTHONIOENCODING="utf-8")
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return server


def context(way):
    """What `multiprocessing.get_context` gives, but that processes begin warm where each would begin by itself."""
    return _server() if way == "spawn" else multiprocessing.get_context(way)


class Started:
    """A program in a process that begins warm, as `subprocess.Popen` shows one; what it prints is in two files."""

    def __init__(self, program, words, cwd):
        self.words = words
        # Beside the folder, which is the program's own; a new name for each of several at once.
        folder = Path(tempfile.mkdtemp(prefix=f"{Path(cwd).name}.", dir=Path(cwd).parent))
        self._texts = folder / "out.txt", folder / "err.txt"
        self._process = _server().Process(target=_run, args=(program, list(map(str, words)), cwd, *self._texts))
        self._process.start()

    @property
    def pid(self):
        return self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self.returncode

    def kill(self):
        self._process.kill()

    def send_signal(self, number):
        os.kill(self.pid, number)

    def communicate(self, timeout=500):
        """(standard output, standard error) once it has ended. Raises `AssertionError` after so many seconds."""
        self._process.join(timeout)
        output, errors = (path.read_text(encoding="utf-8") if path.exists() else "" for path in self._texts)
        if self.returncode is None:
            self.kill()
            raise AssertionError(f"not at its end after {timeout} seconds: {errors}")
        return output, errors


def run(program, *words, cwd, timeout=500):
    """Run a program, its text or the path of a file, as `subprocess.run` does; cwd: its own folder. Raises
    `AssertionError` after timeout seconds.
    """
    process = Started(program, words, cwd)
    texts = process.communicate(timeout)
    return subprocess.CompletedProcess(words, process.returncode, *texts)


def _run(program, words, cwd, out, err):
    """In the process."""
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores interruptions
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
