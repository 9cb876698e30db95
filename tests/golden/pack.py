"""Saved results, comparison folders and trained folders of this version, packed: `python -m tests.golden.pack`.

The archive is made once a version and then stays: what it holds is what users have on their disks.
"""

import json
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import pellucid
from pellucid.comparison.folder import TABLE
from pellucid.results.table import Table
from tests.frozen_outputs import COMMANDS, make_inputs, run

ARCHIVE = Path(__file__).parent / f"version-{pellucid.__version__}.tar.xz"
EXPECTED = "expected.json"
WORDS = "select predicted, count(*) as n from words where method = 'gradient' group by all order by 1"
TEXT = "Slow, but the soup was good and nobody hurried us."
JOBS = (
    "explain-a",
    "explain-spans",
    "explain-run",
    "extract",
    "compare",
    "layers",
    "attention",
    "attack",
    "train-span",
    "lens",
    "train-translator",
)
CONTENT = (
    *("a.parquet", "a.json", "spans.parquet", "compare", "layers", "attention", "attack", "trained-span", "lens"),
    *("run", "extract", "translator", "model", "data"),
)


def scores(results: Any) -> list[list[float]]:
    """The scores of each explanation, rounded, in one row a text."""
    return [[round(float(score), 4) for score in explanation.scores.ravel()] for explanation in results]


# What is read, and what of it is compared, all in the folder of the archive.
READINGS: dict[str, Callable[[], Any]] = {
    "explanations, Parquet": lambda: scores(pellucid.read("a.parquet")),
    "explanations, JSON": lambda: scores(pellucid.read("a.json")),
    "explanations by spans": lambda: scores(pellucid.read("spans.parquet")),
    "explanations of a comparison": lambda: scores(pellucid.read("compare")),
    "table of a comparison": lambda: str(Table.read(Path("compare") / TABLE)),
    "a finished comparison, asked for again": lambda: run(COMMANDS["compare"]),
    "run over a corpus": lambda: scores(pellucid.read("run").by_method["gradient"]),
    "run over a corpus, asked in SQL": lambda: pellucid.open_run("run").query(WORDS).to_pylist(),
    "evidence": lambda: [example.text for example in pellucid.examples("extract", "test")],
    "attempts": lambda: repr(pellucid.read("attack/deepwordbug")),
    "attention analysis": lambda: repr(pellucid.read("attention")),
    "layer analysis": lambda: repr(pellucid.read("layers")),
    "trained classifier": lambda: scores(pellucid.explain("trained-span", TEXT, progress=False)),
    "lens": lambda: scores(
        pellucid.explain(pellucid.load("model", language_head="lens"), TEXT, "decoded_saliency", progress=False)
    ),
    "translator": lambda: pellucid.translate("translator", ["a dog and 3"])[0].text,
    "manifests": lambda: [
        pellucid.verify(folder).is_whole
        for folder in ("compare", "trained-span", "attack", "attention", "run", "extract")
        if Path(folder).exists()
    ],
}


def pack() -> None:
    """Make the archive of this version."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        for name in JOBS:
            print(run(COMMANDS[name])[-60:])
        pellucid.save(pellucid.read("a.parquet"), "a.json")
        expected = {name: reading() for name, reading in READINGS.items()}
        Path(EXPECTED).write_text(json.dumps(expected), encoding="utf-8")
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            for name in (*CONTENT, EXPECTED):
                archive.add(name)


if __name__ == "__main__":
    pack()
