"""The span layer against the formulation that holds every span, the floor of the machine, and a training step.

    python -m benchmarks.span_layer                   all of it; goes on where an interrupted run stopped
    python -m benchmarks.span_layer --device cuda     the Triton route on a GPU
    python -m benchmarks.span_layer --draw            only the page, from finished cases

Results are saved in benchmarks/results/span_layer.json after every case, and drawn to docs/span-layer.md.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.attribution.results import Results
from benchmarks.span import task
from benchmarks.span.cases import Case, all_cases
from benchmarks.span.cuda_page import write_cuda_page
from benchmarks.span.page import write_page

ROOT = Path(__file__).parent.parent


def measured(case: Case, device: str) -> dict:
    """The answer of a fresh process, on a GPU of this one; {"failed": why} where there is none."""
    if device == "cuda":
        try:
            return json.loads(json.dumps(task.answer(dict(case.request))))
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}
    environment = os.environ | case.environment | {"OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    command = [sys.executable, "-m", "benchmarks.span.task", json.dumps(case.request)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return {"failed": lines[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--gigabytes", type=float, default=8, help="the most that the literal side may take")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--fresh", action="store_true", help="forget finished cases")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    settings = parser.parse_args()
    name = "span_layer" if settings.device == "cpu" else "span_layer-cuda"
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    if settings.draw:
        contents = json.loads(path.read_text(encoding="utf-8"))
    else:
        results = Results(path, settings.device, settings.fresh)
        for case in all_cases(settings.device, settings.gigabytes):
            if case.name.startswith(settings.only) and not results.has(case.name):
                results.keep(case.name, measured(case, settings.device))
                print(case.name, results.records[case.name], flush=True)
        contents = results.contents
    write = write_page if settings.device == "cpu" else write_cuda_page
    print(write(contents, ROOT / "docs").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
