"""Every relevance policy keeps the promises all share, and those it claims for itself."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.attribution.backward.mode import backward_rules
from pellucid.attribution.backward.rules import COMMON, times_ratio
from pellucid.base.checks import at_least
from pellucid.base.errors import BadSetting, UnknownName
from pellucid.base.kinds import attributions, policies
from pellucid.explaining.commands.model_options import choices_from, settings_from
from pellucid.results.storage import read, save
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.text.example import as_examples
from tests.attribution.backward.networks import model_of
from tests.shared.asking import ask

TEXTS = ("A gripping, lovely film.", "Long, winding and in the end rather dull !", "fine")
POLICIES = policies.names()
OF_RELEVANCE = [name for name in POLICIES if policies.get(name).facts["method"] is None]
EXACT = 1e-6


def method_of(policy):
    """The method that reads a policy, with the settings that name it."""
    method = policies.get(policy).facts["method"]
    return ("relevance", {"policy": policy}) if method is None else (method, {})


@pytest.fixture(scope="module")
def without_biases():
    return model_of("bert")


@pytest.fixture(scope="module")
def with_biases():
    return model_of("bert", biases=True)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_says_what_it_is_and_its_settings_have_defaults(policy):
    entry = policies.get(policy)
    assert entry.summary and entry.paper
    assert isinstance(entry.facts["conserves"], bool)
    assert entry.facts["method"] in (None, *attributions.names())
    assert inspect.Parameter.empty not in entry.defaults.values()


@pytest.mark.parametrize("policy", POLICIES)
def test_the_logits_of_its_pass_are_the_models(policy, with_biases):
    """An even number of rows, for rules that read a text and its baseline as a pair."""
    batch = with_biases.encode(as_examples(TEXTS[:2] * 2))
    run = ForwardPass(with_biases, batch, Scheduler(1000))
    torch.testing.assert_close(run.under(policy).logits, run.logits, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("policy", [name for name in POLICIES if policies.get(name).facts["conserves"]])
def test_a_policy_that_conserves_hands_the_whole_value_to_the_words(policy, without_biases):
    """Without biases, and without position embeddings: by the scores and by the method's own diagnostic."""
    method, settings = method_of(policy)
    layer = {"layer": 0} if method == "relevance" else {}
    for explanation in ask(without_biases, TEXTS, (method, {**settings, **layer})):
        gaps = [explanation.diagnostics[name] for name in explanation.diagnostics if name.endswith("_gap")]
        assert gaps and max(gaps) <= 1e-5
        if method == "relevance":
            scores = explanation.scores.astype("float64")
            tolerance = 1e-5 * float(abs(scores).sum())  # epsilon's stabiliser takes a little
            assert scores.sum() == pytest.approx(explanation.target.value, abs=tolerance)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_batch_gives_what_each_text_gives_alone(policy, with_biases):
    together = ask(with_biases, TEXTS, method_of(policy))
    for text, beside in zip(TEXTS, together, strict=True):
        [alone] = ask(with_biases, [text], method_of(policy))
        tolerance = EXACT * max(1.0, float(abs(alone.scores).max()))
        np.testing.assert_allclose(beside.scores, alone.scores, rtol=0, atol=tolerance)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_setting_that_a_policy_does_not_have_is_refused_by_name(policy, with_biases):
    run = ForwardPass(with_biases, with_biases.encode(as_examples(TEXTS)), Scheduler(1000))
    with pytest.raises(UnknownName, match=f"setting of {policy}.*'sharpness'"):
        run.under(policy, sharpness=2.0)


@pytest.mark.parametrize("policy", OF_RELEVANCE)
def test_every_setting_of_a_policy_reaches_it_through_relevance(policy, bert):
    """Its own defaults, given by name, change nothing; they stand in the result."""
    defaults = policies.get(policy).defaults
    [plain] = ask(bert, TEXTS[:1], ("relevance", {"policy": policy}))
    settings = {"policy": policy, "policy_settings": defaults}
    [explicit] = ask(bert, TEXTS[:1], ("relevance", settings))
    np.testing.assert_array_equal(explicit.scores, plain.scores)
    assert explicit.settings["policy_settings"] == defaults
    with pytest.raises(UnknownName, match="sharpness"):
        ask(bert, TEXTS[:1], ("relevance", {"policy": policy, "policy_settings": {"sharpness": 2.0}}))


@pytest.fixture
def damped():
    """The name of a policy with a setting that no other policy has."""

    @policies.add(conserves=False)
    def damped_activations(ledger, network, *, strength: float = 1.0):
        """CP whose activations hand on only so much of their relevance."""
        at_least("strength", strength, 0.0)

        def rule(mode, call):
            path, *rest = call.args
            value = call.value_at(path.detach(), *rest)
            output = times_ratio(path, strength * value)
            return output + (value - output).detach()

        return backward_rules(network, ledger, {**COMMON, "activation": rule})

    yield "damped_activations"
    policies._entries.pop("damped_activations")


def scores_of(model, policy, **settings):
    [explanation] = ask(model, TEXTS[:1], ("relevance", {"policy": policy, **settings}))
    return explanation.scores


def assert_repeated(model, explanation, settings):
    """The same explanation under the same settings; the title says which of them were given."""
    [again] = ask(model, TEXTS[:1], ("relevance", dict(settings)))
    assert replace(again, method=explanation.method) == explanation


def test_a_setting_of_ones_own_reaches_the_policy(damped, bert):
    plain = scores_of(bert, damped)
    np.testing.assert_array_equal(scores_of(bert, damped, policy_settings={"strength": 1.0}), plain)
    assert np.abs(scores_of(bert, damped, policy_settings={"strength": 0.5}) - plain).max() > 1e-4


def test_settings_are_saved_with_the_result_and_repeat_it(damped, bert, tmp_path):
    settings = {"policy": damped, "policy_settings": {"strength": 0.5}}
    explanations = ask(bert, TEXTS[:1], ("relevance", settings))
    save(explanations, tmp_path / "saved.parquet")
    [stored] = read(tmp_path / "saved.parquet")
    assert stored.settings["policy_settings"] == {"strength": 0.5}
    assert_repeated(bert, stored, stored.settings)


def test_the_command_line_can_give_them(damped, bert):
    """As `--set NAME=VALUE`, whose value is JSON."""
    pairs = [f"policy={damped}", 'policy_settings={"strength": 0.5}']
    [choice] = choices_from("relevance", settings_from(pairs))
    expected = scores_of(bert, damped, policy_settings={"strength": 0.5})
    np.testing.assert_array_equal(ask(bert, TEXTS[:1], choice)[0].scores, expected)


def test_short_forms_are_the_same_settings(bert):
    for policy, name in (("epsilon", "epsilon"), ("alpha_beta", "alpha")):
        short = scores_of(bert, policy, **{name: 0.3})
        np.testing.assert_array_equal(short, scores_of(bert, policy, policy_settings={name: 0.3}))


def test_a_result_from_before_policy_settings_came_is_repeated_as_it_is(bert):
    """Neither its settings nor its bytes change, so what was kept still matches."""
    [explanation] = ask(bert, TEXTS[:1], ("relevance", {"policy": "epsilon", "epsilon": 0.1}))
    names = {"policy", "layer", "reduce", "epsilon", "alpha"}
    assert set(explanation.settings) == names
    assert_repeated(bert, explanation, explanation.settings)
    assert_repeated(bert, explanation, {"policy": "epsilon", "epsilon": 0.1, "policy_settings": None})


@pytest.mark.parametrize(
    ("settings", "message"),
    (
        ({"policy": "epsilon", "epsilon": 0.1, "policy_settings": {"epsilon": 0.1}}, "given twice"),
        ({"policy_settings": ["epsilon", 0.1]}, "names with values"),
        ({"policy_settings": "epsilon"}, "names with values"),
        ({"policy": "epsilon", "policy_settings": {"epsilon": "much"}}, "epsilon='much'"),
        ({"policy": "epsilon", "policy_settings": {"epsilon": -1.0}}, "too small"),
    ),
)
def test_what_is_no_setting_is_refused(settings, message, bert):
    with pytest.raises(BadSetting, match=message):
        ask(bert, TEXTS[:1], ("relevance", settings))
