"""Shorter number types: every method runs, near the float32 answers, and nothing of it is left behind."""

import copy
from functools import cache

import numpy as np
import pytest
import torch

from pellucid.base.errors import ParityBroken
from pellucid.base.kinds import attributions
from pellucid.models.load import load_classifier
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import FEW, ask, works
from tests.shared.tiny import LABELS, save_tiny

ROUGH = {"deep_lift_shap", "relevance"}  # their own forward pass, written out, rounds otherwise in bfloat16

TEXTS = ("A gripping, lovely film.", "fine", ("The café was closed.", "Nobody could eat there."))
FAMILIES = ("bert", "albert", "deberta_v2", "modernbert", "gpt2", "llama")
# What reaches into a model's numbers runs in every family, what reads its answers in one: short numbers are slow here.
REACHING = ("attention_norm", "gradient", "integrated_gradients", "occlusion", *sorted(ROUGH))
PAIRS = [
    (family, method) for family in FAMILIES for method in attributions.names() if method in REACHING or family == "bert"
]
TOLERANCE = 5e-2


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory):
    """A function of a family: its models of each number type, the same ones for all tests, since each model tries how it rounds."""

    @cache
    def of_family(family):
        folder = save_tiny(tmp_path_factory.mktemp(family), family, LABELS)
        return {dtype: load_classifier(folder, dtype=dtype) for dtype in ("float32", "bfloat16", "mixed_bfloat16")}

    return of_family


@pytest.fixture(params=FAMILIES)
def kinds(request, all_kinds):
    """A model of a family in each number type."""
    return all_kinds(request.param)


@pytest.mark.whole
@pytest.mark.parametrize("dtype", ("bfloat16", "mixed_bfloat16"))
@pytest.mark.parametrize(("kinds", "method"), PAIRS, indirect=["kinds"])
def test_every_method_runs(method, dtype, kinds):
    model = kinds[dtype]
    if not works(method, model):
        pytest.skip("needs a span model")
    try:
        results = ask(model, TEXTS[:2], (method, FEW.get(method, {})), budget=1000)
    except ParityBroken:
        assert method in ROUGH, "rounding differs by processor, but only rules of their own may add so much to it"
        pytest.skip("the guard refuses it on this processor")
    for explanation in results:
        assert np.isfinite(explanation.scores).all()
        assert explanation.diagnostics["parity"] <= TOLERANCE


@pytest.mark.parametrize("dtype", ("bfloat16", "mixed_bfloat16"))
def test_falls_are_near_those_of_float32(dtype, kinds):
    target = Target("neutral")
    exact = ask(kinds["float32"], TEXTS, "occlusion", target=target)
    for one, other in zip(exact, ask(kinds[dtype], TEXTS, "occlusion", target=target), strict=True):
        room = 2 * TOLERANCE * max(1.0, *(abs(logit) for logit in one.prediction.logits))
        np.testing.assert_allclose(other.scores, one.scores, atol=room)


def test_mixed_weights_and_answers_stay_float32(kinds):
    model = kinds["mixed_bfloat16"]
    rows = model.encode(as_examples(TEXTS)).rows
    logits, exact = (kinds[name].trace(rows).logits for name in ("mixed_bfloat16", "float32"))
    assert {parameter.dtype for parameter in model.network.parameters()} == {torch.float32}
    assert logits.dtype == torch.float32
    assert not torch.equal(logits, exact)  # it is another computation
    short = kinds["bfloat16"].trace(rows).logits.float()
    assert (logits - exact).abs().mean() <= (short - exact).abs().mean()


def test_mixed_leaves_nothing_behind_after_an_error(kinds):
    model = kinds["mixed_bfloat16"]
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in model.network.modules()]

    def fail(*_):
        raise KeyboardInterrupt

    for place in ("register_forward_hook", "register_forward_pre_hook"):
        handle = getattr(model.blocks[-1], place)(fail)
        with pytest.raises(KeyboardInterrupt):
            ask(model, TEXTS, "occlusion")
        handle.remove()
        assert not torch.is_autocast_enabled("cpu")
        assert [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in model.network.modules()] == hooks


def test_the_guard_still_guards(kinds):
    model = copy.deepcopy(kinds["mixed_bfloat16"])

    def changed(_, inputs, output):
        output.logits = output.logits + 0.2 * output.logits.abs().max().clamp_min(1.0) * (len(output.logits) > 1)
        return output

    ask(model, TEXTS, "occlusion", budget=1000)  # tried: it may be padded
    model.network.register_forward_hook(changed)
    with pytest.raises(ParityBroken, match=r"allowed 0\.05"):
        ask(model, TEXTS, "occlusion", budget=1000)
