"""What a run over a corpus costs: workers, slices, Ray, memory, disk, questions in SQL, copied rows and the estimate.

    python -m benchmarks.corpus_jobs    # about half an hour; goes on after an interruption

It writes benchmarks/results/corpus_jobs.json and docs/corpus-speed.md. A bag of words (a table of vectors, weighed and
added up, without any layer) reads generated texts of twenty words, so nearly all of the time is the run's own; and
all-MiniLM-L6-v2 reads reviews that are cut to a hundred words. Whole commands are timed, with their start.
"""

import argparse
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModel, BertConfig

import pellucid
from benchmarks.attribution.models import LABELS, folder_of
from benchmarks.attribution.results import Results, publish
from benchmarks.corpus_page import as_page
from benchmarks.guard import ROOT
from pellucid.models.classifiers.hugging_face import load_tokenizer, minilm_source
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan, composed_network

WORDS, WIDTH, VOCABULARY = 20, 32, 20_000  # of a generated text; of a word's vector; words that are drawn
MILLION, MANY, FEW = 1_000_000, 100_000, 10_000
REVIEWS, REVIEW_WORDS = 20_000, 100
RENEWED = 20  # of so many texts one is new
METHOD = "gradient_x_input"
BY_CLASS = "select predicted, word, avg(score), count(*) from words group by all having count(*) > 100 order by 3 desc limit 50"


def bag_of_words(folder: Path) -> Path:
    """A model of words alone, made once."""
    if not (folder / "tokenizer.json").exists():
        tokenizer = load_tokenizer(minilm_source())
        torch.manual_seed(0)
        config = BertConfig(hidden_size=WIDTH, num_hidden_layers=0, num_attention_heads=1, intermediate_size=WIDTH)
        plan = Plan("bag of words", "additive", {}, LABELS, "single_label")
        network = composed_network(AutoModel.from_config(config, add_pooling_layer=False), plan).eval()
        save_composed(network, tokenizer, plan, folder)
    return folder


def texts_file(path: Path, count: int, renewed: bool = False) -> Path:
    """Generated texts, a line each, whose words are as frequent as in a language; of some a twentieth is new."""
    if not path.exists():
        names = sorted(word for word in load_tokenizer(minilm_source()).get_vocab() if re.fullmatch("[a-z]{3,}", word))
        names = names[:VOCABULARY]
        weights = list(accumulate(1 / (rank + 10) for rank in range(len(names))))
        draw, beside = random.Random(0), path.with_suffix(".part")
        with beside.open("w", encoding="utf-8") as file:
            for number in range(count):
                text = " ".join(draw.choices(names, cum_weights=weights, k=WORDS))
                file.write(f"{text} again\n" if renewed and number % RENEWED == 0 else f"{text}\n")
        beside.replace(path)
    return path


def reviews_file(path: Path) -> Path:
    """Reviews of films, cut to their first words."""
    if not path.exists():
        source = Path(os.environ["PELLUCID_DATA"]) / "imdb_unlabelled" / "train.jsonl.gz"
        with gzip.open(source, "rt", encoding="utf-8") as file:
            reviews = [json.loads(line)["text"] for line in file][:REVIEWS]
        cut = (" ".join(review.split()[:REVIEW_WORDS]) for review in reviews)
        path.write_text("\n".join(cut) + "\n", encoding="utf-8")
    return path


def explained(model: Path, data: Path, *more: Any) -> list[str]:
    """The command that explains data."""
    words = [sys.executable, "-m", "pellucid", "explain", model, "--data", data, "--method", METHOD, *more]
    return [str(word) for word in words]


# Linux counts the memory of a process from before its program is there, so that of the large one which started it. A small one
# starts each command, waits for it, and writes down the cost of it and of those that it waited for.
STARTER = (
    "import json, os, sys\n"
    "process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)\n"
    "_, status, cost = os.wait4(process, 0)\n"
    "json.dump([cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024], open(sys.argv[1], 'w'))\n"
    "sys.exit(os.waitstatus_to_exitcode(status))\n"
)


def timed(commands: Sequence[list[str]]) -> dict[str, Any]:
    """Wall and processor seconds of commands that run at once, and the memory of the largest of their processes."""
    began, environment = time.perf_counter(), os.environ | {"OMP_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        costs = [Path(folder) / str(number) for number in range(len(commands))]
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", STARTER, str(cost), *command],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for command, cost in zip(commands, costs, strict=True)
        ]
        outputs = []
        for process in processes:
            output, errors = process.communicate()
            if process.returncode:
                raise SystemExit(errors)
            outputs.append(output)
        seconds = time.perf_counter() - began
        processor, megabytes = zip(*(json.loads(cost.read_text()) for cost in costs), strict=True)
    return {
        "seconds": seconds,
        "processor": sum(processor),
        "megabytes": max(megabytes),
        "output": outputs[0].strip(),
    }


def pace(folder: Path) -> float:
    """Texts a second between the first receipt and the last, so without the start and the plan."""
    times = sorted((path.stat().st_mtime, int(path.stem)) for path in (folder / "shards").glob("*.json"))
    rows = pellucid.open_run(folder).job
    done = sum(len(rows.rows_of(shard)) for moment, shard in times if moment > times[0][0])
    return done / (times[-1][0] - times[0][0])


def ran(folder: Path, commands: Sequence[list[str]]) -> dict[str, Any]:
    """A run from nothing, timed, with its pace and its size."""
    shutil.rmtree(folder, ignore_errors=True)
    record = timed(commands)
    run = pellucid.open_run(folder)
    size = sum(path.stat().st_size for path in (folder / "shards").glob("*.parquet"))
    return record | {"texts": len(run), "pace": pace(folder), "bytes": size, "reused": run.reused}


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("runs/corpus_jobs"), help="models, texts and runs")
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "corpus_jobs.json")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = Results(options.out, "cpu", options.fresh)
    for name, case in cases(options.work).items():
        if not results.has(name):
            print(name, flush=True)
            results.keep(name, case())
    publish(results.contents, "corpus_jobs", as_page(results.contents), "corpus-speed")


def cases(work: Path) -> dict[str, Any]:
    """Every case by its name, a function that measures it."""
    model = bag_of_words(work / "bag")
    few, many = texts_file(work / "few.txt", FEW), texts_file(work / "many.txt", MANY)

    def run_of(data: Path, name: str, *more: Any, slices: int = 1) -> dict[str, Any]:
        out = work / name
        lines = [explained(model, data, "--yes", "--out", out, *more)]
        if slices > 1:
            lines = [[*lines[0], "--slice", f"{number}/{slices}"] for number in range(1, slices + 1)]
        return ran(out, lines)

    def copied() -> dict[str, Any]:
        return run_of(texts_file(work / "renewed.txt", MANY, True), "renewed", "--reuse", work / "many-1")

    return {
        "10,000 texts, 1 worker": lambda: run_of(few, "few"),
        "100,000 texts, 1 worker": lambda: run_of(many, "many-1"),
        "100,000 texts, 2 workers": lambda: run_of(many, "many-2", "--workers", 2),
        "100,000 texts, 2 slices": lambda: run_of(many, "many-s2", slices=2),
        "100,000 texts, 4 slices": lambda: run_of(many, "many-s4", slices=4),
        "100,000 texts, Ray, 2 workers": lambda: run_of(many, "many-ray", "--workers", 2, "--engine", "ray"),
        "100,000 texts, a twentieth new": copied,
        "100,000 texts, in memory": lambda: in_memory(model, many),
        "1,000,000 texts, 2 workers": lambda: million(model, work),
        "20,000 reviews, 2 workers": lambda: reviews(work),
    }


def in_memory(model: Path, data: Path) -> dict[str, Any]:
    """`explain` of a list in memory, by one thread, nothing kept."""
    program = (
        "import sys, time, torch, pellucid\n"
        "torch.set_num_threads(1)\n"
        "model, texts = pellucid.load(sys.argv[1]), open(sys.argv[2]).read().splitlines()\n"
        "pellucid.explain(model, texts[:64], sys.argv[3], progress=False)\n"
        "began = time.perf_counter()\n"
        "results = pellucid.explain(model, texts, sys.argv[3], progress=False)\n"
        "print(len(results) / (time.perf_counter() - began))"
    )
    record = timed([[sys.executable, "-c", program, str(model), str(data), METHOD]])
    return record | {"pace": float(record["output"].split()[-1])}


def million(model: Path, work: Path) -> dict[str, Any]:
    """A million texts: the run, its estimate before, and a question to it."""
    data = texts_file(work / "million.txt", MILLION)
    estimate = timed([explained(model, data, "--estimate", "--workers", 2)])["output"]
    record = ran(work / "million", [explained(model, data, "--yes", "--out", work / "million", "--workers", 2)])
    began = time.perf_counter()
    rows = pellucid.open_run(work / "million").query(BY_CLASS).to_pylist()
    return record | {"estimate": estimate, "query": time.perf_counter() - began, "answers": len(rows)}


def reviews(work: Path) -> dict[str, Any]:
    """Reviews through a transformer."""
    model, data, out = folder_of("minilm", work), reviews_file(work / "reviews.txt"), work / "reviews"
    estimate = timed([explained(model, data, "--estimate", "--workers", 2)])["output"]
    return ran(out, [explained(model, data, "--yes", "--out", out, "--workers", 2)]) | {"estimate": estimate}


if __name__ == "__main__":
    main()
