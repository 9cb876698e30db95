"""Units of work of a study. Each leaves one file of numbers, so finished work is never done again."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder
from pellucid.base.json_text import sealed, unsealed
from pellucid.base.processes import Processes, Progress, Share, silent
from pellucid.models.classifiers.hugging_face import source_digest
from pellucid.run.diagnostics import EAGER
from pellucid.text.example import Example
from pellucid.training.recipe import Precision
from studies.shared.computing_environment import computing_identity, computing_record, one_thread
from studies.shared.unit_files import Numbers, has_unit, read_unit, unit_place, write_unit

__all__ = ["Numbers", "Unit", "is_finished", "reserve_folder", "run_units", "text_digest"]


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    name: of its file. about: what its numbers depend on, as JSON; it is saved with them. work: returns the numbers; a
    top-level function or a `partial` of one, so that another process can run it. encoder: what its models are built on;
    the numbers depend on its files too. precision: what its trainings compute in. device: where they compute. route:
    how.
    """

    name: str
    about: Numbers
    work: Callable[[Share], Numbers]
    encoder: str | None = None
    precision: Precision = "auto"
    device: str = "cpu"
    route: str = EAGER

    @property
    def seal(self) -> Numbers:
        """What its file says it belongs to."""
        return {"unit": self.name} | ({"encoder": source_digest(self.encoder) or None} if self.encoder else {})


def run_units(
    units: Sequence[Unit], folder: Path, processes: int, progress: Progress, stage: str = "units"
) -> dict[str, Numbers]:
    """The numbers of every unit by its name. Units with a file are read, the others are done.

    folder: of the units' files. processes: units at a time; 1 works in this process. Every unit computes on one thread,
    so the numbers are the same bytes for any number of processes. progress: called with `stage` and hundredths of
    units.

    Raises `BadFile` before any work where a file belongs to something else, or was computed in another precision than
    the missing units would be. Raises what the first failing unit raised, after the units that had begun are finished.
    """
    missing = [unit for unit in units if not is_finished(unit, folder)]
    if missing:
        check_folder(folder)
        for unit in units:
            if unit not in missing:
                _check_alike(unit, folder)

    def report(done: float) -> None:
        progress(stage, int(100 * done), 100 * len(missing))

    if missing and processes > 1:
        Processes(processes).run([partial(_do, unit, folder) for unit in missing], report)
    else:
        with one_thread():
            _one_by_one(missing, folder, report)
    return {unit.name: _read(unit, folder) for unit in units}


def text_digest(parts: Mapping[str, Sequence[Example]]) -> str:
    """16 hexadecimal digits for the texts and labels of all parts, so that numbers of other texts are refused."""
    content = {name: [(one.segments, one.label) for one in part] for name, part in parts.items()}
    return blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


def reserve_folder(folder: Path, about: Numbers) -> None:
    """Reserve a work folder for one study's settings. Raises `BadFile` where it was begun with other settings."""
    run_units([Unit("about", about, lambda _: {})], folder, 1, silent)


def is_finished(unit: Unit, folder: Path) -> bool:
    """Whether a unit's file is there. Raises `BadFile` where the file belongs to something else."""
    return has_unit(folder, unit.name) and bool(_read(unit, folder))


def _check_alike(unit: Unit, folder: Path) -> None:
    """Raise `BadFile` where a file says that it was computed in another way than this process would compute."""
    before = _read(unit, folder).get("computed", {})
    with one_thread():
        now: Mapping[str, object] = computing_identity(unit.precision, unit.device, unit.route)
    other = sorted(name for name in before.keys() & now.keys() if before[name] != now[name])
    if other:
        there, here = ({name: one[name] for name in other} for one in (before, now))
        raise BadFile(
            f"{unit_place(folder, unit.name)} was computed with {there}, and the rest would be with {here}; "
            "go on where it was begun, or give another folder."
        )


def _read(unit: Unit, folder: Path) -> Numbers:
    path = unit_place(folder, unit.name)
    numbers = unsealed(read_unit(folder, unit.name), unit.seal, path)
    wanted, saved = json.loads(json.dumps(unit.about)), numbers.get("about", {})
    other = sorted(name for name in wanted.keys() | saved.keys() if wanted.get(name) != saved.get(name))
    if other:
        there, here = ({name: one.get(name) for name in other} for one in (saved, wanted))
        raise BadFile(f"{path} is of {there}, not of {here}; give another folder, or remove it.")
    return numbers


def _do(unit: Unit, folder: Path, share: Share) -> None:
    seal = unit.seal  # before the work: the files that it begins with
    computed = computing_record(unit.precision, unit.device, unit.route)
    numbers = json.loads(json.dumps({"about": unit.about, **unit.work(share), "computed": computed}))
    write_unit(folder, unit.name, sealed(numbers, seal))
    share(1.0)


def _one_by_one(units: Sequence[Unit], folder: Path, report: Callable[[float], None]) -> None:
    for number, unit in enumerate(units):

        def share(done: float, before: int = number) -> None:
            report(before + done)

        _do(unit, folder, share)
