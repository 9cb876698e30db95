"""Units of work of a study: each leaves one file of numbers, so that what is finished is never done again."""

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import torch

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import check_folder, read_text, write_text
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.foundation.seals import sealed, unsealed
from pellucid.core.text.example import Example
from pellucid.models.classifiers.source_digest import source_digest
from pellucid.studies.shared.computing_environment import identity, one_thread, record
from pellucid.training.recipe import Precision

Numbers = dict[str, Any]
Share = Callable[[float], None]  # told how much of a unit is done, from 0 to 1


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    about: what its numbers depend on, kept with them; what JSON can hold. work: gives the numbers; a top-level function
    or a `partial` of one, so that a process can run it. encoder: what its models are built on, whose files the numbers
    depend on too. precision, device: what its trainings compute in, and where.
    """

    name: str
    about: Numbers
    work: Callable[[Share], Numbers]
    encoder: str | None = None
    precision: Precision = "auto"
    device: str = "cpu"

    @property
    def of(self) -> Numbers:
        """What its file is sealed with."""
        return {"unit": self.name} | (
            {"encoder": source_digest(self.encoder) or None} if self.encoder else {}
        )


def run_units(
    units: Sequence[Unit], folder: Path, processes: int, told: Progress, stage: str = "units"
) -> dict[str, Numbers]:
    """Every unit's numbers by its name; those whose file is there are read, the others done.

    processes: units at a time; 1: in this process. Each computes on one thread, so that the numbers are the same bytes for
    any number of processes. stage: what the work is called. Raises `BadFile` where a file is of something else, or was
    computed in another precision than what is missing would be, before any work; and what the first failing unit
    raised, when what had begun is finished and kept.
    """
    missing = [unit for unit in units if not is_kept(unit, folder)]
    if missing:
        check_folder(folder)
        for unit in units:
            if unit not in missing:
                _check_alike(unit, folder)

    def tell(done: float) -> None:
        told(stage, int(100 * done), 100 * len(missing))

    if missing and processes > 1:
        _side_by_side(missing, folder, processes, tell)
    else:
        with one_thread():
            _one_by_one(missing, folder, tell)
    return {unit.name: _read(unit, folder) for unit in units}


def digest(parts: Mapping[str, Sequence[Example]]) -> str:
    """16 hexadecimal digits for the texts and labels of all parts: numbers of others are not taken for theirs."""
    told = json.dumps({name: [(one.segments, one.label) for one in held] for name, held in parts.items()})
    return blake2b(told.encode(), digest_size=8).hexdigest()


def claim(folder: Path, about: Numbers) -> None:
    """Keep what lies in a work folder to one study's settings; raises `BadFile` where it was begun with others."""
    run_units([Unit("about", about, lambda _: {})], folder, 1, silent)


def unheard(share: float) -> None:
    """For work that reports to nobody."""


def place(folder: Path, name: str) -> Path:
    """Where a unit's numbers lie."""
    return folder / f"{name}.json"


def is_kept(unit: Unit, folder: Path) -> bool:
    """Whether a unit is finished; raises `BadFile` where its file is of something else."""
    return place(folder, unit.name).exists() and bool(_read(unit, folder))


def kept(units: Sequence[Unit], folder: Path) -> dict[str, Numbers]:
    """The numbers of the units whose file is there, by name."""
    return {unit.name: _read(unit, folder) for unit in units if is_kept(unit, folder)}


def _check_alike(unit: Unit, folder: Path) -> None:
    """What a file was computed in, where it says so, is what its study would be gone on with here."""
    was = _read(unit, folder).get("computed", {})
    with one_thread():
        now = identity(unit.precision, unit.device)
    other = sorted(name for name in was.keys() & now.keys() if was[name] != now[name])
    if other:
        before, here = ({name: one[name] for name in other} for one in (was, now))
        raise BadFile(
            f"{place(folder, unit.name)} was computed with {before}, and the rest would be with {here}; go on where it was begun, "
            "or give another folder."
        )


def _read(unit: Unit, folder: Path) -> Numbers:
    path = place(folder, unit.name)
    held = unsealed(json.loads(read_text(path)), unit.of, path)
    about, found = json.loads(json.dumps(unit.about)), held.get("about", {})
    other = sorted(name for name in about.keys() | found.keys() if about.get(name) != found.get(name))
    if other:
        was, asked = ({name: one.get(name) for name in other} for one in (found, about))
        raise BadFile(f"{path} is of {was}, not of {asked}; give another folder, or remove it.")
    return held


def _do(unit: Unit, folder: Path, share: Share) -> None:
    of = unit.of  # before the work: what it begins with
    computed = record(unit.precision, unit.device)
    numbers = json.loads(json.dumps({"about": unit.about, **unit.work(share), "computed": computed}))
    write_text(place(folder, unit.name), json.dumps(sealed(numbers, of)))
    share(1.0)


def _one_by_one(units: Sequence[Unit], folder: Path, tell: Callable[[float], None]) -> None:
    for number, unit in enumerate(units):

        def share(done: float, before: int = number) -> None:
            tell(before + done)

        _do(unit, folder, share)


def _side_by_side(units: Sequence[Unit], folder: Path, processes: int, tell: Callable[[float], None]) -> None:
    context = get_context("spawn")
    shares = context.Array("d", len(units))
    coming, running = list(enumerate(units)), set[Future[None]]()
    processes = min(processes, len(units))
    with ProcessPoolExecutor(processes, context, _start, (shares,)) as pool:
        while coming or running:
            # A unit is handed over only when a process is free for it: on an error none is begun that none waits for.
            while coming and len(running) < processes:
                running.add(pool.submit(_do_numbered, *coming.pop(0), folder))
            done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            tell(sum(shares[:]))
            for future in done:
                future.result()


_shares: Any = None  # in a worker: how much of each unit is done, shared with the parent


def _start(shares: Any) -> None:
    global _shares
    _shares = shares
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Without it the processes of a killed study would go on, and write beside those of the next."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do_numbered(number: int, unit: Unit, folder: Path) -> None:
    def share(done: float) -> None:
        _shares[number] = done

    _do(unit, folder, share)
