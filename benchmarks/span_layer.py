"""The span layer against the formulation that holds every span: time and memory of forward + backward.

    python benchmarks/span_layer.py
    python benchmarks/span_layer.py --shapes 768,8,32 384,8,256 --runs 5

Both sides start from the same unit vectors and own the same four projections. "Literal" follows equation 6 of
Sun et al. (2020) as published: it gathers six tensors of spans x width and holds them.

Times are medians of the process's own CPU time, so that neighbours on the machine disturb less. Memory is the
growth of resident memory in a fresh process each (Linux only); "tensor" compares the largest single tensors,
which no allocator changes. What the literal side pays for fresh memory depends on the allocator:
GLIBC_TUNABLES=glibc.malloc.hugetlb=1, or MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1000000000000
MALLOC_TOP_PAD_=1000000000, is kinder to it.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.utils._python_dispatch import TorchDispatchMode

from pellucid.models.span_kernel import span_attention_scores

SHAPES = [(384, 8, 32), (384, 8, 128), (384, 1, 256), (384, 8, 256)]


class LargestTensor(TorchDispatchMode):
    """Remembers the size of the largest tensor that any operation returned."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, Tensor):
                self.numel = max(self.numel, value.numel())
        return result


def ours(hidden: Tensor, w: list[Tensor], b: list[Tensor], u: Tensor) -> tuple[Tensor, Tensor]:
    segments = torch.zeros(hidden.shape[:2], dtype=torch.long)
    a = linear(hidden, w[0] + w[2], b[0])
    c = linear(hidden, w[1] - w[2], b[1])
    p = linear(hidden, w[3], b[3])
    scores, pooled, log_normaliser = span_attention_scores(a, c, p, u, segments)
    weights = (scores - log_normaliser[:, None, None]).exp()
    return pooled, weights.square().sum((1, 2))


def literal(hidden: Tensor, w: list[Tensor], b: list[Tensor], u: Tensor) -> tuple[Tensor, Tensor]:
    i, j = torch.triu_indices(hidden.shape[1], hidden.shape[1])
    h1, h2, h3, h4 = (linear(hidden, weight, bias) for weight, bias in zip(w, b, strict=True))
    start1, end2, start3, end3, start4, end4 = h1[:, i], h2[:, j], h3[:, i], h3[:, j], h4[:, i], h4[:, j]
    spans = torch.tanh(start1 + end2 + (start3 - end3) + start4 * end4)
    weights = (spans @ u).softmax(1)
    return (weights[:, :, None] * spans).sum(1), weights.square().sum(1)


def step(layer: Callable, inputs: tuple) -> list[Tensor]:
    """Forward, a loss that reads both results, backward to the unit vectors and all weights."""
    hidden, w, b, u = inputs
    pooled, concentration = layer(*inputs)
    loss = pooled.square().sum() - concentration.sum()
    return torch.autograd.grad(loss, [hidden, *w, *b, u], allow_unused=True)


def inputs_of(width: int, batch: int, units: int) -> tuple:
    generator = torch.Generator().manual_seed(0)

    def uniform(*shape: int) -> Tensor:
        return ((torch.rand(shape, generator=generator) * 2 - 1) / width**0.5).requires_grad_()

    hidden = torch.randn(batch, units, width, generator=generator).requires_grad_()
    matrices, biases = [uniform(width, width) for _ in range(4)], [uniform(width) for _ in range(4)]
    return hidden, matrices, biases, uniform(width)


def milliseconds(call: Callable, runs: int) -> float:
    call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def peak_megabytes(layer: Callable, shape: tuple[int, int, int]) -> float:
    """Growth of resident memory over one step; not a number where the system cannot tell."""
    torch.set_num_threads(1)
    step(layer, inputs_of(16, 1, 8))  # the first call loads libraries
    inputs = inputs_of(*shape)
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        reset.write_text("5")  # the high-water mark falls to the present size
        before = _kilobytes(status, "VmRSS")
        step(layer, inputs)
        return (_kilobytes(status, "VmHWM") - before) / 1024
    except OSError:
        return float("nan")


def in_fresh_process(function: Callable, *arguments: object) -> float:
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _kilobytes(status: Path, field: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(field))


def largest(call: Callable) -> int:
    with LargestTensor() as mode:
        call()
    return mode.numel


def row(shape: tuple[int, int, int], runs: int) -> str:
    inputs = inputs_of(*shape)
    calls = [lambda layer=layer: step(layer, inputs) for layer in (ours, literal)]
    times = [milliseconds(call, runs) for call in calls]
    tensors = [largest(call) for call in calls]
    peaks = [in_fresh_process(peak_megabytes, layer, shape) for layer in (ours, literal)]
    return (
        f"{shape!s:>14} {times[0]:9.1f} {times[1]:9.1f} {times[1] / times[0]:7.1f}"
        f" {peaks[0]:9.1f} {peaks[1]:9.1f} {peaks[1] / peaks[0]:7.0f} {tensors[1] / tensors[0]:7.0f}"
    )


def shape_of(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES, type=shape_of, metavar="WIDTH,BATCH,UNITS")
    parser.add_argument("--runs", type=int, default=5)
    settings = parser.parse_args()
    torch.set_num_threads(1)
    print("                        milliseconds                  megabytes at the peak    largest")
    print("     (D, B, N)      ours   literal   ratio      ours   literal   ratio  tensor")
    for shape in settings.shapes:
        print(row(shape, settings.runs), flush=True)


if __name__ == "__main__":
    main()
