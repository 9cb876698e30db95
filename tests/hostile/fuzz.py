"""Numbered cases of spoilt files. A case depends on its number alone: `python -m tests.hostile.fuzz 1234` repeats
one.
"""

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

from pellucid.base.errors import PellucidError
from tests.hostile.assertions import assert_good_message
from tests.hostile.entry_points import EntryPoint, entry_points
from tests.hostile.spoilt_by_seed import spoilt_file

SECONDS = 20  # that a case may take
MEMORY = 3 << 30  # bytes that a case may take besides what there is
# How often an entry point is tried; data of all formats together come to a quarter.
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
    """An entry point, one of its files spoilt; recipe: what was changed, in words."""

    number: int
    entry_point: str
    file: str
    content: bytes
    recipe: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.entry_point}, {self.file}: {self.recipe}"


def case_of(number: int, every: Mapping[str, EntryPoint]) -> Case:
    """The case of a number."""
    rng = Random(number)
    names = list(every)
    name = rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    file = rng.choice(every[name].targets)
    content, recipe = spoilt_file(rng, file, every[name].files[file])
    return Case(number, name, file, content, recipe)


def run(case: Case, every: Mapping[str, EntryPoint], folder: Path) -> PellucidError | None:
    """Read the files of a case: returns the error that said what is wrong, or None; any other error is raised."""
    entry_point = every[case.entry_point]
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**entry_point.files, case.file: case.content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    try:
        with _bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            entry_point.read(folder)
    except PellucidError as error:
        assert_good_message(error)
        return error
    return None


@contextmanager
def _bounded() -> Iterator[None]:
    """Raises an error after too many seconds, or for too much memory."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {SECONDS} seconds")

    before, limits = signal.signal(signal.SIGALRM, stop), resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_memory() + MEMORY, limits[1]))
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
        every = entry_points(Path(place) / "right")
        for number in map(int, sys.argv[1:]):
            case = case_of(number, every)
            print(case)
            print("  ", run(case, every, Path(place) / "spoilt"))


if __name__ == "__main__":
    main()
