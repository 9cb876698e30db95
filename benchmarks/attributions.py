"""Every attribution method against the floor and against captum, shap and lime: time, tokens and memory.

    python -m benchmarks.attributions            # what is not measured yet, then the tables (about 60 minutes)
    python -m benchmarks.attributions --fresh    # everything anew
    python -m benchmarks.attributions --quick    # a smoke run of two minutes, kept apart; its numbers mean nothing
    python -m benchmarks.attributions --draw     # docs/performance.md and its picture again, from what is there
    python -m benchmarks.attributions --device cuda

Each case runs in a process of its own. Run it on a quiet machine: `docs/performance.md` says how to read the numbers.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.attribution.cases import BY_ROUTE, Case, all_cases, cuda_cases
from benchmarks.attribution.cuda_page import write_cuda_page
from benchmarks.attribution.fresh import in_fresh_process, in_this_process
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.page import write_page
from benchmarks.attribution.results import Results, cores
from benchmarks.attribution.targets import verdicts
from docs.pictures.drawn import record
from pellucid.run.diagnostics import EAGER

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WORK = ROOT / "runs" / "benchmark"
SECONDS, CUDA_SECONDS, QUICK_SECONDS = (
    4.0,
    1.0,
    0.3,
)  # ideal time of a run; the sample of texts is drawn for it
CUDA_PEER_TEXTS = 4  # that captum explains, one by one; whatever it does with them fills no GPU
QUICK = ("gradient", "together", "integrated_gradients", "occlusion", "kernel_shap", "lime", "partition")
DRAWN_FROM = ("benchmarks/attribution/picture.py", "benchmarks/results/attributions.json")
STUDIES = ("peak_memory", "half_precision", "same_error")
SHAPLEY = "benchmarks.shapley_error"


class Run:
    """One go through all cases."""

    def __init__(self, results: Results, device: str, quick: bool) -> None:
        self.results, self.device, self.quick = results, device, quick

    def one(self, name: str, module: str, request: dict[str, Any]) -> dict[str, Any]:
        """Measure it if it is not measured, and say what came of it."""
        if not self.results.has(name):
            start = time.perf_counter()
            request = {"device": self.device, "quick": self.quick, **request}
            answer = in_fresh_process if self.device == "cpu" else in_this_process
            self.results.keep(name, answer(module, request))
            print(
                f"{name}: {_in_brief(self.results.records[name])} [{time.perf_counter() - start:.0f} s]",
                flush=True,
            )
        return self.results.records[name]

    def floor(self, case: Case, folder: Path) -> dict[str, Any]:
        """The best batches for the case's texts, model and threads."""
        name = f"floor / {case.texts} / {case.place}"
        request = {"folder": str(folder), "texts": case.texts, "threads": case.threads}
        return self.one(name, "benchmarks.attribution.finding_floor", request)

    def peak(self, case: Case) -> None:
        """What the processor can do with the case's threads."""
        if self.device == "cpu":
            request = {"threads": case.threads}
            self.one(f"peak / {case.threads_in_words}", "benchmarks.attribution.peak_product", request)

    def route(self, case: Case, folder: Path) -> str:
        """The route of the case's passes; "" where it has to be another than eager and none is faster."""
        if case.by != BY_ROUTE:
            return EAGER
        request = {"folder": str(folder), "threads": case.threads}
        name = self.one(f"route / {case.place}", "benchmarks.attribution.finding_route", request).get("name")
        return name if name and name != EAGER else ""

    def case(self, case: Case) -> None:
        """Time it."""
        folder = folder_of(case.model, WORK)
        self.peak(case)
        floor = self.floor(case, folder)
        route = self.route(case, folder)
        if "failed" in floor or not route:
            return
        best = floor[case.definition.passes]
        request = {
            "case": asdict(case),
            "way": best["way"],
            "expected": best["tokens_per_second"],
            "seconds": QUICK_SECONDS if self.quick else SECONDS if self.device == "cpu" else CUDA_SECONDS,
            "most": CUDA_PEER_TEXTS if self.device == "cuda" and case.by != "pellucid" else None,
            "folder": str(folder),
            "route": route,
        }
        self.one(case.name, "benchmarks.attribution.measuring", request)

    def studies(self) -> None:
        """Memory, number format, and evaluations to the same error."""
        folder = folder_of("minilm", WORK)
        floor = self.results.records["floor / short / minilm, 1 thread"]
        request = {
            "folder": str(folder),
            "expected": floor.get("forward", {}).get("tokens_per_second", 3000.0),
        }
        for study in STUDIES:
            self.one(study, f"benchmarks.attribution.{study}", request)
        if not self.quick:
            self.shapley()

    def shapley(self) -> None:
        """Evaluations to captum's error of Shapley values: a benchmark of its own, which writes a file."""
        if self.results.has("shapley_error"):
            return
        path = WORK / "shapley_error.json"
        command = [sys.executable, "-m", SHAPLEY, "--out", str(path), "--folder", str(WORK / "games")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
        failed = {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        read = failed if done.returncode else json.loads(path.read_text(encoding="utf-8"))
        self.results.keep("shapley_error", read)
        print(f"shapley_error: {_in_brief(read)}", flush=True)


def smoke(case: Case) -> bool:
    """Whether a smoke run includes the case."""
    usual = case.texts == "short" and case.model == "minilm" and case.threads == 1
    return usual and case.method in QUICK and not case.by.endswith("tuned")


def _in_brief(record: dict[str, Any]) -> str:
    for word in ("skipped", "failed"):
        if word in record:
            return f"{word}: {record[word]}"
    if "why" in record:
        return f"{record['name']}: {record['why']}"
    if "ratio" in record:
        part = f"{record['sampled_texts']} of {record['texts']} texts"
        return f"{record['seconds']:.1f} s, {record['ratio']:.2f} x the floor, {record['megabytes']:.0f} MB ({part})"
    return "done"


def main() -> None:
    """Measure, print the verdicts, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="", help="cases whose name has this word in it")
    options = parser.parse_args()
    name = "attributions" if options.device == "cpu" else f"attributions-{options.device}"
    path = WORK / "quick.json" if options.quick else RESULTS / f"{name}.json"
    if options.draw:
        contents = json.loads(path.read_text(encoding="utf-8"))
        records = contents["records"]
    else:
        results = Results(path, options.device, options.fresh or options.quick)
        contents, records = results.contents, results.records
        print(json.dumps({"made_on": results.contents["made_on"], "versions": results.contents["versions"]}, indent=1))
        run = Run(results, options.device, options.quick)
        for case in all_cases(cores()) if options.device == "cpu" else cuda_cases():
            skip = options.quick and not smoke(case)
            if options.only in case.name and not skip:
                run.case(case)
        if not options.only and options.device == "cpu":
            run.studies()
    for line in verdicts(records, options.device):
        print(line)
    if not options.quick:
        write = write_page if options.device == "cpu" else write_cuda_page
        print(f"Written: {write(contents, ROOT / 'docs')}")
        if options.device == "cpu":
            record("python -m benchmarks.attributions --draw", DRAWN_FROM, ["docs/pictures/performance.png"])


if __name__ == "__main__":
    main()
