"""DeepLIFT SHAP adds up to the rise on every kind of network, for every output."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.attribution.backward.networks import KINDS, TimeFirst, as_model, model_of
from tests.shared.asking import ask

TEXTS = ("A gripping, lovely film.", "Long, winding and in the end rather dull !", "fine")


@pytest.mark.parametrize("output", ("logit", "probability", "loss"))
@pytest.mark.parametrize("kind", KINDS)
def test_scores_sum_to_the_rise(kind, output):
    model = model_of(kind, biases=True)
    for explanation in ask(model, TEXTS, "deep_lift_shap", target=Target("positive", output)):
        assert explanation.diagnostics["completeness_gap"] <= 1e-5
        assert not explanation.scores[explanation.special].any()
        assert explanation.scores.any()


def test_the_rise_is_that_over_the_blanked_texts():
    model = model_of("bert", biases=True)
    target = Target("positive")
    batch = model.encode(as_examples(TEXTS))
    for number, explanation in enumerate(ask(model, TEXTS, ("deep_lift_shap", {"baselines": ("pad",)}), target=target)):
        logits = model.trace([batch.edited(number, batch.units[number].content, "pad")]).logits
        assert explanation.scores.sum() == pytest.approx(
            explanation.target.value - float(logits[0, 2].detach()), rel=1e-5
        )


def test_where_it_runs_alone_its_own_pass_gives_the_answers():
    """Of each text the user's own call and a row above two baselines; of several methods, a pass that they share too."""
    model, counts = model_of("bert", biases=True), []
    ask(model, TEXTS, "deep_lift_shap")  # with the trials of a new model
    hook = model.network.classifier.register_forward_hook(lambda *call: counts.append(len(call[-1])))
    alone = ask(model, TEXTS, "deep_lift_shap")
    assert sorted(counts) == [1, 1, 1, 9]
    beside = pellucid.explain_all(model, TEXTS, ["deep_lift_shap", "gradient"], progress=False)["deep_lift_shap"]
    hook.remove()
    assert sum(counts) == 12 + 15
    for our, their in zip(alone, beside, strict=True):
        np.testing.assert_allclose(our.scores, their.scores, atol=1e-9)


def test_several_baselines_are_the_mean_of_each():
    model = model_of("bert", biases=True)
    both, zero, pad = (
        ask(model, TEXTS[:1], ("deep_lift_shap", {"baselines": names}))[0].scores
        for names in (("zero", "pad"), ("zero",), ("pad",))
    )
    np.testing.assert_allclose(both, (zero + pad) / 2, atol=1e-6)
    one = ask(model, TEXTS[:1], ("deep_lift_shap", {"baselines": "zero"}))[0].scores
    assert np.array_equal(one, zero)


@pytest.mark.parametrize("names", ((), ("zero", "zero"), ("nothing",), "nothing", 3, [["zero"]]))
def test_baselines_that_do_not_fit_are_refused(names):
    with pytest.raises(BadSetting, match="baselines"):
        ask(model_of("bert"), TEXTS[:1], ("deep_lift_shap", {"baselines": names}))


def test_a_network_with_time_first_is_refused_in_words():
    """Its texts do not stand above their baselines in the first dimension, where the rules look for them."""
    model = as_model(TimeFirst().double())
    with pytest.raises(ModelCannot, match="another dimension before its texts"):
        ask(model, ("one two three", "four"), "deep_lift_shap", budget=1000)


def test_a_caveat_says_what_the_gap_is():
    """A function without a rule keeps its plain gradient; the sum then misses the rise, and the result says so."""

    class Waves(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(97, 4)

        def forward(self, ids, attended):
            return torch.sin(3 * (self.embedding(ids) * attended[..., None]).sum(1))[:, :3]

    with torch.random.fork_rng():
        torch.manual_seed(0)
        explanation = ask(as_model(Waves().double()), TEXTS[:1], "deep_lift_shap")[0]
    assert explanation.diagnostics["completeness_gap"] > 0.05
    assert "no rescale rule" in explanation.caveats[0]
