"""docs/performance-cuda.md: what a GPU was measured for so far."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.attribution.cases import cuda_cases
from benchmarks.attribution.page import where
from benchmarks.attribution.table import floors, listed, places, table
from benchmarks.attribution.targets import lines
from benchmarks.attribution.workload import TITLES

HEAD = "# Performance on a GPU\n\nMade by `python -m benchmarks.attributions --device cuda`; not written by hand."
WHY = """What is missed. The network reads the 1,024 short texts in less time than their own tokenizer takes, so a method of one pass a text cannot come near
that floor. Where a method takes words out, a profile shows the GPU at work for a third to a half of the time: in the rest Python makes rows. `smooth_gradient`'s
random numbers are drawn on the processor, so that a GPU gives the scores that a processor gives. And where one call of
captum fills the GPU by itself, as all points of a path of one long text do, captum is near the floor too: nothing that computes the same
passes can then be ten times as fast."""
READING = """## How to read it

As on [the page of a processor](performance.md), with two differences. A GPU is filled by many texts, so there are more of them; and
captum, which takes one text a call, explains three or four of them, scaled to all. Memory is the GPU's own, beyond the model.

The floor is what the bare network gets through in the batches that suit it best. A network as small as MiniLM needs so little of a
large GPU that tokenising, finding the places of words and making results takes longer than the network does, where a method asks for
one pass a text. Nearest to the floor is a path, whose points are one text many times; farthest is a method of one pass a text. Methods that take
words out stand between: every row of theirs has to be put together.

## The same numbers as on a processor

On that GPU all 33 methods that explain a class of a plain classifier gave the scores that they give on its processor, with random weights and
three texts, the largest difference being 6e-5 (`preservation_mask`, an optimiser's steps); without it 9e-6. The same is the largest
with MiniLM and five texts, for the eight timed methods. `python -m tests.devices.everything cuda`
compares more. A machine without a GPU tests the same on a pretended device, which refuses what a GPU refuses
(`tests/devices/`).
"""


def write_cuda_page(results: Mapping[str, Any], docs: Path) -> Path:
    """Write it."""
    records, cases = results["records"], cuda_cases()
    measured = [line for line in lines(records, "cuda") if line.value is not None]
    rows = [(line.what, f"**{line.shown}**", f"{line.must:g}", line.verdict) for line in measured]
    count = sum(case.name in records for case in cases)
    parts = [
        HEAD,
        where(results) + (f" {count} of {len(cases)} cases are measured so far." if count < len(cases) else ""),
        "## What it must reach\n\n" + listed(rows, ("", "measured", "must", "verdict")),
        *([WHY] if any("missed" in line.verdict for line in measured) else []),
        *(f"## {TITLES[texts]}\n\n{table(records, texts, place)}" for texts, place in places(records)),
        "## The floor\n\n" + floors(records),
        READING.strip(),
    ]
    path = docs / "performance-cuda.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path
