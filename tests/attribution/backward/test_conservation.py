"""Relevance is conserved on every kind of network; diagnostics say to the last digit what constants and rules take."""

import pytest
import torch

from pellucid.attribution.backward.mode import backward_rules
from pellucid.attribution.backward.policies import opened
from pellucid.attribution.backward.rules import COMMON, ratio
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import policies
from pellucid.run.hidden_target import HiddenState
from pellucid.run.target import Target
from tests.attribution.backward.networks import KINDS, OWN, TimeFirst, as_model, model_of
from tests.shared.asking import ask, residual
from tests.shared.tiny import FAMILIES

TEXTS = ("A gripping, lovely film.", "Long, winding and in the end rather dull !", "fine")
EXACT = 1e-6
POLICIES = (
    ("cp", {}),
    ("epsilon", {"epsilon": 1e-9}),
    ("alpha_beta", {}),
)
CASES = [(kind, *policy) for kind in KINDS for policy in POLICIES] + [
    (kind, "alpha_beta", {"alpha": alpha})  # one rule with other factors
    for kind in ("bert", "modernbert", "lstm", "span")
    for alpha in (2.0, 1.0, -0.5)
]


@pytest.fixture(scope="module")
def without_biases():
    return {kind: model_of(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def with_biases():
    return {kind: model_of(kind, biases=True) for kind in KINDS}


def explanations_of(model, policy, settings, **how):
    return ask(model, TEXTS, ("relevance", {"policy": policy, **settings}), **how)


@pytest.mark.parametrize(("kind", "policy", "settings"), CASES, ids=str)
def test_without_biases_the_scores_sum_to_the_target(kind, policy, settings, without_biases):
    """At the word embeddings, or at the first block's input where positions are added to them before."""
    layer = {} if kind in OWN else {"layer": 0}
    for explanation in explanations_of(without_biases[kind], policy, {**settings, **layer}):
        scores = explanation.scores.astype("float64")  # kept in float32
        assert scores.sum() == pytest.approx(explanation.target.value, rel=EXACT, abs=EXACT * abs(scores).sum())
        assert explanation.diagnostics["conservation_gap"] <= EXACT


@pytest.mark.parametrize("policy", [name for name in policies.names() if policies.get(name).facts["method"] is None])
@pytest.mark.parametrize("kind", KINDS)
def test_with_biases_words_and_accounts_make_up_the_target(kind, policy, with_biases):
    for explanation in explanations_of(with_biases[kind], policy, {}):
        diagnostics = explanation.diagnostics
        assert diagnostics["conservation_gap"] <= EXACT
        words = float(explanation.scores.sum()) / explanation.target.value
        whole = words + diagnostics["constants_share"] + diagnostics["rule_share"]
        room = max(1.0, float(abs(explanation.scores).sum()) / abs(explanation.target.value))
        assert whole == pytest.approx(1, abs=1e-5 * room)


@pytest.mark.parametrize("kind", ("bert", "lstm", "gpt2", "modernbert"))
def test_a_batch_keeps_everybodys_account(kind, with_biases):
    for policy in ("cp", "attnlrp"):
        together = explanations_of(with_biases[kind], policy, {}, budget=10_000)
        alone = explanations_of(with_biases[kind], policy, {}, budget=1)
        for one, other in zip(together, alone, strict=True):
            accounts = {name: one.diagnostics[name] for name in other.diagnostics if "parity" not in name}
            assert accounts == pytest.approx({name: other.diagnostics[name] for name in accounts}, abs=1e-5, rel=1e-5)
            assert max(residual(one), residual(other)) <= 1e-4


@pytest.mark.parametrize(
    "texts",
    (
        TEXTS,  # of several lengths, so that positions are no multiple of texts
        ("one two three", "four five six", "seven"),  # as many positions as texts
        ("one two three four", "five six seven eight"),
    ),
)
def test_networks_with_time_first_keep_everybodys_account(texts):
    """Inside them the first dimension is positions, so a tensor does not show whose a constant was."""
    torch.manual_seed(5)
    model = as_model(TimeFirst().double())
    for policy in ("cp", "attnlrp"):
        for explanation in ask(model, texts, ("relevance", {"policy": policy}), budget=10_000):
            assert explanation.diagnostics["conservation_gap"] <= EXACT
            assert not any("went astray" in caveat for caveat in explanation.caveats)
            words = float(explanation.scores.sum()) / explanation.target.value
            assert words + explanation.diagnostics["constants_share"] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_plain_gradient_x_input_does_not_conserve(family, without_biases):
    """The rules are needed: without them the same sum misses the logit."""
    if family in ("modernbert", "deberta_v3"):
        explanation = ask(without_biases[family], TEXTS[:1], "gradient_x_input")[0]
        assert abs(explanation.scores.sum()) < 1e-2 * abs(explanation.target.value)
    else:
        model = without_biases[family]
        plain = ask(model, TEXTS[:1], "gradient_x_input")[0].scores.sum()
        ours = ask(model, TEXTS[:1], "relevance")[0].scores.sum()
        assert abs(plain - ours) > 1e-3 * abs(ours)


def test_a_softmax_takes_its_share_under_attnlrp_alone(without_biases):
    shares = {
        policy: explanations_of(without_biases["bert"], policy, {})[0].diagnostics["rule_share"]
        for policy in ("cp", "attnlrp")
    }
    assert shares["cp"] == 0
    assert abs(shares["attnlrp"]) > 1e-3


@pytest.mark.parametrize("kind", ("bert", "deberta_v2", "gpt2", "transformer"))
def test_attnlrp_conserves_with_a_linear_softmax(kind, without_biases):
    """P2.1: there it is exact without any account, and with its own softmax the same sum misses."""

    @policies.add(conserves=True)
    def linear_softmax(ledger, network):
        """AttnLRP whose softmax passes relevance on as an activation does."""
        return backward_rules(network, ledger, {**COMMON, "softmax": ratio, "attention": opened})

    try:
        layer = {} if kind in OWN else {"layer": 0}
        for explanation in explanations_of(without_biases[kind], "linear_softmax", layer):
            room = EXACT * float(abs(explanation.scores).sum())
            assert explanation.scores.astype("float64").sum() == pytest.approx(explanation.target.value, abs=room)
            assert explanation.diagnostics["rule_share"] == 0
        explanation = explanations_of(without_biases[kind], "attnlrp", layer)[0]
        assert abs(explanation.scores.sum() - explanation.target.value) > 1e-3 * abs(explanation.target.value)
    finally:
        policies._entries.pop("linear_softmax")


def test_a_stabiliser_takes_its_share(without_biases):
    shares = [
        explanations_of(without_biases["bert"], "epsilon", {"epsilon": size})[0].diagnostics["rule_share"]
        for size in (0.0, 1e-3, 0.1)
    ]
    assert shares[0] == 0
    assert 0 < abs(shares[1]) < abs(shares[2])


@pytest.mark.parametrize("output", ("probability", "loss"))
def test_other_outputs_begin_with_gradient_x_logits(output, without_biases):
    for explanation in explanations_of(without_biases["bert"], "cp", {}, target=Target("positive", output)):
        logits = torch.tensor(explanation.prediction.logits, requires_grad=True)
        logs = logits.log_softmax(-1)[2]
        value = logs.exp() if output == "probability" else -logs
        (gradient,) = torch.autograd.grad(value, logits)
        diagnostics = explanation.diagnostics
        assert diagnostics["conservation_gap"] <= EXACT
        begun = float((gradient * logits).sum())
        words = float(explanation.scores.sum()) / begun
        assert words + diagnostics["constants_share"] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("method", ("relevance", "deep_lift_shap"))
@pytest.mark.parametrize("positions", ("pooled", "first", (1, 2)))
def test_a_hidden_state_as_target(positions, method, with_biases):
    for explanation in ask(with_biases["bert"], TEXTS, method, target=HiddenState(2, positions)):
        diagnostics = explanation.diagnostics
        gap = diagnostics["conservation_gap"] if method == "relevance" else diagnostics["completeness_gap"]
        assert gap <= EXACT
        assert explanation.scores.any()


def test_sizes_and_layers(without_biases):
    model = without_biases["bert"]
    signed, sizes = (ask(model, TEXTS[:1], ("relevance", {"reduce": way}))[0].scores for way in ("sum", "abs"))
    assert (sizes >= abs(signed) - 1e-7).all()
    for layer in range(4):
        explanation = ask(model, TEXTS[:1], ("relevance", {"layer": layer}))[0]
        assert explanation.scores.sum() == pytest.approx(explanation.target.value, rel=1e-5)
    assert abs(explanation.scores[1:]).max() < 1e-7  # above all blocks, the first token alone is read


@pytest.mark.parametrize(
    "settings",
    (
        {"layer": 4},
        {"layer": -1},
        {"reduce": "l2"},
        {"policy": "rescale"},
        {"policy": "epsilon", "epsilon": -1.0},
    ),
)
def test_settings_that_do_not_fit_are_refused(settings, without_biases):
    with pytest.raises(BadSetting):
        ask(without_biases["bert"], TEXTS[:1], ("relevance", settings))
