"""The game that Shapley values and local surrogates share: what is the target when only some units are present?

A coalition is a set of units of one text that are present; an operator takes the others out. Special tokens are always
present. The model is evaluated once on each coalition, however often its value is needed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from pellucid.run.batch import Operator, Row
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.target import Explainable
from pellucid.text.units import Kind, Units, coarsen

MOST_ROWS = 4096  # coalitions evaluated at once, of all texts together, so that memory does not grow with their number; more where packs are large


@dataclass(frozen=True)
class Games:
    """One game a text. units: what is scored in each text; owners: [piece] the unit that each piece belongs to."""

    run: ForwardPass
    target: Explainable
    operator: Operator
    units: tuple[Units, ...]
    owners: tuple[np.ndarray, ...]

    @property
    def sizes(self) -> list[int]:
        """Each text's number of players: its units without special tokens."""
        return [len(units.content) for units in self.units]

    def values(self, coalitions: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For each text [coalition] float64: the target's value; coalitions: a text's [coalition player] bool each, some of them equal."""
        most = max(MOST_ROWS, self.run.scheduler.tokens // 2)
        values = [np.zeros(len(of_text)) for of_text in coalitions]
        for parts in _parts([len(of_text) for of_text in coalitions], most):
            variants: list[list[Row]] = [[] for _ in coalitions]
            for number, part in parts.items():
                variants[number] = self._rows(number, coalitions[number][part])
            computed = self.run.evaluate(variants, self.target)
            for number, part in parts.items():
                values[number][part] = computed[number].double().cpu().numpy()
        return values

    def _rows(self, example: int, coalitions: np.ndarray) -> list[Row]:
        """A row for each coalition of a text, [coalition player] bool."""
        is_absent = np.zeros((len(coalitions), len(self.units[example])), dtype=bool)
        is_absent[:, list(self.units[example].content)] = ~coalitions
        return self.run.batch.edited_rows(example, is_absent[:, self.owners[example]], self.operator)

    def scores(self, players: Iterable[np.ndarray]) -> tuple[Tensor, ...]:
        """For each text's scores [player] those of its units [unit]: 0 at special tokens."""
        return tuple(map(_unit_scores, self.units, players))


def _parts(counts: Sequence[int], most: int) -> Iterator[dict[int, slice]]:
    """The coalitions of all texts in turn, so many at once: number of a text -> which of its coalitions; counts: of each text."""
    parts: dict[int, slice] = {}
    room = most
    for number, count in enumerate(counts):
        first = 0
        while first < count:
            last = min(count, first + room)
            parts[number], room, first = slice(first, last), room - (last - first), last
            if not room:
                yield parts
                parts, room = {}, most
    if parts:
        yield parts


def _unit_scores(units: Units, players: np.ndarray) -> Tensor:
    scores = torch.zeros(len(units), dtype=torch.float64)
    scores[list(units.content)] = torch.from_numpy(np.asarray(players, dtype=np.float64))
    return scores


def games(run: ForwardPass, target: Explainable, unit: Kind, operator: Operator) -> Games:
    """The games of a batch, whose players are the texts' units of this kind."""
    coarsened = [
        coarsen(units, unit, example.segments)
        for units, example in zip(run.batch.units, run.batch.examples, strict=True)
    ]
    owners = tuple(np.array(owner, dtype=np.int64) for _, owner in coarsened)
    return Games(run, target, operator, tuple(units for units, _ in coarsened), owners)


def all_coalitions(players: int) -> np.ndarray:
    """[2 ** players, player] bool: row number k has the players of k's binary digits, the lowest first."""
    return (np.arange(1 << players)[:, None] >> np.arange(players)) % 2 == 1


# Random coalitions of units: their sizes are spread evenly, and their members are drawn at random.
#
# Each text has one sequence of draws: the first 50 of 100 draws are those of a run with 50.


GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are
AT_ONCE = 64  # coalitions of one text


def even_numbers(generator: torch.Generator) -> Iterator[float]:
    """An endless sequence in [0, 1) from a random start: each number is uniform, and all are spread more evenly than by chance."""
    number = float(torch.rand((), generator=generator, dtype=torch.float64))
    while True:
        yield number
        number = (number + GOLDEN) % 1


def coalitions(
    players: int, generator: torch.Generator, sizes_at: Callable[[np.ndarray], np.ndarray], fewest: int = 0
) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player] bool. sizes_at: [number] in [0, 1) -> how many players are present; sets of a size are
    equally likely. fewest: smaller ones are left out.
    """
    numbers = even_numbers(generator)
    while True:
        sizes = sizes_at(np.fromiter(islice(numbers, AT_ONCE), dtype=np.float64))
        keys = torch.rand(AT_ONCE, players, generator=generator, dtype=torch.float64).numpy()
        ranked = np.c_[np.sort(keys, axis=1), np.ones(AT_ONCE)]  # all keys are below 1
        present = keys < ranked[np.arange(AT_ONCE), sizes][:, None]
        yield from present[sizes >= fewest]
