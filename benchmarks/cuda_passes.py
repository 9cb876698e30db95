"""Ways to compute a pass of the bare network on a GPU: eager, tf32, bfloat16 by autocast, torch.compile, a CUDA graph.

    python -m benchmarks.cuda_passes          measures what is not in benchmarks/results/cuda_passes.json yet
    python -m benchmarks.cuda_passes --draw   only docs/cuda-passes.md, from that file

Tokens a second and the largest difference of a logit from eager's, relative to the largest logit. Batches as they come:
one short text, the texts of one answer, and as many as fill the GPU. It tells which of them a route of Pellucid should
take.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.attribution.models import folder_of
from benchmarks.attribution.reading import reader_of
from benchmarks.attribution.results import Results
from benchmarks.attribution.table import listed

WORK = Path(__file__).parents[1] / "runs" / "benchmark"
COMPILED = "torch.compile"  # last, since it takes half a minute a shape
SHAPES = ((1, 24), (32, 24), (2048, 24), (8, 400), (256, 400))  # texts, tokens of each
RUNS = 20
Pass = Callable[[], Tensor]
READING = """## What it says

Where a batch fills the GPU, numbers of fewer bits make passes faster: tf32 up to twice and more, bfloat16 up to four times and more. Their answers
differ from float32's by more than the 1e-5 that a route may change, so Pellucid takes neither by itself. A CUDA graph changes
nothing in the answers beyond rounding. It makes passes of few tokens faster, which wait for Python; full ones gain nothing, and those of long texts are slower."""


def inputs(network: Any, texts: int, length: int) -> Tensor:
    """Word embeddings [text token width] of random ids, with a gradient."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 20_000, (texts, length), generator=generator).cuda()
    return network.get_input_embeddings()(ids).detach().requires_grad_()


def forward(network: Any, words: Tensor) -> Pass:
    """A pass without a graph of gradients."""

    def run() -> Tensor:
        with torch.no_grad():
            return network(inputs_embeds=words).logits

    return run


def both(network: Any, words: Tensor) -> Pass:
    """A pass and its gradient by the words."""

    def run() -> Tensor:
        logits = network(inputs_embeds=words).logits
        return torch.autograd.grad(logits[:, 0].sum(), words)[0]

    return run


@contextmanager
def tf32() -> Iterator[None]:
    """Products of float32 on the matrix units."""
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


def graphed(run: Pass) -> Pass:
    """The same kernels, launched all at once."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay


def seconds(run: Pass) -> float:
    """Median over the runs, after three that do not count."""
    times = []
    for number in range(RUNS + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        if number >= 3:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def ways(network: Any, make: Callable[..., Pass], words: Tensor) -> dict[str, tuple[Any, Callable[[], Pass]]]:
    """By name: what is active while it runs, and what makes the pass."""
    return {
        "eager": (nullcontext(), lambda: make(network, words)),
        "tf32": (tf32(), lambda: make(network, words)),
        "bfloat16 by autocast": (torch.autocast("cuda", torch.bfloat16), lambda: make(network, words)),
        "CUDA graph": (nullcontext(), lambda: graphed(make(network, words))),
        COMPILED: (nullcontext(), lambda: make(torch.compile(network, dynamic=True), words)),
    }


def measured(network: Any, passes: str, shape: tuple[int, int], way: str) -> dict[str, Any]:
    """Its tokens a second and its error."""
    words, make = inputs(network, *shape), {"forward": forward, "both": both}[passes]
    exact = make(network, words)()
    context, prepare = ways(network, make, words)[way]
    with context:
        run = prepare()
        answer = run().float().clone()
        speed = shape[0] * shape[1] / seconds(run)
    error = float((answer - exact).abs().max() / exact.abs().max())
    return {
        "passes": passes,
        "texts": shape[0],
        "tokens": shape[1],
        "way": way,
        "speed": speed,
        "error": error,
    }


def page(results: dict[str, Any]) -> str:
    """The page of the numbers."""
    records = [one for one in results["records"].values() if "speed" in one]
    eager = {(one["passes"], one["texts"], one["tokens"]): one["speed"] for one in records if one["way"] == "eager"}
    rows = [
        (
            "forward" if one["passes"] == "forward" else "forward + backward",
            f"{one['texts']:,} × {one['tokens']}",
            one["way"],
            f"{one['speed']:,.0f}",
            f"{one['speed'] / eager[one['passes'], one['texts'], one['tokens']]:.2f} ×",
            f"{one['error']:.0e}",
        )
        for one in records
    ]
    head = ("passes", "texts × tokens", "way", "tokens a second", "÷ eager", "largest difference")
    return (
        "# Passes on a GPU\n\nMade by `python -m benchmarks.cuda_passes`; not written by hand.\n\n"
        f"On {results['made_on']['device']}, torch {results['versions']['torch']}: all-MiniLM-L6-v2 with two classes, "
        f"the bare network without Pellucid. Difference: of logits, or of the gradient by the words, from eager's "
        f"float32, relative to the largest.\n\n" + f"{listed(rows, head)}\n\n{READING}\n"
    )


def main() -> None:
    """Measure, or draw what was measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draw", action="store_true")
    path = Path(__file__).parent / "results" / "cuda_passes.json"
    if not parser.parse_args().draw:
        results, folder = Results(path, "cuda", fresh=False), folder_of("minilm", WORK)
        network = reader_of(folder, "cuda").network.requires_grad_(False)
        eager_first = sorted(
            product(ways(network, forward, inputs(network, 1, 1)), ("forward", "both"), SHAPES), key=_is_last
        )
        for way, passes, shape in eager_first:
            name = f"{passes} / {shape[0]} x {shape[1]} / {way}"
            if not results.has(name):
                try:
                    results.keep(name, measured(network, passes, shape, way))
                except RuntimeError as error:
                    results.keep(name, {"failed": str(error)[:200]})
                print(name, results.records[name], flush=True)
    contents = json.loads(path.read_text(encoding="utf-8"))
    (Path(__file__).parents[1] / "docs" / "cuda-passes.md").write_text(page(contents), encoding="utf-8")


def _is_last(case: tuple[str, str, tuple[int, int]]) -> bool:
    return case[0] == COMPILED


if __name__ == "__main__":
    main()
