"""Packs run in an order in which the first ones say how long all take."""

import pytest

from pellucid.run.explaining import evenly_mixed
from pellucid.run.scheduler import Scheduler


@pytest.mark.parametrize("count", (4, 9, 30))
def test_the_first_packs_hold_as_many_texts_as_the_average_pack(count):
    packs = Scheduler(640).packs(range(8, 208))
    mixed = evenly_mixed(packs)
    assert sorted(mixed) == sorted(packs) and mixed[0] == packs[0]
    of_first, of_all = sum(map(len, mixed[:count])) / count, 200 / len(packs)
    assert 0.6 < of_first / of_all < 1.7
    assert sum(map(len, packs[:count])) / count / of_all < of_first / of_all or count == len(packs)


def test_few_packs():
    assert evenly_mixed([]) == [] and evenly_mixed([[1]]) == [[1]]
