"""What does retained information of a corpus cost? Sentences of SST-2 in every layer of MiniLM: time, and memory beyond
the model.

    python -m benchmarks.retained_corpus --data FOLDER --out benchmarks/results/retained_corpus.json    # some minutes

FOLDER has SST-2's sentences as dev.jsonl. Each number of texts is explained in a process of its own, so that peaks of
memory can be compared: flat memory is as much for many texts as for few. Two threads; seconds on the clock, and of the
processor, which other work disturbs less.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.results import machine_of, versions
from benchmarks.retained_information import minilm

THREADS = 2
WARM = "A gripping, lovely film."


def measured(data: str, count: int) -> dict[str, Any]:
    """Time, peak memory and evaluations for the first sentences of the dev part."""
    torch.set_num_threads(THREADS)
    model, texts = minilm(), pellucid.examples(data, "dev")[:count]
    state = pellucid.HiddenState("all", "all")
    pellucid.explain(model, WARM, "retained_information", target=state, progress=False)
    before, start, start_of_processor = resident("cpu"), time.perf_counter(), time.process_time()
    with peak("cpu", before) as highest:
        results = pellucid.explain(model, texts, "retained_information", target=state, progress=False)
    rows = [diagnostics for one in results for diagnostics in one.row_diagnostics]
    return {
        "texts": len(texts),
        "layers": len(results[0].rows[0][1]),
        "seconds": time.perf_counter() - start,
        "seconds_of_processor": time.process_time() - start_of_processor,
        "peak_mb": highest.megabytes,
        "evaluations": sum(one["evaluations"] for one in rows) / len(rows),
        "settled": sum(one["converged"] for one in rows) / len(rows),
    }


def in_own_process(data: str, count: int) -> dict[str, Any]:
    """The same in a new process."""
    command = [sys.executable, "-m", "benchmarks.retained_corpus", "--data", data, "--alone", str(count)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    numbers: dict[str, Any] = json.loads(answer)
    return numbers


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with dev.jsonl")
    parser.add_argument("--texts", type=int, nargs="+", default=[25, 100], help="numbers of texts")
    parser.add_argument("--alone", type=int, help="measure this number in this process and print it as JSON")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measured(arguments.data, arguments.alone)))
        return
    rows = []
    for count in arguments.texts:
        rows.append(in_own_process(arguments.data, count))
        print(rows[-1])
    if arguments.out is not None:
        about = {"machine": machine_of("cpu"), "versions": versions(), "threads": THREADS}
        arguments.out.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
