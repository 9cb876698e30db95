"""Processes that import nothing from the current folder, where a stranger's data may lie."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import util
from pathlib import Path
from typing import Any

SAFE_PATH = "PYTHONSAFEPATH"  # Python's own variable: no folder of the program's surroundings is put first on the path
# What a program sees of the environment: neither the user's variables nor programs outside the system's folders.
PROGRAM_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": os.defpath, SAFE_PATH: "1"}

_starting = threading.Lock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Whatever `multiprocessing` starts meanwhile, its tracker of resources too, begins with Python's option -P.

    It starts Python as `python -c`, which looks for every module in the current folder first. The list of options that it
    hands on is the one place that all of these processes share; the environment would also be seen by the user's threads.
    """
    with _starting:
        shared: Any = util
        inherited = shared._args_from_interpreter_flags
        shared._args_from_interpreter_flags = lambda: [*inherited(), "-P"]
        try:
            yield
        finally:
            shared._args_from_interpreter_flags = inherited


def hand_on_safe_path() -> None:
    """Let every Python program that this process starts, itself or by a library, leave out the current folder."""
    os.environ[SAFE_PATH] = "1"


def program_path(name: str) -> str | None:
    """The absolute path of a program that the user names, by a path or by its name alone; None where it is not installed.

    A name alone is looked up in the absolute folders of PATH: a `.` or nothing there is the current folder.
    """
    if Path(name).name != name:
        path = shutil.which(name)
        return None if path is None else str(Path(path).absolute())
    folders = [folder for folder in os.get_exec_path() if Path(folder).is_absolute()]
    path = shutil.which(name, path=os.pathsep.join(folders))
    return path if path is not None and Path(path).is_absolute() else None
