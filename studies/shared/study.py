"""A study: its sizes, its work, the numbers that sum the work up, and the page that shows them.

A study is one folder with a function that returns a `Study` and is registered with `@studies.add()`. The function's
name is the study's name, its docstring is the sentence of the list, and the docstring of its file is the text of
`--help`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pellucid.base.catalogue import Catalogue
from pellucid.base.errors import BadInput
from pellucid.base.processes import Progress, silent
from studies.shared.equal_scores import EqualScores
from studies.shared.options import OUT, PROCESSES, SIZE, Option
from studies.shared.unit_files import RUNS, has_unit
from studies.shared.units import Numbers, Unit, run_units

# A function that returns the study; its docstring is the sentence of the list of studies.
studies = Catalogue("study", room="studies", group="pellucid.studies")
Records = Mapping[str, Any]  # what the work leaves: of `UnitStages` stage -> name of the unit -> its numbers


@dataclass(frozen=True)
class Settings:
    """What one run of a study depends on, and where its files lie.

    size_name, size: a name of `Study.sizes` and what stands under it. out: the folder of numbers and page. data: a
    folder or a data set's name. work: the folder of models and other large files. encoder: "minilm", a folder or a hub
    name. processes: units at a time. finished: do no work, read what is there. own: the values of the options that this
    study alone has, by name. study: its name in the list; "" where it was not run by its command.
    """

    size_name: str
    size: Any
    out: Path
    data: str = ""
    work: Path = Path()
    encoder: str = "minilm"
    device: str = "cpu"
    processes: int = 1
    finished: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)
    study: str = ""

    @property
    def runs(self) -> Path:
        """The folder of the units' files."""
        return self.out / RUNS


Work = Callable[[Settings, Progress], Records]
Drawing = Callable[[Settings, Any], str]  # settings, numbers -> the text of a file


def every_unit(settings: Settings, unit: Unit) -> bool:
    """Every unit may be done."""
    return True


@dataclass(frozen=True)
class UnitStages:
    """Work that consists of units. It goes stage by stage; a stage can read the records of the stages before it.

    units: stage -> (settings, records so far) -> its units. wanted: (settings, unit) -> whether a missing unit is to be
    done now; finished ones are always read.
    """

    units: Mapping[str, Callable[[Settings, Records], Sequence[Unit]]]
    wanted: Callable[[Settings, Unit], bool] = every_unit

    def __call__(self, settings: Settings, progress: Progress) -> Records:
        """The numbers of all units that are finished or wanted. Raises `BadInput` where there are none."""
        records: dict[str, dict[str, Numbers]] = {}
        for stage, units_of in self.units.items():
            units = [unit for unit in units_of(settings, records) if self.is_included(settings, unit)]
            records[stage] = run_units(units, settings.runs, settings.processes, progress, stage)
        if not any(records.values()):
            raise BadInput(f"Nothing is finished in {settings.out}; run without --finished first.")
        return records

    def is_included(self, settings: Settings, unit: Unit) -> bool:
        """Whether a unit's numbers are read, or made in this run."""
        is_finished = has_unit(settings.runs, unit.name)
        return is_finished or (not settings.finished and self.wanted(settings, unit))


@dataclass(frozen=True)
class Study:
    """What the runner needs to know of a study.

    sizes: name -> how much is run, in whatever form the study's functions read. work: the units, or any function that
    leaves records. summary: (settings, records) -> the numbers of result.json. page: (settings, numbers) -> README.md.
    options: what the command line takes besides --size, --out and (with units) --processes. pictures: file name ->
    (settings, numbers) -> SVG. equal_scores: what depends on their order; None where no number ranks words.
    """

    sizes: Mapping[str, Any]
    work: Work
    summary: Callable[[Settings, Records], Any]
    page: Drawing
    options: tuple[Option, ...] = ()
    pictures: Mapping[str, Drawing] = field(default_factory=dict)
    equal_scores: EqualScores | None = None

    @property
    def all_options(self) -> tuple[Option, ...]:
        """The options of every study and those of this one."""
        size = SIZE.changed(choices=None, help=f"one of {', '.join(self.sizes)} (default: %(default)s)")
        if "small" not in self.sizes:
            size = size.changed(default=next(iter(self.sizes)))
        units = (PROCESSES,) if isinstance(self.work, UnitStages) else ()
        return (size, OUT, *self.options, *units)

    def numbers(self, settings: Settings, progress: Progress = silent) -> Any:
        """Do what is missing of the work and sum it up. Finished work is read and not done again."""
        return self.summary(settings, self.work(settings, progress))
