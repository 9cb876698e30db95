"""A numbered case of spoilt files: drawn from its number alone, so `python -m tests.hostile.fuzz 1234` runs it again."""

import resource
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType

from pellucid.core.foundation.errors import PellucidError
from tests.hostile.doors import Door, doors
from tests.hostile.mutations import spoiled
from tests.hostile.promises import told_well

SECONDS = 20  # that a case may take
ROOM = 3 << 30  # bytes that a case may take besides what there is
# How often a door is tried; data of all formats together come to a quarter.
WEIGHTS = {
    "results.json": 8,
    "results.parquet": 8,
    "table": 6,
    "comparison": 1,
    "unfinished comparison": 3,
    "upgrade": 1,
    "hugging_face model": 6,
    "composed model": 6,
}


class TooLong(BaseException):
    """A case takes longer than it may."""


@dataclass(frozen=True)
class Case:
    """A door, one of its files spoilt, and how."""

    number: int
    door: str
    file: str
    held: bytes
    recipe: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.door}, {self.file}: {self.recipe}"


def case_of(number: int, every: Mapping[str, Door]) -> Case:
    """The case of a number."""
    rng = Random(number)
    names = list(every)
    name = rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    file = rng.choice(every[name].targets)
    held, recipe = spoiled(rng, file, every[name].files[file])
    return Case(number, name, file, held, recipe)


def run(case: Case, every: Mapping[str, Door], folder: Path) -> PellucidError | None:
    """Enter by the door; the error that said what is wrong, or None where nothing was. Anything else is raised."""
    door = every[case.door]
    shutil.rmtree(folder, ignore_errors=True)
    for name, held in {**door.files, case.file: case.held}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)
    try:
        with _bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door.enter(folder)
    except PellucidError as error:
        told_well(error)
        return error
    return None


@contextmanager
def _bounded() -> Iterator[None]:
    """So many seconds, and so much memory."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {SECONDS} seconds")

    before, limits = signal.signal(signal.SIGALRM, stop), resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_memory() + ROOM, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_DATA, limits)


def _memory() -> int:
    """Bytes of data that this process has now."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmData:")[2].split()[0])


def main() -> None:
    """Run the cases of these numbers, one after the other."""
    with TemporaryDirectory() as place:
        every = doors(Path(place) / "right")
        for number in map(int, sys.argv[1:]):
            case = case_of(number, every)
            print(case)
            print("  ", run(case, every, Path(place) / "spoilt"))


if __name__ == "__main__":
    main()
