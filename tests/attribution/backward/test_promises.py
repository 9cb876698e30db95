"""Policies change the backward pass alone, in their own thread, as long as their `with` lasts; what they cannot do,
they say.
"""

import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import Function

from pellucid.base.errors import ModelCannot, UnknownName
from pellucid.base.kinds import policies
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.policy_pass import Ledger
from pellucid.run.readout import LOGITS
from pellucid.run.scheduler import Scheduler
from pellucid.text.example import as_examples
from tests.attribution.backward.networks import KINDS, WIDTH, Convolutional, Perceptron, Recurrent, as_model, model_of
from tests.shared.asking import ask

TEXTS = ("A gripping, lovely film.", "Long, winding and in the end rather dull !", "fine")


def run_of(model, texts=TEXTS):
    return ForwardPass(model, model.encode(as_examples(texts)), Scheduler(1000))


@pytest.mark.parametrize("policy", policies.names())
@pytest.mark.parametrize("kind", KINDS)
def test_the_values_stay_the_models_own(kind, policy):
    run = run_of(model_of(kind, biases=True), TEXTS[:2] * 2)  # an even number, for rules that read pairs
    torch.testing.assert_close(run.under(policy).logits, run.logits, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("policy", policies.names())
def test_in_single_precision_too(policy, bert):
    run = run_of(bert, TEXTS[:2] * 2)
    torch.testing.assert_close(run.under(policy).logits, run.logits, rtol=1e-4, atol=1e-5)


def test_an_activation_meets_its_rule_once(bert):
    """Also one that is a module of the library around one function of torch."""
    under = run_of(bert).under("cp")
    assert len(under.logits) == 3
    assert under.ledger.treated["activation"] == bert.n_layers + 1  # and that of the pooler


def test_nothing_is_left_after_an_exception():
    class Broken(Recurrent):
        def forward(self, ids, attended):
            answer = super().forward(ids, attended)
            if not torch.overrides.has_torch_function((ids,)):  # a look at the network, before the policy's pass
                return answer
            assert self.lstm._forward_hooks
            raise KeyboardInterrupt

    network = Broken().double()
    run = run_of(as_model(network))
    with pytest.raises(KeyboardInterrupt):
        run.under("cp").logits  # noqa: B018
    assert not any(module._forward_hooks for module in network.modules())
    assert not torch.overrides.has_torch_function((torch.ones(1),))


def test_two_threads_under_two_policies_do_not_meet():
    model = model_of("albert", biases=True)  # an activation treated whole, by a hook that both threads share
    alone = {
        name: run_of(model).under(name).vector_jacobian_product(LOGITS, torch.ones(3, 3))
        for name in ("cp", "alpha_beta")
    }
    gradients, failed = {}, []
    gate = threading.Barrier(2)

    def work(name):
        try:
            gate.wait()
            for turn in range(8):
                gradients[name, turn] = run_of(model).under(name).vector_jacobian_product(LOGITS, torch.ones(3, 3))
        except BaseException as error:  # a thread's error would be lost
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for (name, _), gradient in gradients.items():
        torch.testing.assert_close(gradient, alone[name])
    assert not any(module._forward_hooks for module in model.network.modules())


def test_a_policy_does_not_reach_into_another_thread():
    with policies.get("cp").make(Ledger(1, torch.device("cpu")), nn.Identity()):
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.overrides.has_torch_function((torch.ones(1),))))
        thread.start()
        thread.join()
    assert seen == [False]


@pytest.mark.parametrize("kind", ("albert", "lstm"))
def test_a_plain_pass_in_another_thread_stays_plain(kind):
    """The hooks hang on the network for both threads; only the one with the policy may hear them."""
    model = model_of(kind, biases=True)
    plain = ask(model, TEXTS, "gradient")
    explanations = []
    with policies.get("cp").make(Ledger(3, torch.device("cpu")), model.network):
        assert any(module._forward_hooks for module in model.network.modules())
        thread = threading.Thread(target=lambda: explanations.extend(ask(model, TEXTS, "gradient")))
        thread.start()
        thread.join()
    assert explanations == plain


class Doubled(Function):
    """Somebody's own function."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def test_an_unknown_function_raises():
    class Own(Perceptron):
        def forward(self, ids, attended):
            states = Doubled.apply(self.embedding(ids)) * attended[..., None]
            return self.head(self.layers(states.sum(1)))

    model = as_model(Own())
    assert ask(model, TEXTS, "gradient_x_input")
    for method in ("relevance", "deep_lift_shap"):
        with pytest.raises(ModelCannot, match="Doubled"):
            ask(model, TEXTS, method)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_compiled_script_raises():
    network = Perceptron()
    network.layers = torch.jit.script(network.layers)
    with pytest.raises(ModelCannot, match="TorchScript"):
        ask(as_model(network), TEXTS, "relevance")


@pytest.mark.parametrize("layer", (nn.GRU, nn.RNN))
def test_other_recurrent_networks_are_refused(layer):
    class Own(Convolutional):
        def __init__(self):
            super().__init__()
            self.other = layer(WIDTH, WIDTH, batch_first=True)

        def forward(self, ids, attended):
            return self.head(self.other(self.embedding(ids))[0][:, 0].repeat(1, 3))

    with pytest.raises(ModelCannot, match=f"{layer.__name__}.*integrated_gradients"):
        ask(as_model(Own()), ["fine"], "relevance")


@pytest.mark.parametrize("batch_first", (False, True))
@pytest.mark.parametrize("form", ("single", "batch", "packed"))
def test_torchs_own_lstm_and_attention_in_every_form(form, batch_first):
    """What is written out gives what torch's module gives, in the form that it has."""
    torch.manual_seed(0)
    lstm = nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=batch_first).double()
    heads = nn.MultiheadAttention(6, 2, batch_first=batch_first).double()
    states, more = (torch.randn(4, 3, width, dtype=torch.float64, requires_grad=True) for width in (5, 6))
    if form == "single":
        states, more = states[:, 0], more[:, 0]
    hidden = torch.zeros(4, 6).double() if form == "single" else torch.zeros(4, 4 if batch_first else 3, 6).double()
    inputs = states
    if form == "packed":
        inputs = nn.utils.rnn.pack_padded_sequence(
            states, torch.tensor([1, 3, 2, 3][: 4 if batch_first else 3]), batch_first, enforce_sorted=False
        )

    def answers():
        outputs, ends = lstm(inputs) if form == "packed" else lstm(inputs, (hidden, hidden + 1))
        return [getattr(outputs, "data", outputs), *ends, heads(more, more, more, need_weights=False)[0]]

    plain = answers()
    network = nn.ModuleList([lstm, heads])
    with policies.get("attnlrp").make(Ledger(1, torch.device("cpu")), network):
        ours = answers()
    for one, other in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, other)


def test_weights_that_learn_are_left_alone():
    model = model_of("bert", biases=True)
    parameters = list(model.network.parameters())
    assert all(parameter.requires_grad for parameter in parameters)
    ask(model, TEXTS, "relevance")
    assert all(parameter.requires_grad and parameter.grad is None for parameter in parameters)
    frozen = model_of("bert", biases=True)
    frozen.network.requires_grad_(False)
    one, other = (ask(each, TEXTS[:1], "relevance")[0].scores for each in (model, frozen))
    np.testing.assert_array_equal(one, other)


def test_an_unknown_policy_names_the_known_ones(bert):
    with pytest.raises(UnknownName, match="alpha_beta, attnlrp, cp, epsilon"):
        ask(bert, TEXTS, ("relevance", {"policy": "lrp0"}))
    with pytest.raises(UnknownName, match="alpha"):
        ask(bert, TEXTS, ("relevance", {"policy": "cp", "alpha": 2.0}))


def test_a_caveat_says_what_went_astray():
    class Waves(Perceptron):
        def forward(self, ids, attended):
            return torch.cos(super().forward(ids, attended))

    explanation = ask(as_model(Waves()), TEXTS[:1], "relevance")[0]
    assert explanation.diagnostics["conservation_gap"] > 0.05
    assert "astray" in explanation.caveats[0]


def test_a_policy_of_ones_own_is_looked_up_by_name(bert):
    from pellucid.attribution.backward.mode import backward_rules
    from pellucid.attribution.backward.rules import COMMON

    @policies.add(conserves=False)
    def plain_softmax(ledger, network):
        """Attention's weights keep their plain gradient."""
        return backward_rules(
            network,
            ledger,
            {name: rule for name, rule in COMMON.items() if name not in ("softmax", "attention")},
        )

    try:
        explanation = ask(bert, TEXTS[:1], ("relevance", {"policy": "plain_softmax"}))[0]
        assert np.abs(explanation.scores - ask(bert, TEXTS[:1], "relevance")[0].scores).max() > 1e-4
    finally:
        policies._entries.pop("plain_softmax")
