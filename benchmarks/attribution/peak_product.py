"""The peak of the processor for a number of threads: a part of `benchmarks.attributions`, in a process of its own."""

from typing import Any

import torch

from pellucid.models.routing.linear_product import peaks


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The best billions of operations a second of each way to multiply, for the request's threads."""
    torch.set_num_threads(request["threads"])
    return {"gflops": peaks()}
