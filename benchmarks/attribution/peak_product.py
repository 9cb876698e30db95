"""The peak of the processor: what one large product of matrices in float32 gets through, by PyTorch and by oneDNN."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.models.routing.linear_product import lacks_product, linear_product, packed

SIZES = (1536, 2048)  # rows, inputs and outputs of a product
REPETITIONS = 7


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The best billions of operations a second of each way to multiply, for the request's threads."""
    torch.set_num_threads(request["threads"])
    ways = {"torch": _by_torch} if lacks_product() else {"torch": _by_torch, "onednn": _by_onednn}
    with torch.no_grad():
        return {"gflops": {name: max(best_of(way, size) for size in SIZES) for name, way in ways.items()}}


def best_of(way: Callable[[Tensor, Tensor], Callable[[], Tensor]], size: int) -> float:
    """The fastest of several repetitions, after one that does not count."""
    product = way(torch.randn(size, size), torch.randn(size, size))
    product()
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        product()
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds) / 1e9


def _by_torch(inputs: Tensor, weight: Tensor) -> Callable[[], Tensor]:
    return lambda: F.linear(inputs, weight)


def _by_onednn(inputs: Tensor, weight: Tensor) -> Callable[[], Tensor]:
    in_order = packed(weight)
    return lambda: linear_product(inputs, in_order)
