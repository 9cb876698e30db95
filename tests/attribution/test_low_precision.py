"""Sixteen-bit models: what is rounding is said to be rounding, and what is too small to divide by gives no nan."""

import math
from functools import cache

import numpy as np
import pytest
import torch

from pellucid.attribution.gradient import CANCELLED, ORTHOGONAL
from pellucid.base.kinds import attributions
from pellucid.run.hidden_target import HiddenState
from pellucid.run.rounding import InWiderNumbers, quotient, rounding
from tests.shared.asking import FEW, ask, works
from tests.shared.tiny import tiny_classifier

TEXTS = ("A gripping, lovely film.", "fine", ("The café was closed.", "Nobody could eat there."))
SHORT = pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16), ids=str)


@cache
def short(family, dtype, head=1.0):
    """A tiny model in a short type, one for all tests; head: what its last layer is multiplied with."""
    model = tiny_classifier(family)
    with torch.no_grad():
        model.network.classifier.weight.mul_(head) if head != 1.0 else None
    model.network.to(dtype)
    return model


@SHORT
@pytest.mark.parametrize(
    ("family", "method", "caveat"),
    (
        ("bert", ("gradient", {"norm": "sum"}), CANCELLED),
        ("bert", ("allennlp_smooth", {"n_samples": 4}), CANCELLED),
        ("mpnet", ("gradient", {"norm": "sum"}), CANCELLED),
        ("deberta_v3", "allennlp_simple", ORTHOGONAL),
        ("modernbert", "allennlp_simple", ORTHOGONAL),
        ("deberta_v3", "gradient_x_input", ORTHOGONAL),
    ),
)
def test_rounding_is_no_score(family, method, caveat, dtype):
    for explanation in ask(short(family, dtype), TEXTS, method):
        assert caveat in explanation.caveats
        if str(explanation.method).startswith("allennlp"):
            assert not explanation.scores.any()


@SHORT
@pytest.mark.parametrize("family", ("llama", "bert"))
def test_what_is_no_rounding_stays(family, dtype):
    """Llama's words meet no LayerNorm that takes their mean away; BERT's behind it neither."""
    layer = {"layer": 0} if family == "bert" else {}
    model = short(family, dtype)
    for method in (("gradient", {"norm": "sum", **layer}), ("allennlp_smooth", {"n_samples": 4, **layer})):
        for explanation in ask(model, TEXTS, method):
            assert CANCELLED not in explanation.caveats
            assert explanation.scores.any()


FAINT = [
    name
    for name in attributions.names()
    if "gradient" in attributions.get(name).facts["needs"] and not name.startswith("discretised")
]


@pytest.mark.parametrize("head", (1e-6, 1e-9))
@pytest.mark.parametrize("method", FAINT)
def test_gradients_too_small_for_float16_leave_no_nan(method, head):
    """A sure model's gradients end below what float16 can write: then there is nothing to share out, and no nan."""
    model = short("bert", torch.float16, head=head)
    if not works(method, model):
        pytest.skip("needs a model that explains itself")
    for explanation in ask(model, TEXTS[:2], (method, FEW.get(method, {}))):
        assert np.isfinite(explanation.scores).all()
        assert all(math.isfinite(value) for value in explanation.diagnostics.values()), explanation.diagnostics
        assert not any("nan" in caveat or "inf%" in caveat for caveat in explanation.caveats)


def test_a_hidden_state_of_zeros_has_no_direction(bert):
    states = torch.zeros(2, 4, dtype=torch.float16)
    assert HiddenState(1).resolve(states, bert).directions.eq(0).all()


def test_quotients_of_nothing_are_zero():
    tiny, zero = torch.tensor([1e-7, 6e4, 0.0], dtype=torch.float16), torch.zeros(3, dtype=torch.float16)
    assert quotient(tiny, zero).tolist() == [0, 0, 0]
    assert quotient(tiny, tiny)[:2].tolist() == pytest.approx([1, 1])
    assert quotient(tiny, torch.full((3,), 1e-40)).tolist() == [0, 0, 0]


def test_rounding_follows_the_type():
    assert rounding(torch.float32) < rounding(torch.float16) < rounding(torch.bfloat16) < 0.1


def test_functions_see_float32_and_weights_stay():
    layer = torch.nn.Linear(3, 2).half()
    with InWiderNumbers(), torch.no_grad():
        answer = layer(torch.ones(1, 3, dtype=torch.float16))
        assert layer.weight.dtype == torch.float32  # what a network asks of its weights before it makes a mask
    assert answer.dtype == torch.float32
    assert layer.weight.dtype == torch.float16
    exact = torch.nn.functional.linear(torch.ones(1, 3), layer.weight.float(), layer.bias.float())
    torch.testing.assert_close(answer, exact)
