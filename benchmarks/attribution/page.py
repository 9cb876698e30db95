"""docs/performance.md: how fast, against what, and how to read and repeat it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.attribution.attention import attention_section
from benchmarks.attribution.half_precision import TIE
from benchmarks.attribution.picture import PLACE, draw
from benchmarks.attribution.results import machine_words
from benchmarks.attribution.states import states_section
from benchmarks.attribution.table import floors, listed, places, shares, table
from benchmarks.attribution.target_tables import targets_section
from benchmarks.attribution.workload import TITLES

READING = """## How to read the ratios

The **floor** is what the bare network gets through in the same passes: a forward pass without a graph, or a forward and a
backward pass to the word embeddings alone, with the same attention, in the batches that suit it best (all sizes that were
tried are in the results file). It is measured again before and after every run, because machines drift, and the median
counts. **÷ floor** is a method's time divided by the time that the floor needs for the tokens which the method must
evaluate by its definition: n points of a path, n samples, one pass a window, of the whole text each time. Looking up the
predicted class, tokenising, our guard of the explained logit and the making of results all count as time and not as
definition. So 1 is perfect for a method that evaluates whole texts. **Less than 1** is possible where fewer tokens do the
same work: tokens that are absent are not computed.

**Seconds** with a `~` were measured on a sample of the texts, spread evenly over their lengths, and scaled by the tokens
of the definition. Short runs are medians of three or five. **Sequences** and **tokens** are what the network really
computed, padding included. **Peak MB** is the growth of the process's memory over what it held with the model loaded, in
a process of its own for every case. **Ours is faster by** is that library's ratio divided by ours at the same settings, so
that drift between the two runs does not count; below 1 it is faster than ours.

**pellucid** computes by PyTorch's own operators (`route="eager"`), **pellucid by route** by the
[route](how-to/explain-your-model.md#routes) that the package's own trial (`route="auto"`) takes most often of three times for that model and
number of threads; the trials are no part of the time. Its floor is the same bare network in PyTorch, so a ratio by route
below 1 can come from a faster route as well as from fewer tokens. What the network computes is not counted there (–),
because a route may leave a network that is watched to PyTorch; its peak MB are beyond the model and what the route has compiled or packed. **By route, faster by** is a library's ratio divided by ours by
route. The **share of the peak** is what the floor makes of the processor: its operations a second beside those of one large
product of matrices.

**captum**, **shap** and **lime** are used as their own documentation shows: one text a call, their defaults. **Tuned** is the
fastest use of them that we know: eight texts of like length together for gradients, calls of about 512 tokens for paths
and perturbations, no graph where none is needed. Ratios within 10 % of each other say nothing on a shared machine.
"""
AGAIN = """## How to repeat it

```text
make bench                                          all benchmarks; this one takes about 60 minutes
python -m benchmarks.attributions --fresh           this one anew
python -m benchmarks.attributions --only kernel     the cases with that word in their name, if not measured yet
python -m benchmarks.attributions --draw            this page from what was measured
python -m benchmarks.attributions --quick           a smoke run of two minutes; its numbers mean nothing
python -m benchmarks.attributions --device cuda     the same on a GPU, against the GPU's floor
```

Every case runs in a process of its own and is kept in `{results}` as soon as it is
finished; an interrupted run goes on where it was. Results of another machine or of other versions are not mixed: it asks
for `--fresh`. Leave the machine alone meanwhile. No test measures time.
"""


def write_page(results: Mapping[str, Any], docs: Path) -> Path:
    """Write the page and its picture."""
    records = results["records"]
    draw(records, docs / "pictures", "performance")
    parts = [
        "# Performance\n\nMade by `make bench`; not written by hand.",
        where(results),
        "![Time of every method as a multiple of the floor](pictures/performance.png)",
        targets_section(records),
        *(f"## {TITLES[texts]}: {place}\n\n{table(records, texts, place)}" for texts, place in places(records)),
        "## The floor\n\n" + floors(records),
        "## Where our time goes\n\nOf the first run of each case: inside the network, and in everything else.\n\n"
        + shares(records),
        *_studies(records),
        states_section(),
        attention_section(),
        READING.strip(),
        AGAIN.format(results="benchmarks/results/attributions.json").strip(),
    ]
    path = docs / "performance.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def where(results: Mapping[str, Any]) -> str:
    """The machine, the versions and the days of the run, in words."""
    machine, days = (
        results["made_on"],
        sorted(record["when"][:10] for record in results["records"].values() if "when" in record),
    )
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    when = "" if not days else f" Measured on {days[0]}" + (f" to {days[-1]}." if days[-1] != days[0] else ".")
    device = "" if machine["device"] == "cpu" else f" with {machine['device']}"
    return (
        f"On {machine_words(machine)}, {machine['cores']} cores{device}: all-MiniLM-L6-v2 with two classes in float32 on "
        f"one thread, "
        f'where nothing else is said; "base" is a random model of BERT-base\'s size. {versions}.{when}'
    )


def _studies(records: Mapping[str, Any]) -> list[str]:
    makers = {
        "peak_memory": _memory,
        "half_precision": _half_precision,
        "same_error": _same_error,
        "shapley_error": _shapley_error,
    }
    return [make(records[name]) for name, make in makers.items() if _done(records, name)]


def _done(records: Mapping[str, Any], name: str) -> bool:
    return name in records and not {"skipped", "failed"} & set(records[name])


def _memory(record: Mapping[str, Any]) -> str:
    rows = [
        (name, f"{value:.0f}" if isinstance(value, float) else value)
        for name, value in sorted(record["methods"].items())
    ]
    grown = "; ".join(
        f"{what}: {few:.0f} and {many:.0f} MB"
        for what, (few, many) in record["growth"].items()
        if isinstance(few, float) and isinstance(many, float)
    )
    return (
        "## Peak memory\n\nBeyond the model, on the 8 long texts, with few steps and samples, "
        f"in the first {record['seconds']:g} s of those methods that take longer. "
        f"Few against many ({grown}).\n\n{listed(rows, ('method', 'MB'))}"
    )


def _half_precision(record: Mapping[str, Any]) -> str:
    rows = [
        (
            kind,
            name,
            *(f"{seconds:.1f}" for seconds in numbers["seconds"]),
            f"{numbers['speed']:.2f} x",
            f"{numbers['same_top']:.0%} of {numbers['texts']}",
            f"{numbers['same_but_ties']:.0%}" if "same_but_ties" in numbers else "–",
            f"{numbers['error']:.1%}" if "error" in numbers else "–",
        )
        for kind, methods in record.items()
        for name, numbers in methods.items()
    ]
    head = (
        "dtype",
        "method",
        "float32, s",
        "so, s",
        "faster by",
        "texts with the same five top words",
        "ties aside",
        "error",
    )
    return (
        "## bfloat16\n\n`pellucid.load(folder, dtype=...)`, short texts, against float32 by eager. Scores that differ "
        f"by less than {TIE:.0%} of a text's largest one are ties. The error is the largest difference of a score, as "
        f"a share of the largest score, mean over texts.\n\n" + listed(rows, head)
    )


def _same_error(record: Mapping[str, Any]) -> str:
    rows = [(by, n, f"{error:.3%}") for by, errors in record.items() for n, error in errors.items()]
    return (
        "## Steps to the same error\n\nIntegrated gradients of four short texts against 4,096 midpoints: the largest "
        "error of a piece's score, relative to the largest score, mean over "
        "texts.\n\n" + listed(rows, ("by", "steps", "error"))
    )


OURS = ("shapley_sampling", "kernel_shap", "gaussian_process_shapley")


def _shapley_error(record: Mapping[str, Any]) -> str:
    rows = [
        (
            f"{numbers['captum']}, {numbers['n_samples']}",
            f"{numbers['error']:.3f}",
            f"{numbers['evaluations']:.0f}",
            *(f"{numbers[ours]:.2f}" if ours in numbers else "–" for ours in OURS),
        )
        for numbers in record["captum"]
    ]
    head = ("captum, n_samples", "error", "evaluations", *(f"{ours} needs" for ours in OURS))
    words = " and ".join(map(str, sorted(set(record["words"]))))
    return (
        f"## Evaluations to the same Shapley values\n\nTexts of {words} words against exact values, "
        f"{record['seeds']} seeds (`benchmarks/shapley_error.py`): captum's error, and the share of its evaluations "
        f"that ours need for it.\n\n" + listed(rows, head)
    )


__all__ = ["PLACE", "write_page"]
