"""What do learnt concepts of a corpus cost? 20 concepts of 20,000 sentences by MiniLM: the passes alone, and the whole.

    python -m benchmarks.concepts --data ag_news --out benchmarks/results/concepts.json    # some minutes a part

--data is the name of a data set, a file or a folder; the first --texts of all its parts are taken. Each part runs in a
process of its own: `passes` reads the states of the layer, as many as concepts are found in; `whole` is all of
`find_concepts`, with the passes in which concepts are taken out and those of the texts that are shown. What comes on top
of passes is the whole less the seconds in which the network itself ran. Seconds on the clock, and of the processor,
which other work disturbs less; memory is the growth of the process beyond the model. Parts that were measured are kept,
and an interrupted benchmark goes on.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from functools import wraps
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import Results
from benchmarks.guard import ROOT
from pellucid.base.processes import Progress
from pellucid.discovery.states import MOST_STATES, sampled_states, state_question

PARTS = ("passes", "whole")
LAYER, CONCEPTS, THREADS = 4, 20, 2
MUST = {"seconds beyond the passes": 240, "megabytes": 500}
WARM = ["A gripping, lovely film.", "A dull, long film.", "Fine acting."] * 10


def measured(part: str, data: str, count: int, method: str) -> dict[str, Any]:
    """Seconds on the clock and of the processor, and peak memory beyond the model, of one part in this process."""
    torch.set_num_threads(THREADS)
    model = pellucid.load(folder_of("minilm", ROOT / "runs" / "benchmark"))
    texts = pellucid.examples(data, "all")[:count]
    pellucid.find_concepts(model, WARM, LAYER, n=2, n_texts=2, method="svd", progress=False)
    stages, in_network = Stages(), timed_forward(model.network)
    before, start, start_of_processor = resident("cpu"), time.perf_counter(), time.process_time()
    with peak("cpu", before) as highest:
        if part == "passes":
            question = state_question(model, texts, LAYER, "word", MOST_STATES, 0)
            sampled_states(question, None, stages.report)
        else:
            pellucid.find_concepts(model, texts, LAYER, n=CONCEPTS, method=method, progress=stages.report)
    return {
        "texts": len(texts),
        "method": method,
        "seconds": time.perf_counter() - start,
        "seconds_of_processor": time.process_time() - start_of_processor,
        "seconds_in_network": sum(in_network),
        "peak_mb": highest.megabytes,
        "seconds_by_stage": dict(stages.seconds),
    }


def timed_forward(network: torch.nn.Module) -> list[float]:
    """Gets the seconds on the clock of each call of the network from now on; of no backward pass."""
    forward, seconds = network.forward, list[float]()

    @wraps(forward)
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return forward(*args, **kwargs)
        finally:
            seconds.append(time.perf_counter() - start)

    network.forward = timed
    return seconds


class Stages:
    """Seconds of each stage that reports its progress; what comes after the last report of one is "the rest"."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.stage, self.since = "the rest", time.perf_counter()

    @property
    def report(self) -> Progress:
        """What the stages call."""
        return self._reported

    def _reported(self, stage: str, done: int, total: int) -> None:
        now = time.perf_counter()
        self.seconds[self.stage] += now - self.since
        self.stage, self.since = ("the rest" if done >= total else stage), now


def in_own_process(arguments: argparse.Namespace, part: str) -> dict[str, Any]:
    """The same in a new process."""
    command = [sys.executable, "-m", "benchmarks.concepts", "--data", arguments.data, "--alone", part]
    command += ["--texts", str(arguments.texts), "--method", arguments.method]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    numbers: dict[str, Any] = json.loads(answer.splitlines()[-1])
    return numbers


def verdict(passes: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """What comes on top of the passes, beside what is wanted; and on top of reading the texts once."""
    return {
        "seconds beyond the passes": whole["seconds"] - whole["seconds_in_network"],
        "seconds beyond reading": whole["seconds"] - passes["seconds"],
        "processor seconds beyond reading": whole["seconds_of_processor"] - passes["seconds_of_processor"],
        "megabytes": whole["peak_mb"],
        "wanted at most": MUST,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="a data set, a file or a folder")
    parser.add_argument("--texts", type=int, default=20_000, help="how many")
    parser.add_argument("--method", default="nmf", help="how concepts are found")
    parser.add_argument("--alone", choices=PARTS, help="measure this part in this process and print it as JSON")
    parser.add_argument("--fresh", action="store_true", help="measure again what the file has")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "concepts.json")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measured(arguments.alone, arguments.data, arguments.texts, arguments.method)))
        return
    results, names = Results(arguments.out, "cpu", arguments.fresh), {}
    for part in PARTS:
        names[part] = f"{part}, {arguments.method}, {arguments.texts} texts"
        if not results.has(names[part]):
            results.keep(names[part], in_own_process(arguments, part))
        print(names[part], results.records[names[part]])
    last = verdict(*(results.records[names[part]] for part in PARTS))
    results.keep(f"verdict, {arguments.method}, {arguments.texts} texts", last)
    print(last)


if __name__ == "__main__":
    main()
