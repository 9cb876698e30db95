"""The floor: how many tokens a second the bare network gets through, at its best batch.

No library is between: rows of token ids, a forward pass without a graph, or one with the gradient by the word
embeddings alone. A token counts if it is no padding.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Passes = Literal["forward", "both"]  # both: forward and backward


@dataclass(frozen=True)
class Way:
    """How rows are put into batches: up to so many padded tokens, of one row repeated or of rows of like length."""

    tokens: int
    repeated: bool

    def batches(self, rows: Sequence[list[int]]) -> list[list[list[int]]]:
        """Lists of rows."""
        if self.repeated:
            return [[row] * max(1, self.tokens // len(row)) for row in rows]
        packs: list[list[list[int]]] = []
        for row in sorted(rows, key=len, reverse=True):
            if packs and len(packs[-1][0]) * (len(packs[-1]) + 1) <= self.tokens:
                packs[-1].append(row)
            else:
                packs.append([row])
        return packs


def ways(device: str, threads: int, longest: int) -> list[Way]:
    """The batches that are tried."""
    sizes = (128, 256, 512, 1024) if longest < 128 else (512, 1024, 2048)
    budgets = (2**13, 2**15, 2**17) if device == "cuda" else tuple(size * threads for size in sizes)
    return [Way(budget, repeated) for budget in budgets for repeated in (True, False)]


def best(network: Any, rows: Sequence[list[int]], passes: Passes, tried: Sequence[Way]) -> dict[str, Any]:
    """The way that gets through most tokens a second, and what each gave."""
    speeds = [(throughput(network, rows, passes, way), way) for way in tried]
    speed, way = max(speeds, key=lambda pair: pair[0])
    return {
        "way": asdict(way),
        "tokens_per_second": speed,
        "tried": [{**asdict(way), "tokens_per_second": speed} for speed, way in speeds],
    }


def throughput(network: Any, rows: Sequence[list[int]], passes: Passes, way: Way, runs: int = 1) -> float:
    """Tokens a second: the median over runs, after one batch that does not count."""
    if way.repeated:  # a few of the rows, of all sizes
        every = max(1, len(rows) // max(2, min(8, 4096 // way.tokens)))
        rows = rows[every // 2 :: every]
    batches = [(sum(map(len, batch)), columns_of(network, batch)) for batch in way.batches(rows)]
    step = _forward if passes == "forward" else both
    with frozen(network):
        step(network, batches[0][1])
        return statistics.median(_once(network, step, batches) for _ in range(runs))


def _once(network: Any, step: Any, batches: Sequence[tuple[int, dict[str, Tensor]]]) -> float:
    wait(network)
    start = time.perf_counter()
    for _, columns in batches:
        step(network, columns)
    wait(network)
    return sum(tokens for tokens, _ in batches) / (time.perf_counter() - start)


def wait(network: Any) -> None:
    """Wait until the device has finished its work."""
    if next(network.parameters()).is_cuda:
        torch.cuda.synchronize()


def columns_of(network: Any, rows: Sequence[list[int]]) -> dict[str, Tensor]:
    device, longest = next(network.parameters()).device, max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    attended = (torch.arange(longest, device=device)[None] < lengths[:, None]).long()
    return {"input_ids": ids, "attention_mask": attended, "token_type_ids": torch.zeros_like(ids)}


def _forward(network: Any, columns: dict[str, Tensor]) -> None:
    with torch.no_grad():
        network(**columns)


def both(network: Any, columns: dict[str, Tensor]) -> None:
    rest = {name: column for name, column in columns.items() if name != "input_ids"}
    words = network.get_input_embeddings()(columns["input_ids"]).detach().requires_grad_()
    torch.autograd.grad(network(inputs_embeds=words, **rest).logits[:, 0].sum(), words)


@contextmanager
def frozen(network: Any) -> Iterator[None]:
    """Without gradients by the weights."""
    required = [parameter.requires_grad for parameter in network.parameters()]
    network.requires_grad_(False)
    try:
        yield
    finally:
        for parameter, before in zip(network.parameters(), required, strict=True):
            parameter.requires_grad_(before)


@contextmanager
def eager(network: Any, wanted: bool) -> Iterator[None]:
    """With attention computed openly, as whoever reads its weights must."""
    before = network.config._attn_implementation
    if wanted:
        network.set_attn_implementation("eager")
    try:
        yield
    finally:
        network.set_attn_implementation(before)
