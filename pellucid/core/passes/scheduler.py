"""Which rows run together: the only file that knows batch sizes.

Rows are sorted by length and packed by a budget of padded tokens. Equal rows run once. When memory runs out, the budget is
halved and the work goes on. On a CPU a few hundred tokens keep a core busy, so the budget is small on purpose, and long
texts run alone. Where padding changes a model's answers, only rows of one length share a pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.memory import is_memory_error
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Packing
from pellucid.core.passes.parity import SHARE

Item, Answer = TypeVar("Item"), TypeVar("Answer")
CPU_TOKENS, DEVICE_TOKENS = 640, 32768
START = 1 / 12  # the cost of starting a pack, as a share of the cost of a full one
FINE = 200  # parts of a pack to which its size is found
REMEMBERED = 50_000  # answers; when there are more, the next call forgets all of them


def default_budget(device: torch.device) -> int:
    """Tokens a batch: enough to keep this device busy, few enough for its caches."""
    return DEVICE_TOKENS if device.type != "cpu" else CPU_TOKENS * torch.get_num_threads()


class GrowingTensor:
    """The rows of a tensor that grows; it is moved whenever it has doubled, so adding a row costs the same however many there are."""

    def __init__(self) -> None:
        self._count, self._room = 0, torch.empty(0)

    def __len__(self) -> int:
        return self._count

    def append(self, rows: Tensor) -> None:
        """Add rows [row ...]."""
        needed = self._count + len(rows)
        if needed > len(self._room):
            room = rows.new_empty(max(needed, 2 * self._count), *rows.shape[1:])
            if self._count:
                room[: self._count] = self._room[: self._count]
            self._room = room
        self._room[self._count : needed] = rows
        self._count = needed

    def at(self, numbers: list[int]) -> Tensor:
        """[number ...]: a copy of these rows."""
        return self._room[torch.tensor(numbers, dtype=torch.long)]


@dataclass(eq=False)
class RememberedAnswers:
    """Answers by rows and questions: numbers are those of a row's digest with its question, in the answers of the question."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    by_question: dict[bytes, GrowingTensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, key: bytes) -> bool:
        return key in self.numbers

    def add(self, rows: Sequence[Row], answers: Tensor, question: bytes) -> None:
        """Answers [row ...] to a question."""
        of_question = self.by_question.setdefault(question, GrowingTensor())
        self.numbers |= zip(
            [row.digest + question for row in rows],
            range(len(of_question), len(of_question) + len(rows)),
            strict=True,
        )
        of_question.append(answers if answers.dtype == torch.float64 else answers.float())

    def at(self, keys: Sequence[bytes], question: bytes) -> Tensor:
        """[key ...]: the answers to one question; keys: digests of rows with the question."""
        return self.by_question[question].at([self.numbers[key] for key in keys])


@dataclass
class Scheduler:
    """Packs rows into batches; remembers a halved budget, and counts what it ran.

    tokens: padded tokens a batch. packing: (rows, budget) -> how rows may share a pass (`core/passes/packing.py`); None:
    padded. rows_run, tokens_run: evaluated so far. tokens_checked: evaluated once more, alone. remembered: answers so far.
    progress: is called after each pack of rows.
    """

    tokens: int
    packing: Callable[[Sequence[Row], int], Packing] | None = None
    rows_run: int = 0
    tokens_run: int = 0
    tokens_checked: int = 0
    remembered: RememberedAnswers = field(default_factory=RememberedAnswers)
    progress: Progress = silent

    def __post_init__(self) -> None:
        at_least("tokens", self.tokens, 1)

    def packs_of(self, rows: Sequence[Row]) -> list[list[int]]:
        """Index lists as from `packs`, or packs without padding where the model's answers depend on padding."""
        packs = self.packs([row.length for row in rows])
        if self.packing is None or all(len(pack) == 1 for pack in packs):
            return packs
        packing = self.packing(rows, self.tokens)
        if packing == "padded":
            return packs
        order = [index for pack in packs for index in pack]
        size = lambda index: (rows[index].length, rows[index].extent, index if packing == "alone" else 0)  # noqa: E731
        groups = [list(group) for _, group in groupby(sorted(order, key=size, reverse=True), key=size)]
        at_once = [max(1, self.tokens // max(1, len(rows[group[0]]))) for group in groups]
        return [
            group[first : first + most]
            for group, most in zip(groups, at_once, strict=True)
            for first in range(0, len(group), most)
        ]

    def packs(self, lengths: Sequence[int]) -> list[list[int]]:
        """Index lists, longest rows first, each within the budget when padded (a longer row runs alone).

        Of all ways to cut the sorted rows, this is the one with the fewest padded tokens, where each pack costs a twelfth
        of a full pack more: the cost of starting it on a CPU (docs/design.md). Of packs of hundreds of rows it is nearly that one.
        """
        order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
        starts = _starts([lengths[index] for index in order], self.tokens)
        return [order[start:end] for start, end in pairwise([*starts, len(order)])]

    def evaluate(
        self,
        rows: Sequence[Row],
        run: Callable[[list[Row]], Tensor],
        question: bytes = b"",
        check: Callable[[Tensor, Tensor], None] | None = None,
    ) -> Tensor:
        """[row ...]: run's answer for every row, on the CPU; each distinct row is computed once and remembered.

        run: some rows -> their answers [row ...], on any device: they are fetched when all packs have begun, so that a GPU
        computes one pack while the next is put together. question: the key of this kind of answers, beside other kinds for the
        same rows. check: (answers together, answers alone), for the most padded rows; it raises where they differ.
        """
        return self.begin(rows, run, question, check)()

    def begin(
        self,
        rows: Sequence[Row],
        run: Callable[[list[Row]], Tensor],
        question: bytes = b"",
        check: Callable[[Tensor, Tensor], None] | None = None,
    ) -> Callable[[], Tensor]:
        """Begin what `evaluate` computes; the function that is returned fetches it.

        A GPU computes it meanwhile. Rows that have begun and are not fetched run once more for whoever begins them again.
        """
        if len(self.remembered) > REMEMBERED:
            self.forget()
        keys, remembered = [row.digest + question for row in rows], self.remembered
        fresh = {key: row for key, row in zip(keys, rows, strict=True) if key not in remembered}
        begun = self._begun(list(fresh.values()), run, question)

        def fetch() -> Tensor:
            self._remember_packs(begun, remembered, question)
            padded = [(pack[0].length - pack[-1].length, pack[-1]) for pack, _ in begun]
            if check is not None and (again := self._again(padded)):
                together = remembered.at([row.digest + question for row in again], question)
                self.check(together, again, run, check)
            return remembered.at(keys, question)

        return fetch

    def _begun(
        self, rows: Sequence[Row], run: Callable[[list[Row]], Tensor], question: bytes
    ) -> list[tuple[list[Row], Tensor]]:
        """The packs with their answers, which a GPU may still compute; where a pack fails, those before it are remembered."""
        begun: list[tuple[list[Row], Tensor]] = []
        done = 0
        try:
            for indices in self.packs_of(rows):
                pack = [rows[index] for index in indices]
                begun.append((pack, torch.cat(self.halving(pack, run))))
                done += len(pack)
                self.progress("edited texts", done, len(rows))
        except BaseException:
            self._remember_packs(begun, self.remembered, question)
            raise
        return begun

    def _remember_packs(
        self, begun: Sequence[tuple[list[Row], Tensor]], remembered: RememberedAnswers, question: bytes
    ) -> None:
        for pack, answers in begun:
            remembered.add(pack, answers.cpu(), question)
            self.rows_run += len(pack)
            self.tokens_run += sum(row.length for row in pack)

    def check(
        self,
        together: Tensor,
        again: Sequence[Row],
        run: Callable[[list[Row]], Tensor],
        compare: Callable[[Tensor, Tensor], None],
    ) -> None:
        """Run rows alone, and compare these answers with the answers that they got together."""
        compare(together, torch.cat([run([row]).cpu() for row in again]))

    def _again(self, padded: list[tuple[int, Row]]) -> list[Row]:
        """The most padded rows: at least one where there is padding, and up to a fortieth of the cost of all runs."""
        again = []
        for padding, row in sorted(padded, key=lambda pair: -pair[0]):
            if not padding or self.tokens_checked > SHARE * self.tokens_run:
                break
            self.tokens_checked += len(row) + round(START * self.tokens)
            again.append(row)
        return again

    def remember(self, rows: Sequence[Row], answers: Tensor, question: bytes = b"") -> None:
        """Remember answers [row ...] that are known already."""
        self.remembered.add(rows, answers, question)

    def forget(self) -> None:
        """Drop the remembered answers, between groups of texts that share no rows."""
        self.remembered = RememberedAnswers()

    def halving(self, rows: Sequence[Item], run: Callable[[list[Item]], Answer]) -> list[Answer]:
        """Run a pack; when memory runs out, halve the budget and run the halves of the pack."""
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


def _starts(sizes: list[int], budget: int) -> list[int]:
    """Where the cheapest packs of rows begin, for sizes in falling order: a shortest path from border to border."""
    borders = np.array(_borders(sizes, budget))
    cost = np.r_[0.0, np.full(len(borders) - 1, np.inf)]
    came_from = np.zeros(len(borders), dtype=int)
    longest = np.maximum(
        [sizes[first] for first in borders[:-1]], 1
    )  # 0 where a decoder's whole text is absent
    ends = np.searchsorted(borders, borders[:-1] + np.maximum(1, budget // longest), "right").tolist()
    for start, end in enumerate(ends):
        rows = borders[start + 1 : end] - borders[start]
        reached = cost[start] + budget * START + sizes[borders[start]] * rows
        better = reached <= cost[start + 1 : end]
        np.copyto(cost[start + 1 : end], reached, where=better)
        np.copyto(came_from[start + 1 : end], start, where=better)
    starts, index = [], len(borders) - 1
    while index:
        index = int(came_from[index])
        starts.append(int(borders[index]))
    return starts[::-1]


def _borders(sizes: list[int], budget: int) -> list[int]:
    """Where a pack may begin or end: at every row, or, of packs with hundreds of rows of one size, at every few."""
    borders = []
    for size, of_size in groupby(range(len(sizes)), key=sizes.__getitem__):
        borders += list(of_size)[:: max(1, budget // max(size, 1) // FINE)]
    return [*borders, len(sizes)]
