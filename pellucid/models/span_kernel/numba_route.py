"""The span kernel's route for a CPU with numba: compiled loops, text by text, in float32.

Each text belongs to one thread and writes numbers of its own, so the number of threads changes no result.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType

import torch
from torch import Tensor
from torch.nn.functional import pad

from pellucid.models.span_kernel.packs import Arriving, SpanLimits, Sums, texts_of

NUMBERS = 16  # a width is filled up to a multiple of it: `numba_lanes.LANES`


@cache
def compiled_loops() -> ModuleType:
    """The module of compiled loops: vectors of our own, or plain loops where those cannot be compiled here."""
    try:
        from pellucid.models.span_kernel import numba_loops

        numba_loops.try_lanes()
    except Exception:  # numba and llvmlite raise many kinds, and change them from version to version
        from pellucid.models.span_kernel import numba_plain

        return numba_plain
    return numba_loops


class Loops:
    """See `Stream`."""

    def __init__(self, limits: SpanLimits) -> None:
        segments, max_width, latest_start = limits
        self.texts = texts_of(segments)
        self.max_width = segments.shape[1] if max_width is None else max_width
        self.loops = compiled_loops()
        units = self.texts.unit.split(self.texts.lengths.tolist()) if len(self.texts.unit) else []
        self.units = [unit.numpy() for unit in units]
        latest = torch.arange(segments.numel()).view(segments.shape)
        if latest_start is not None:
            latest = latest[:, :1] + latest_start  # one before a text's first unit: none may end there
        self.latest = latest.flatten().numpy()

    def attend(self, a: Tensor, c: Tensor, p: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores = a.new_full((*a.shape[:2], a.shape[1]), -torch.inf)
        log_normaliser, pooled = self._sums(a, c, p, u, scores, known=False)
        return scores, pooled, log_normaliser

    def average(self, a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor) -> Tensor:
        log_sum, mean = self._sums(a, c, p, a.new_zeros(a.shape[-1]), log_weights.contiguous(), known=True)
        return mean * log_sum.exp()[:, None]

    def gradients(self, a: Tensor, c: Tensor, p: Tensor, arriving: Arriving) -> tuple[Tensor, ...]:
        width, (log_weights, normaliser, pull, scoring) = a.shape[-1], arriving
        filled = [_filled(value) for value in (a, c, p)]
        grads = [torch.zeros_like(value) for value in filled]
        if scoring is None:
            u, known, shift = a.new_zeros(width), log_weights, normaliser.to(a.dtype)
        else:
            u, known, shift = scoring
        u_grads = a.new_zeros(len(self.units), filled[0].shape[-1])
        shared = [_numbers(value) for value in (*filled, _filled(u))]
        arrived = [_numbers(normaliser), _numbers(_filled(pull)), _square(known), _numbers(shift)]
        settings = scoring is not None, self.max_width, filled[0].shape[-1]
        results = [_numbers(value) for value in grads]

        def differentiate(text: int) -> None:
            u_grad = u_grads[text].numpy()
            self.loops.gradients_of_text(
                *shared,
                self.units[text],
                self.latest,
                _square(log_weights),
                *arrived,
                *settings,
                *results,
                u_grad,
            )

        self._each(differentiate)
        return *(grad[..., :width] for grad in grads), u_grads.sum(0)[:width]

    def _sums(
        self, a: Tensor, c: Tensor, p: Tensor, u: Tensor, log_weights: Tensor, known: bool
    ) -> tuple[Tensor, Tensor]:
        width = a.shape[-1]
        filled = [_filled(value) for value in (a, c, p, u)]
        weighted = a.new_zeros(len(self.units), filled[0].shape[-1], dtype=torch.float64)
        totals = a.new_zeros(2, len(self.units))
        shared, square = [_numbers(value) for value in filled], _square(log_weights)

        def add_up(text: int) -> None:
            row = weighted[text].numpy()
            mass, highest = self.loops.sum_text(
                *shared,
                self.units[text],
                self.latest,
                square,
                known,
                self.max_width,
                filled[0].shape[-1],
                row,
            )
            totals[0, text], totals[1, text] = highest, mass

        self._each(add_up)
        parts = Sums(self.texts.example, totals[0], totals[1], weighted[:, :width])
        return parts.joined(len(a))

    def _each(self, work: Callable[[int], None]) -> None:
        threads = min(torch.get_num_threads(), len(self.units))
        if threads < 2:
            for text in range(len(self.units)):
                work(text)
            return
        # A new pool each time: a pool that stays would not survive a fork.
        longest_first = sorted(range(len(self.units)), key=lambda text: -len(self.units[text]))
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, longest_first))


def _filled(values: Tensor) -> Tensor:
    """Zeros up to a whole number of lanes; no copy where there is none to add."""
    missing = -values.shape[-1] % NUMBERS
    return (pad(values, (0, missing)) if missing else values).contiguous()


def _numbers(values: Tensor):
    return values.detach().contiguous().flatten().numpy()


def _square(values: Tensor):
    return values.detach().contiguous().numpy()
