"""Which Pythons, versions and extras the wheel works with: `python -m supply.matrix --wheel FILE --work FOLDER`.

A cell is one extra in an environment of its own, where the program of `supply/extras.py` runs. Environments begin as a
copy, by hard links, of one with the wheel alone, so that a cell costs what its extra costs. The same command goes on
after any interruption; `--python` names further interpreters, `--rows` and `--extras` what to run. The table is
written after every cell.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from supply.extras import PROGRAMS, program
from supply.lock import ROOT

RESULTS, TABLE = ROOT / "supply" / "matrix.json", ROOT / "docs" / "versions-tried.md"
LONGEST = 1800  # seconds of a cell
NONE = "none"  # how the wheel without extras is called
REPORTED = ("torch", "transformers", "numpy")


@dataclass(frozen=True)
class Row:
    """A choice of versions. pinned: by constraints.txt; packages: what else is asked for."""

    name: str
    pinned: bool
    packages: tuple[str, ...] = ()
    extras: tuple[str, ...] = tuple(PROGRAMS)

    def arguments(self) -> list[str]:
        """What pip is asked for besides the wheel."""
        return [*(("-c", str(ROOT / "constraints.txt")) if self.pinned else ()), *self.packages]


ROWS = {
    row.name: row
    for row in (
        Row("pinned", pinned=True),
        Row("newest", pinned=False),
        Row("floor", False, ("torch==2.6.0", "transformers==5.0.0", "numpy==2.0.0"), ("",)),
    )
}


@dataclass(frozen=True)
class Interpreter:
    """A Python, by its path, such as /usr/bin/python3.12."""

    path: str

    @property
    def version(self) -> str:
        """Such as 3.12.1; raises `SystemExit` where it cannot run."""
        command = [self.path, "-c", "import platform; print(platform.python_version())"]
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"{self.path} is no Python that runs here ({error}); give the path of one.") from None


@dataclass(frozen=True)
class Matrix:
    """The cells of a wheel, and where their environments and results are."""

    wheel: Path
    work: Path

    def cells(
        self, pythons: Sequence[Interpreter], rows: Sequence[str], extras: Sequence[str]
    ) -> Iterator[tuple[Interpreter, Row, str]]:
        """Every cell of these Pythons, rows and extras."""
        for python in pythons:
            for row in map(ROWS.__getitem__, rows):
                yield from ((python, row, extra) for extra in row.extras if (extra or NONE) in extras)

    def base(self, python: Interpreter, row: Row) -> Path:
        """The environment of the wheel without extras; made once."""
        folder = self.work / f"{python.version}-{row.name}"
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([python.path, "-m", "venv", str(folder)], check=True)
            install(folder, str(self.wheel), row.arguments())
            (folder / "ready").touch()
        return folder

    def tried(self, python: Interpreter, row: Row, extra: str) -> dict[str, object]:
        """What came of a cell."""
        begun, cell = time.monotonic(), self.work / "cell"
        shutil.rmtree(cell, ignore_errors=True)
        try:
            shutil.copytree(self.base(python, row), cell, copy_function=os.link, symlinks=True)
            if extra:
                install(cell, f"{self.wheel}[{extra}]", row.arguments())
            outcome = run_program(cell, program(extra))
        except subprocess.CalledProcessError as error:
            outcome = f"not installed: {last_line(error.stderr)}"
        versions = versions_in(cell) if cell.exists() else {}
        shutil.rmtree(cell, ignore_errors=True)
        return {"outcome": outcome, **versions, "seconds": round(time.monotonic() - begun)}


def install(folder: Path, what: str, arguments: Sequence[str]) -> None:
    """Install by the environment's own pip."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", what, *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST)


def run_program(folder: Path, text: str) -> str:
    """Run a program in an empty folder, with nothing of this repository on its path; returns "works", or the last line
    of what went wrong.
    """
    place = folder / "empty"
    place.mkdir()
    settings = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": "", "PYTHONSAFEPATH": "1"}
    command = [str(folder / "bin" / "python"), "-W", "ignore", "-c", text]
    done = subprocess.run(
        command, cwd=place, env=os.environ | settings, capture_output=True, text=True, timeout=LONGEST
    )
    return "works" if done.returncode == 0 else f"fails: {last_line(done.stderr)}"


def last_line(text: str) -> str:
    """The last line with words."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it ended without a word")


def versions_in(folder: Path) -> dict[str, str]:
    """The versions of what computes, as installed there."""
    code = f"import json; from importlib.metadata import version; print(json.dumps(list(map(version, {REPORTED!r}))))"
    done = subprocess.run([str(folder / "bin" / "python"), "-c", code], capture_output=True, text=True)
    return dict(zip(REPORTED, json.loads(done.stdout), strict=True)) if done.returncode == 0 else {}


def table(results: dict[str, dict[str, object]]) -> str:
    """The results as a page."""
    head = "| Python | versions | torch, transformers, NumPy | extra | |\n|---|---|---|---|---|"
    rows = []
    for key, result in sorted(results.items()):
        python, row, extra = key.split(" ", 2)
        versions = ", ".join(str(result.get(name, "–")) for name in REPORTED)
        rows.append(f"| {python} | {row} | {versions} | {extra} | {result['outcome']} |")
    intro = (
        "# Versions that were tried\n\n"
        "Each line is an environment of its own with the wheel and one extra, in which a small program used both "
        "(`supply/extras.py`). Without an extra it also ran the lines of README.md; with `studio` it started "
        "`pellucid open` and asked for its first page. Pinned: the versions of `constraints.txt`. Newest: what pip "
        "chose. Floor: the lowest versions that `pyproject.toml` allows. Written by `python -m supply.matrix`.\n\n"
    )
    return "\n".join([intro + head, *rows]) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    """Run the cells that have not been run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="the wheel, such as dist/pellucid-…-none-any.whl")
    parser.add_argument("--work", type=Path, required=True, help="a folder for the environments; some gigabytes each")
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="paths of interpreters")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), help="which versions")
    names = [extra or NONE for extra in PROGRAMS]
    parser.add_argument("--extras", nargs="+", default=names, choices=names, help="which extras; none: the wheel alone")
    options = parser.parse_args(words)
    if not options.wheel.is_file():
        raise SystemExit(f"{options.wheel} is no file; build the wheel with make release, and give its path.")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    matrix = Matrix(options.wheel.resolve(), options.work.resolve())
    cells = list(matrix.cells([Interpreter(path) for path in options.python], options.rows, options.extras))
    for place, (python, row, extra) in enumerate(cells, 1):
        key = f"{python.version} {row.name} {extra or NONE}"
        if results.get(key, {}).get("outcome") != "works":
            results[key] = matrix.tried(python, row, extra)
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            TABLE.write_text(table(results), encoding="utf-8")
        print(f"{place}/{len(cells)} {key}: {results[key]['outcome']}", flush=True)


if __name__ == "__main__":
    main()
