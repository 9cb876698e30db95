"""HardKuma's closed forms are its density integrated, and draws have the gradients of what they are drawn from."""

import pytest
import torch

from pellucid.models.pooling.heaviest_alone import HIGH, LOW, HardKuma, gates_of, margin, start
from tests.reference.rationale import hard_kuma_chance

SHAPES = ((0.5, 0.7), (1.0, 1.0), (2.0, 3.0))
ZERO, ONE = -LOW / (HIGH - LOW), (1 - LOW) / (HIGH - LOW)


def kuma(a, b):
    return HardKuma(torch.tensor([a], dtype=torch.float64), torch.tensor([b], dtype=torch.float64))


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_chances_of_the_edges_are_the_density_integrated(a, b):
    below = hard_kuma_chance(a, b, 0.0, ZERO)
    assert float(kuma(a, b).above_zero) == pytest.approx(1 - below, abs=1e-5)
    to_one = hard_kuma_chance(a, b, ZERO, ONE)
    assert float(kuma(a, b).at_one) == pytest.approx(1 - below - to_one, abs=1e-5)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_half_the_mass_lies_below_the_median(a, b):
    z = float(kuma(a, b).median)
    assert 0 < z < 1
    assert hard_kuma_chance(a, b, 0.0, (z - LOW) / (HIGH - LOW)) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(("a", "b", "expected"), ((0.1, 2.0, 0.0), (3.0, 0.1, 1.0)))
def test_the_median_is_an_edge_that_has_half_the_mass(a, b, expected):
    assert float(kuma(a, b).median) == expected
    assert (float(kuma(a, b).above_zero) > 0.5) == (expected > 0)
    assert (float(kuma(a, b).at_one) > 0.5) == (expected == 1)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_draws_have_the_chances_of_the_edges(a, b):
    torch.manual_seed(0)
    many = HardKuma(torch.full((40_000,), a), torch.full((40_000,), b))
    drawn = many.draw()
    assert float((drawn > 0).float().mean()) == pytest.approx(float(kuma(a, b).above_zero), abs=0.01)
    assert float((drawn == 1).float().mean()) == pytest.approx(float(kuma(a, b).at_one), abs=0.01)


def test_draws_have_the_gradient_of_their_expectation():
    """E[z] and its slope by a, from many draws of one quantile each and by differences."""
    shares = torch.linspace(0.0005, 0.9995, 1000, dtype=torch.float64)
    a = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    b = torch.tensor(1.1, dtype=torch.float64)

    def mean(at):
        return HardKuma(at.expand(1000), b.expand(1000)).quantile(shares).mean()

    (gradient,) = torch.autograd.grad(mean(a), a)
    step = 1e-4
    with torch.no_grad():
        rise = (mean(a + step) - mean(a - step)) / (2 * step)
    assert float(gradient) == pytest.approx(float(rise), rel=1e-3)
    assert float(gradient) > 0.1


@pytest.mark.parametrize("share", (0.05, 0.2, 0.5, 0.9))
def test_the_start_opens_gates_with_its_probability(share):
    assert float(gates_of(start(torch.tensor(share))).above_zero) == pytest.approx(share, abs=1e-5)


def test_the_margin_is_above_zero_where_a_gate_is_likelier_open():
    parameters = torch.randn(500, 2, generator=torch.Generator().manual_seed(0)) * 3
    above, margins = gates_of(parameters).above_zero, margin(parameters)
    assert ((above > 0.5) == (margins > 0)).all()
    assert 50 < int((margins > 0).sum()) < 450
    shifted = parameters - torch.stack([margins, torch.zeros(500)], -1)
    torch.testing.assert_close(gates_of(shifted).above_zero, torch.full((500,), 0.5), rtol=0, atol=1e-4)
