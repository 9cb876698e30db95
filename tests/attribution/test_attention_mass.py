"""Attention's flows keep their mass: what the first token's row holds is shared out and nothing is added (A2.8)."""

import numpy as np
import pytest

from tests.shared.asking import ask
from tests.shared.tiny import tiny_classifier

TEXT = "A gripping, lovely film, in the end."


def flow(model, **settings):
    return ask(model, [TEXT], ("attention", settings))[0].scores


@pytest.mark.parametrize("settings", ({"heads": "mean"}, {"heads": "chain"}), ids=str)
@pytest.mark.parametrize("blocks", (1, 3))
def test_tracing_keeps_a_mass_of_one(settings, blocks):
    scores = flow(tiny_classifier("bert", num_hidden_layers=blocks), flow="tracing", **settings)
    assert scores.sum() == pytest.approx(1, abs=1e-6)
    assert (scores >= 0).all()


def test_on_one_block_all_ways_agree():
    model = tiny_classifier("bert", num_hidden_layers=1)
    mean, chain = (flow(model, flow="tracing", heads=heads) for heads in ("mean", "chain"))
    np.testing.assert_allclose(mean, chain, atol=1e-7)
    np.testing.assert_allclose(mean, flow(model), atol=1e-7)


def test_tracing_with_half_a_residual_is_rollout():
    """On one block: half of the mass stays with the first token, the other half is traced."""
    model = tiny_classifier("bert", num_hidden_layers=1)
    traced, rolled = flow(model, flow="tracing"), flow(model, flow="rollout")
    stays = np.eye(len(traced))[0]
    np.testing.assert_allclose(rolled, (traced + stays) / 2, atol=1e-7)
