"""The floor: what one tanh, one multiply-add and one matrix product cost on this core, with all numbers in its cache.

A span-dimension needs two tanh and twelve multiply-adds, forward and backward together; a unit nine products of its
width squared.
"""

import time
from collections.abc import Callable

import numpy as np
import torch

from pellucid.base.packages import optional_package

TANHS, MULTIPLY_ADDS, PRODUCTS = 2, 12, 9
BUFFER, ROUNDS = 1024, 4000


def floors() -> dict[str, float]:
    """Nanoseconds of a tanh, a multiply-add, and a multiply-add inside a matrix product."""
    from pellucid.models.span_kernel.numba_lanes import LANES, every, load, store, with_sign
    from pellucid.models.span_kernel.numba_loops import _tanhs

    njit = optional_package("numba").njit

    @njit
    def tanhs(values, sums, rounds):
        for _ in range(rounds):
            for k in range(0, len(values), 4 * LANES):
                x0, x1 = load(values, k), load(values, k + LANES)
                x2, x3 = load(values, k + 2 * LANES), load(values, k + 3 * LANES)
                (t0, t1, t2, t3), _ = _tanhs(x0, x1, x2, x3)
                left, right = with_sign(t0, x0) + with_sign(t1, x1), with_sign(t2, x2) + with_sign(t3, x3)
                store(left + right, sums, 0)

    @njit
    def multiply_adds(values, sums, rounds):
        by = every(np.float32(0.999))
        for _ in range(rounds):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = load(values, 0)
            for _ in range(0, len(values), 8 * LANES):
                s0, s1, s2, s3 = s0 * by + by, s1 * by + by, s2 * by + by, s3 * by + by
                s4, s5, s6, s7 = s4 * by + by, s5 * by + by, s6 * by + by, s7 * by + by
            store((s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7)), sums, 0)

    values = np.linspace(-3, 3, BUFFER).astype(np.float32)
    chain = np.tile(values, 64)
    sums = np.zeros(LANES, np.float32)
    square = torch.randn(1024, 1024)
    return {
        "tanh": _best(lambda: tanhs(values, sums, ROUNDS)) / (BUFFER * ROUNDS),
        "multiply_add": _best(lambda: multiply_adds(chain, sums, ROUNDS // 64)) / (len(chain) * (ROUNDS // 64)),
        "product": _best(lambda: square @ square) / 1024**3,
    }


def _best(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(9):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e9 * min(times)


def core_floor(rates: dict[str, float]) -> float:
    """Nanoseconds of a span-dimension, forward and backward."""
    return TANHS * rates["tanh"] + MULTIPLY_ADDS * rates["multiply_add"]


def layer_floor(rates: dict[str, float], shape: tuple[int, int, int]) -> float:
    """Milliseconds of the whole layer, forward and backward."""
    width, batch, units = shape
    spans = batch * units * (units + 1) / 2
    return 1e-6 * (PRODUCTS * batch * units * width**2 * rates["product"] + spans * width * core_floor(rates))
