"""The section of docs/performance.md about tests of attention and training with it, from the results of their
benchmark.
"""

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.attribution.states import HEAD, RESULTS, limit_row
from benchmarks.attribution.table import listed

# Part of the results -> what it measures, its must and its aim; ratios, then seconds.
RATIOS = {
    "tests": (
        "uniform weights, 100 permutations, erasure and probabilities of units ÷ one plain forward pass, both from "
        "texts",
        1.5,
        1.2,
    ),
    "masked_words": ("a step with masked_words ÷ a plain step", 3, 2),
}
SECONDS = {
    "search": ("farthest weights, {texts:,} texts of two classes", 60, 15),
    "information": ("mutual information, {groups:,} groups, {states:,} states", 300, 60),
    "epoch": ("additive BiLSTM, an epoch of {texts:,} sentences, frozen vectors", 60, 25),
}


def attention_section(folder: Path = RESULTS) -> str:
    """Each number that was measured beside what it must and should be."""
    record: dict[str, Any] = json.loads((folder / "attention.json").read_text(encoding="utf-8"))
    rows = [
        limit_row(what, record[name]["ratio"], f"{record[name]['ratio']:.2f} x", must, aim)
        for name, (what, must, aim) in RATIOS.items()
        if name in record
    ]
    for name, (what, must, aim) in SECONDS.items():
        if name in record:
            seconds = statistics.median(record[name]["seconds"])
            rows.append(limit_row(what.format_map(record[name]), seconds, f"{seconds:.1f} s", must, aim))
    load, cores = record["made_on"]["load_before"], record["made_on"]["cores"]
    return (
        "## Attention\n\nSentences of SST-2; the tests are of its dev part. One thread, seconds of the processor, "
        f"beside other work (load {load:.1f} on {cores} cores), which makes them longer than on a quiet machine. "
        f"`python -m benchmarks.attention --data FOLDER`, where FOLDER has SST-2 as `train.jsonl.gz` and "
        f"`dev.jsonl`.\n\n{listed(rows, HEAD)}"
    )
