"""Faults of a run over a corpus: processes are killed at random moments, and the files stay those of a quiet run.

    python -m benchmarks.corpus_faults    # about a quarter of an hour; writes benchmarks/results/corpus_faults.json

Two slices of two workers each share a folder; at random moments a child, or a whole command, is ended by SIGKILL and
started again, until so many are gone. The same with actors of Ray. Each folder is compared with that of a run that
nobody disturbed, byte for byte.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.attribution.results import machine_of, versions
from benchmarks.corpus_jobs import bag_of_words, explained, texts_file
from benchmarks.guard import ROOT

TEXTS, KILLS, ACTORS = 60_000, 100, 20
PAUSE = (1.0, 8.0)  # seconds between two kills: a command takes several to begin, and what computes is to be hit
WHOLE = ("rows", "shards", "failures")  # folders whose files are compared; leases come and go


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run by name."""
    paths = [path for name in WHOLE for path in sorted((folder / name).glob("*"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "job.json", *paths)}


def command_line(process: int) -> bytes:
    """How a process was started; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def below(process: int) -> Iterator[int]:
    """The processes that a process has started, and theirs."""
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            numbers = [int(word) for word in path.read_text().split()]
        except OSError:
            continue
        for child in numbers:
            yield child
            yield from below(child)


class Runs:
    """Commands that are started again whenever they have ended before their work."""

    def __init__(self, lines: list[list[str]]) -> None:
        self.lines = lines
        self.processes = [self._started(line) for line in lines]

    def _started(self, line: list[str]) -> subprocess.Popen[bytes]:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def again(self) -> None:
        """Start the commands anew that were killed."""
        for index, process in enumerate(self.processes):
            if process.poll() not in (None, 0):
                self.processes[index] = self._started(self.lines[index])

    def is_done(self) -> bool:
        """Whether every command has ended well."""
        return all(process.poll() == 0 for process in self.processes)

    def victims(self, actors: bool) -> list[tuple[str, int]]:
        """The processes that may be killed, each with its kind; of Ray those that these commands started, and no other's."""
        alive = [process for process in self.processes if process.poll() is None]
        started = [each for process in alive for each in below(process.pid)]
        if actors:
            return [("actor", each) for each in started if command_line(each).startswith(b"ray::_Actor")]
        children = [("child", each) for each in started if b"resource_tracker" not in command_line(each)]
        return [*children, *(("command", process.pid) for process in alive)]


def disturbed(
    folder: Path, lines: list[list[str]], kills: int, quiet: dict[str, bytes], actors: bool
) -> dict[str, Any]:
    """Kill so many processes of runs from nothing, and say how many of each kind and whether all bytes are equal."""
    draw, killed, rounds, equal = random.Random(0), Counter[str](), 0, 0
    while sum(killed.values()) < kills:
        shutil.rmtree(folder, ignore_errors=True)
        runs = Runs(lines)
        rounds += 1
        while not runs.is_done():
            time.sleep(draw.uniform(*PAUSE))
            runs.again()
            victims = runs.victims(actors) if sum(killed.values()) < kills else []
            if victims:
                kind = draw.choice(sorted({kind for kind, _ in victims}))
                process = draw.choice([number for of_kind, number in victims if of_kind == kind])
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                killed[kind] += 1
        equal += contents(folder) == quiet
    return {"killed": dict(killed), "runs": rounds, "equal": equal}


def main() -> None:
    """Disturb runs of both engines, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("runs/corpus_jobs"), help="models, texts and runs")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "corpus_faults.json")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--actors", type=int, default=ACTORS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    model, data = bag_of_words(options.work / "bag"), texts_file(options.work / "faults.txt", TEXTS)
    shutil.rmtree(options.work / "quiet", ignore_errors=True)
    subprocess.run(explained(model, data, "--yes", "--out", options.work / "quiet"), check=True)
    quiet = contents(options.work / "quiet")

    def lines(folder: Path, *more: Any) -> list[str]:
        return explained(model, data, "--yes", "--out", folder, "--workers", 2, *more)

    slices, ray = options.work / "disturbed", options.work / "disturbed-ray"
    by_slices = [lines(slices, "--slice", f"{number}/2") for number in (1, 2)]
    record = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "texts": TEXTS,
        "slices": disturbed(slices, by_slices, options.kills, quiet, actors=False),
        "ray": disturbed(ray, [lines(ray, "--engine", "ray")], options.actors, quiet, actors=True),
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
