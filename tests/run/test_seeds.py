"""Random draws depend on an example's content and on the user's seed, and on nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.target import Target
from tests.shared.asking import FEW, STATE, ask, reads_states

PINNED = [0.3835397, 0.8637373, 0.998149, 0.0701212]
ROW = Row((2, 10, 3), (0, 0, 0), (0, 1, 2), (-1, 0, -1), (-1, 0, -1))


def draw(row=ROW, method="chance", seed=0):
    return torch.rand(4, generator=generator_for(row, method, seed)).tolist()


def test_the_same_content_draws_the_same():
    assert draw() == draw(replace(ROW))


@pytest.mark.parametrize(
    "changed",
    (
        {"method": "lime"},
        {"seed": 1},
        {"row": replace(ROW, ids=(2, 11, 3))},
        {"row": replace(ROW, types=(0, 1, 0))},
    ),
)
def test_another_content_method_or_seed_draws_otherwise(changed):
    assert draw() != draw(**changed)


def test_the_draws_are_those_of_every_machine():
    assert draw() == pytest.approx(PINNED, abs=1e-7)


def test_the_global_state_is_neither_read_nor_changed():
    torch.manual_seed(1)
    before, first = torch.get_rng_state(), draw()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert draw() == first


def test_more_draws_begin_with_the_fewer(bert, texts):
    few, many = (ask(bert, texts, ("chance", {"n_draws": count})) for count in (3, 7))
    for one, other in zip(few, many, strict=True):
        np.testing.assert_array_equal(other.scores[:3], one.scores)


def test_the_target_does_not_change_the_luck(bert, texts):
    one, other = (ask(bert, texts, "chance", target=Target(of)) for of in ("positive", "negative"))
    assert all(np.array_equal(a.scores, b.scores) for a, b in zip(one, other, strict=True))


def test_a_negative_seed_raises(bert):
    with pytest.raises(BadSetting, match="seed=-1"):
        ask(bert, ["fine"], "chance", seed=-1)


@pytest.mark.parametrize("method", [name for name in attributions.names() if attributions.get(name).facts["random"]])
def test_the_type_of_new_numbers_does_not_change_the_draws(method, having):
    model = having(method)
    choice, target = (method, FEW.get(method, {})), STATE if reads_states(method) else Target()
    before = ask(model, ["A gripping, lovely film."], choice, target=target)[0]
    torch.set_default_dtype(torch.float64)
    try:
        after = ask(model, ["A gripping, lovely film."], choice, target=target)[0]
    finally:
        torch.set_default_dtype(torch.float32)
    room = 1e-4 * float(np.abs(before.scores).max())
    np.testing.assert_allclose(after.scores, before.scores, rtol=0, atol=room)
