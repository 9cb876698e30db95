"""Units of work of a study: each leaves one file of numbers, so that what is finished is never done again."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from pellucid.core.errors import BadFile
from pellucid.core.files import read_text, write_text

Numbers = dict[str, Any]
Work = Callable[
    [str], Numbers
]  # from a unit's name to its numbers; a top-level function, so that a process can run it


def run_units(names: Sequence[str], work: Work, folder: Path, about: Numbers, processes: int = 1) -> None:
    """Do the units whose file is not there, several at a time in processes of one thread each.

    about: what the numbers depend on, kept with them. Raises `BadFile` where a file is of something else.
    """
    kept = {name: read_unit(folder, name, about) for name in names if place(folder, name).exists()}
    missing = [name for name in names if name not in kept]
    if processes == 1:
        for name in missing:
            _do(name, work, folder, about)
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), _one_thread) as pool:
        waiting = [pool.submit(_do, name, work, folder, about) for name in missing]
        for done in as_completed(waiting):
            if done.exception() is not None:
                pool.shutdown(cancel_futures=True)  # what has begun is finished and kept
            done.result()


def read_unit(folder: Path, name: str, about: Mapping[str, Any]) -> Numbers:
    """The numbers of a finished unit; raises `BadFile` where they are of other settings."""
    held = json.loads(read_text(place(folder, name)))
    if held["about"] != about:
        raise BadFile(
            f"{place(folder, name)} is of {held['about']}, not of {about}; give another --out, or remove it."
        )
    return held


def place(folder: Path, name: str) -> Path:
    """Where a unit's numbers lie."""
    return folder / f"{name}.json"


def _do(name: str, work: Work, folder: Path, about: Numbers) -> None:
    write_text(place(folder, name), json.dumps({"about": about, **work(name)}))
    print(f"{name}: done", flush=True)


def _one_thread() -> None:
    torch.set_num_threads(1)
