"""Which rows run together: the one place that knows batch sizes.

Rows are sorted by length and packed by a budget of padded tokens; identical rows run once; when memory
runs out the budget halves and the work goes on. On a CPU a few hundred tokens fill a core, so the budget
is small on purpose; long texts run alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor

from pellucid.core.batch import Row
from pellucid.core.checks import at_least

Item, Answer = TypeVar("Item"), TypeVar("Answer")
CPU_TOKENS, DEVICE_TOKENS = 512, 32768
REMEMBERED = 50_000  # answers; once there are more, the next call begins with none


def default_budget(device: torch.device) -> int:
    """Tokens a batch that keep this device busy without spilling its caches."""
    return DEVICE_TOKENS if device.type != "cpu" else CPU_TOKENS * torch.get_num_threads()


@dataclass
class Scheduler:
    """Packs rows into batches; remembers a halved budget, and counts what it ran.

    tokens: padded tokens a batch. rows_run, tokens_run: what was evaluated so far.
    """

    tokens: int
    rows_run: int = 0
    tokens_run: int = 0
    known: dict[bytes, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        at_least("tokens", self.tokens, 1)

    def packs(self, lengths: Sequence[int]) -> list[list[int]]:
        """Index lists, longest rows first, each within the budget when padded (a longer row goes alone)."""
        order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
        packs: list[list[int]] = []
        for index in order:
            if packs and lengths[packs[-1][0]] * (len(packs[-1]) + 1) <= self.tokens:
                packs[-1].append(index)
            else:
                packs.append([index])
        return packs

    def evaluate(
        self, rows: Sequence[Row], run: Callable[[list[Row]], Tensor], question: bytes = b""
    ) -> Tensor:
        """[row ...]: run's answer for every row; each distinct row is computed once and remembered.

        question: tells answers of one kind from those of another.
        """
        if len(self.known) > REMEMBERED:
            self.forget()
        fresh = {row.digest: row for row in rows if row.digest + question not in self.known}
        distinct = list(fresh.values())
        for pack in self.packs([len(row) for row in distinct]):
            chosen = [distinct[index] for index in pack]
            self.remember(chosen, torch.cat(self.halving(chosen, run)), question)
            self.rows_run += len(chosen)
            self.tokens_run += sum(len(row) for row in chosen)
        return torch.stack([self.known[row.digest + question] for row in rows])

    def remember(self, rows: Sequence[Row], answers: Tensor, question: bytes = b"") -> None:
        """Keep answers [row ...] that are known already."""
        for row, answer in zip(rows, answers, strict=True):
            self.known[row.digest + question] = answer

    def forget(self) -> None:
        """Drop the remembered answers, between groups of texts that share no rows."""
        self.known.clear()

    def halving(self, rows: Sequence[Item], run: Callable[[list[Item]], Answer]) -> list[Answer]:
        """Run a pack; when memory runs out, halve the budget and run its halves."""
        try:
            return [run(list(rows))]
        except (RuntimeError, MemoryError) as error:
            if not is_memory_error(error) or len(rows) == 1:
                raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.tokens = max(1, self.tokens // 2)
        middle = len(rows) // 2
        return self.halving(rows[:middle], run) + self.halving(rows[middle:], run)


def is_memory_error(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on a GPU or a CPU."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(
        words in str(error).lower()
        for words in ("out of memory", "can't allocate memory", "not enough memory")
    )
