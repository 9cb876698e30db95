"""The scheduler: rows, edited ones too, are sorted by length, packed by tokens, and equal ones computed once."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least
from pellucid.base.memory import is_memory_error
from pellucid.base.processes import Progress, silent
from pellucid.base.torch_state import sums_remembered
from pellucid.run.batch import Row, text_keys
from pellucid.run.model import InTurn, Model, Packing
from pellucid.run.parity import SHARE, check_edited
from pellucid.run.readout import LOGITS, Readout
from pellucid.run.windows import rows_of

# Which rows run together: the only file that knows batch sizes.
#
# Rows are sorted by length and packed by a budget of padded tokens. Equal rows run once. When memory runs out, the
# budget is halved and the work goes on. On a CPU a few hundred tokens keep a core busy, so the budget is small on
# purpose, and long texts run alone. Where padding changes a model's answers, only rows of one length share a pass.

Item, Answer = TypeVar("Item"), TypeVar("Answer")
Packs = Callable[[Sequence[Row], list[list[int]]], list[list[int]]]  # rows and the usual packs -> those that run
CPU_TOKENS, DEVICE_TOKENS = 640, 32768
START = 1 / 12  # the cost of starting a pack, as a share of the cost of a full one
FINE = 200  # parts of a pack to which its size is found
REMEMBERED = 50_000  # answers; when there are more, the next call forgets all of them


def default_budget(device: torch.device) -> int:
    """Tokens a batch: enough to keep this device busy, few enough for its caches."""
    return DEVICE_TOKENS if device.type != "cpu" else CPU_TOKENS * torch.get_num_threads()


class GrowingTensor:
    """The rows of a tensor that grows; it is moved whenever it has doubled, so adding a row costs the same however many
    there are.
    """

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


@dataclass
class Scheduler:
    """Packs rows into batches; remembers a halved budget, and counts what it ran.

    tokens: padded tokens a batch. packing: (rows, budget) -> how rows may share a pass (`run/packing.py`); None:
    padded. rows_run, tokens_run: evaluated so far. tokens_checked: evaluated once more, alone. known: by the digest of
    a row and its question the number of its answer in `answers`, by question [answer ...]. progress: is called after
    each pack of rows.
    """

    tokens: int
    packing: Callable[[Sequence[Row], int], Packing] | None = None
    rows_run: int = 0
    tokens_run: int = 0
    tokens_checked: int = 0
    known: dict[bytes, int] = field(default_factory=dict)
    answers: dict[bytes, GrowingTensor] = field(default_factory=dict)
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
        at_once = [max(1, self.tokens // max(1, rows[group[0]].length)) for group in groups]
        return [
            group[first : first + most]
            for group, most in zip(groups, at_once, strict=True)
            for first in range(0, len(group), most)
        ]

    def packs_of_texts(self, rows: Sequence[Row]) -> list[list[int]]:
        """The same of rows of which several may ask about places of one text: these are computed once, so they stand in
        one pack and count as one. Texts of a pack have equally many of them, so that as many passes back serve all.
        """
        by_text: dict[Hashable, list[int]] = {}
        for index, key in enumerate(text_keys(rows)):
            by_text.setdefault(key, []).append(index)
        if len(by_text) == len(rows):
            return self.packs_of(rows)
        by_count: dict[int, list[list[int]]] = {}
        for of_text in by_text.values():
            by_count.setdefault(len(of_text), []).append(of_text)
        packs = [
            [index for text in pack for index in texts[text]]
            for texts in by_count.values()
            for pack in self.packs_of([rows[of_text[0]] for of_text in texts])
        ]
        return sorted(packs, key=lambda pack: -rows[pack[0]].length)

    def packs(self, lengths: Sequence[int]) -> list[list[int]]:
        """Index lists, longest rows first, each within the budget when padded (a longer row runs alone).

        Of all ways to cut the sorted rows, this is the one with the fewest padded tokens, where each pack costs a
        twelfth of a full pack more: the cost of starting it on a CPU (docs/design.md). Of packs of hundreds of rows it
        is nearly that one.
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
        packs: Packs | None = None,
    ) -> Tensor:
        """[row ...]: run's answer for every row, on the CPU; each distinct row is computed once and remembered.

        run: some rows -> their answers [row ...], on any device: they are fetched when all packs have begun, so that a
        GPU computes one pack while the next is put together. question: the key of this kind of answers, beside other
        kinds for the same rows. check: (answers together, answers alone), for the most padded rows; it raises where
        they differ. packs: (rows that must run, the usual packs) -> those in which `run` takes them.
        """
        if len(self.known) > REMEMBERED:
            self.forget()
        keys = [row.digest + question for row in rows]
        fresh = {key: row for key, row in zip(keys, rows, strict=True) if key not in self.known}
        padded = self._compute(list(fresh.values()), run, question, packs)
        if check is not None and (again := self._again(padded)):
            together = self.answers[question].at([self.known[row.digest + question] for row in again])
            self.check(together, again, run, check)
        return self.answers[question].at([self.known[key] for key in keys])

    def _compute(
        self,
        rows: Sequence[Row],
        run: Callable[[list[Row]], Tensor],
        question: bytes,
        packs: Packs | None,
    ) -> list[tuple[int, Row]]:
        """Run rows and remember their answers. Returns for each pack the padding of its most padded row, and that
        row.
        """
        padded: list[tuple[int, Row]] = []
        begun: list[tuple[list[Row], Tensor]] = []
        done = 0
        usual = self.packs_of_texts(rows)
        try:
            for indices in usual if packs is None else packs(rows, usual):
                pack = [rows[index] for index in indices]
                begun.append((pack, torch.cat(self.halving(pack, run))))
                padded.append((pack[0].length - pack[-1].length, pack[-1]))
                done += len(pack)
                self.progress("edited texts", done, len(rows))
        finally:
            for pack, answers in begun:
                self.remember(pack, answers.cpu(), question)
                self.rows_run += len(pack)
                self.tokens_run += sum(row.length for row in pack)
        return padded

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
            self.tokens_checked += row.length + round(START * self.tokens)
            again.append(row)
        return again

    def remember(self, rows: Sequence[Row], answers: Tensor, question: bytes = b"") -> None:
        """Remember answers [row ...] that are known already."""
        of_question = self.answers.setdefault(question, GrowingTensor())
        self.known |= zip(
            [row.digest + question for row in rows],
            range(len(of_question), len(of_question) + len(rows)),
            strict=True,
        )
        of_question.append(answers if answers.dtype == torch.float64 else answers.float())

    def forget(self) -> None:
        """Drop the remembered answers, between groups of texts that share no rows."""
        self.known.clear()
        self.answers.clear()

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
    longest = np.maximum([sizes[first] for first in borders[:-1]], 1)  # 0 where a decoder's whole text is absent
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


def evaluate_rows(
    model: Model,
    scheduler: Scheduler,
    rows: Sequence[Row],
    readout: Readout = LOGITS,
    *,
    wide_head: bool = False,
) -> Tensor:
    """[row answer]: the model's answers, without gradients; every distinct row is computed once.

    The answer to a row with windows is the mean of the answers to its windows. wide_head: what follows the last block
    is computed in float32 at least, for answers that are subtracted.
    """
    dtype = torch.float32
    want = replace(readout.want, wide_head=wide_head)
    in_turn: InTurn | None = getattr(model, "in_turn", lambda _: None)(want)
    reader: Model | InTurn = model

    def run(pack: list[Row]) -> Tensor:
        nonlocal dtype
        with torch.no_grad():
            answers = readout.answers(reader.trace(pack, want), pack)
        dtype = answers.dtype
        return answers if dtype == torch.float64 else answers.float()

    def packs(fresh: Sequence[Row], usual: list[list[int]]) -> list[list[int]]:
        nonlocal reader
        order = None if in_turn is None else in_turn.packs(fresh, usual, scheduler.tokens)
        if in_turn is None or order is None:
            return usual
        reader = in_turn
        return order

    def check(together: Tensor, alone: Tensor) -> None:
        check_edited(model, together, alone, dtype)

    windows = [rows_of(row) for row in rows] if any(row.windows for row in rows) else None
    with sums_remembered():
        read = rows if windows is None else [row for of_row in windows for row in of_row]
        question = readout.key + (b" wide" if wide_head else b"")
        answers = scheduler.evaluate(read, run, question, check, packs)
    if windows is None:
        return answers
    return torch.stack([part.mean(0) for part in answers.split([len(of_row) for of_row in windows])])
