"""The span layer against the formulation that holds every span: time and memory of forward + backward.

    python benchmarks/span_layer.py
    python benchmarks/span_layer.py --shapes 768,8,32 384,8,256 --runs 5

Both sides start from the same unit vectors and own the same four projections. "Literal" follows equation 6 of
Sun et al. (2020) as published: it gathers six tensors of spans x width and keeps what autograd needs. Times are
medians of the process's own CPU time, so that neighbours on the machine disturb less. How much the literal side
pays for fresh memory depends on the allocator; set GLIBC_TUNABLES=glibc.malloc.hugetlb=1 for a kinder one.
"""

import argparse
import statistics
import time
from collections.abc import Callable
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
    spans = torch.tanh(h1[:, i] + h2[:, j] + (h3[:, i] - h3[:, j]) + h4[:, i] * h4[:, j])
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
    return hidden, [uniform(width, width) for _ in range(4)], [uniform(width) for _ in range(4)], uniform(width)


def milliseconds(call: Callable, runs: int) -> float:
    call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def peak_megabytes(call: Callable) -> float:
    """Growth of resident memory while `call` runs; not a number where the system cannot tell (not Linux)."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        before = _kilobytes(status, "VmRSS")
        reset.write_text("5")  # the high-water mark falls to the present size
        call()
        return (_kilobytes(status, "VmHWM") - before) / 1024
    except OSError:
        return float("nan")


def _kilobytes(status: Path, field: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(field))


def largest(call: Callable) -> int:
    with LargestTensor() as mode:
        call()
    return mode.numel


def row(shape: tuple[int, int, int], runs: int) -> str:
    inputs = inputs_of(*shape)
    # Memory first, ours before theirs: what an earlier call left in the allocator would hide a later one's growth.
    peak, time_of, size = [], [], []
    for layer in (ours, literal):
        peak.append(peak_megabytes(lambda layer=layer: step(layer, inputs)))
    for layer in (ours, literal):
        time_of.append(milliseconds(lambda layer=layer: step(layer, inputs), runs))
        size.append(largest(lambda layer=layer: step(layer, inputs)))
    return (
        f"{shape!s:>14} {time_of[0]:9.1f} {time_of[1]:9.1f} {time_of[1] / time_of[0]:7.1f}"
        f" {peak[0]:9.1f} {peak[1]:9.1f} {peak[1] / max(peak[0], 0.1):7.0f} {size[1] / size[0]:9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="WIDTH,BATCH,UNITS",
                        type=lambda text: tuple(int(number) for number in text.split(",")))  # fmt: skip
    parser.add_argument("--runs", type=int, default=5)
    settings = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'(D, B, N)':>14} {'ours ms':>9} {'lit. ms':>9} {'ratio':>7} {'ours MB':>9} {'lit. MB':>9} {'ratio':>7} {'tensor x':>9}")
    for shape in settings.shapes:
        print(row(shape, settings.runs), flush=True)


if __name__ == "__main__":
    main()
