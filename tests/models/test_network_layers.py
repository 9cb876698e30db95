"""Layers of any torch network: named modules are hidden states, read, replaced and explained."""

import numpy as np
import pytest
import torch
from torch import nn

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.models.classifiers.network import from_network
from pellucid.run.hidden_target import HiddenState
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.small_networks import Layered, words
from tests.shared.tiny import LABELS

TEXTS = ("a gripping and lovely film", "fine", "the second part asks for more patience than it repays")


def layered(network=None, **settings):
    torch.manual_seed(3)
    network = network or Layered().eval()
    usual = {"tokenize": words, "logits": network, "embedding": network.embedding, "layers": network.layers}
    return from_network(network, **{**usual, "labels": LABELS, **settings})


@pytest.fixture(scope="module")
def model():
    return layered()


def rows_of(model, *texts):
    return model.encode(as_examples(list(texts))).rows


def test_states_are_what_the_modules_return(model):
    trace = model.trace(rows_of(model, *TEXTS), Want(hidden=True))
    ids = torch.tensor([[number for number, _, _ in words(TEXTS[0])]])
    embedded = model.network.embedding(ids)
    expected = embedded, model.network.first(embedded), model.network.second(model.network.first(embedded))
    assert [state.shape[-1] for state in trace.hidden] == [8, 12, 8]
    for state, own in zip(trace.hidden, expected, strict=True):
        torch.testing.assert_close(state[0, : ids.shape[1]], own[0])
    assert model.capabilities == {"gradient", "hidden_states"} and model.n_layers == 2


@pytest.mark.parametrize("deepest", (0, 1))
def test_nothing_runs_above_the_deepest_state_that_is_wanted(model, deepest):
    ran = []
    modules = (model.network.first, model.network.second, model.network.head)
    removed = [each.register_forward_hook(lambda module, *_: ran.append(module)) for each in modules]
    trace = model.trace(rows_of(model, TEXTS[0]), Want(hidden=True, deepest=deepest))
    for each in removed:
        each.remove()
    assert len(trace.hidden) == deepest + 1 and trace.logits.shape == (1, 0)
    assert ran in ([], list(modules[:deepest]))


@pytest.mark.parametrize("layer", (0, 1, 2))
def test_states_can_be_replaced(model, layer):
    rows = rows_of(model, *TEXTS)
    own = model.trace(rows, Want(hidden=True))
    same = model.trace(rows, Want(hidden=True), own.hidden[layer], layer)
    torch.testing.assert_close(same.logits, own.logits)
    other = model.trace(rows, Want(hidden=True, gradients=True), 2 * own.hidden[layer] + 1, layer)
    torch.testing.assert_close(other.hidden[layer].detach(), 2 * own.hidden[layer].detach() + 1)
    assert not torch.allclose(other.logits, own.logits)
    (gradient,) = torch.autograd.grad(other.logits.sum(), other.hidden[layer])
    assert gradient.any()


@pytest.mark.parametrize("layer", (0, 1, 2))
def test_methods_with_a_layer_read_it(model, layer):
    for method in ("grad_cam", "gradient_x_input", "integrated_gradients", "smooth_gradient"):
        together = ask(model, list(TEXTS), (method, {"layer": layer}))
        for text, one in zip(TEXTS, together, strict=True):
            alone = ask(layered(), [text], (method, {"layer": layer}))[0]
            np.testing.assert_allclose(one.scores, alone.scores, rtol=0, atol=1e-6)
    products = ask(model, [TEXTS[0]], ("gradient_x_input", {"layer": 2}))[0]
    state = model.trace(rows_of(model, TEXTS[0]), Want(hidden=True)).hidden[2][0]
    label = LABELS.index(products.target.label)
    expected = (state * model.network.head.weight[label]).sum(-1).detach().numpy()  # the head is a sum of states
    np.testing.assert_allclose(products.scores, expected, rtol=0, atol=1e-5)


def test_all_layers_are_rows(model):
    explanation = ask(model, [TEXTS[0]], ("grad_cam", {"layer": "all"}))[0]
    assert explanation.rows == (("layer", ("0", "1", "2")),) and explanation.scores.shape == (3, 5)


def test_a_state_depends_on_the_words_up_to_it(model):
    """Each layer reads one piece to the left, so the state of piece 3 after two layers depends on pieces 1 to 3."""
    for method in ("gradient", "occlusion"):
        (explanation,) = ask(model, [TEXTS[0]], method, target=HiddenState(2, (3,)))
        assert [n for n, score in enumerate(explanation.scores) if abs(score) > 1e-7] == [1, 2, 3]


def test_absent_pieces_keep_their_positions_behind_the_mask():
    model = layered(gaps="mask", mask=501)
    batch = model.encode(as_examples([TEXTS[0]]))
    edited = batch.edited(0, {1, 3}, "absent")
    states = model.trace([edited], Want(hidden=True)).hidden[1]
    assert states.shape == (1, 3, 12)
    ids = torch.tensor([[number for number, _, _ in words(TEXTS[0])]])
    embedded = model.network.embedding(ids) * torch.tensor([1.0, 0, 1, 0, 1])[None, :, None]
    torch.testing.assert_close(states[0], model.network.first(embedded)[0, [0, 2, 4]])


def test_the_first_of_several_outputs_is_the_state():
    class Recurrent(Layered):
        """An LSTM as a layer."""

        def __init__(self):
            super().__init__()
            self.first = nn.LSTM(8, 12, batch_first=True)

        def forward(self, ids, attended):
            states = self.second(self.first(self.embedding(ids))[0])
            return self.head((states * attended[..., None]).sum(1))

    model = layered(Recurrent().eval())
    rows = rows_of(model, *TEXTS)
    own = model.trace(rows, Want(hidden=True))
    assert own.hidden[1].shape[-1] == 12
    assert not torch.allclose(model.trace(rows, Want(), own.hidden[1] + 1, 1).logits, own.logits)


class Odd(Layered):
    """A network whose layers do not fit, in a way of its own."""

    way = ""

    def forward(self, ids, attended):
        vectors = self.embedding(ids)
        if self.way == "twice":
            self.first(vectors)
        if self.way == "order":
            self.second(vectors.new_zeros(*ids.shape, 12))
        if self.way == "shape":
            self.first(vectors.transpose(0, 1))
        if self.way == "packed":
            return self.first(vectors, attended)
        states = vectors.new_zeros(*ids.shape, 12) if self.way == "never" else self.first(vectors)
        return self.head(self.second(states).sum(1))


class Packed(nn.Module):
    def forward(self, vectors, attended):
        return nn.utils.rnn.pack_padded_sequence(vectors, attended.sum(1), True, enforce_sorted=False)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("twice", r"layers\[0\] ran when 1 layers had run; name modules that run once"),
        ("order", r"layers\[1\] ran when 0 layers had run"),
        ("never", r"layers\[1\] ran when 0 layers had run"),
        (
            "shape",
            r"layers\[0\] must return one vector a piece, here a tensor of shape \(1, 5, width\); \(5, 1, 12\) came",
        ),
        ("packed", r"layers\[0\] must return one vector a piece, .*; PackedSequence came"),
    ],
)
def test_modules_that_are_no_layers_are_one_sentence(way, message):
    network = Odd().eval()
    network.way = way
    if way == "packed":
        network.first = Packed()
    with pytest.raises(ModelCannot, match=message):
        layered(network).trace(rows_of(layered(), TEXTS[0]), Want(hidden=True))


def test_a_last_layer_that_does_not_run_is_one_sentence():
    network = Layered().eval()
    model = layered(network, layers=[network.first, network.second, nn.Linear(2, 2)])
    with pytest.raises(ModelCannot, match=r"logits did not run layers\[2\]"):
        model.trace(rows_of(model, TEXTS[0]), Want(hidden=True))
    assert model.trace(rows_of(model, TEXTS[0])).logits.isfinite().all()  # nothing of them is wanted


def test_states_of_another_width_are_refused(model):
    rows = rows_of(model, TEXTS[0])
    with pytest.raises(BadSetting, match=r"layer 1 of Layered must have the shape \(1, 5, 12\); \(1, 5, 8\) came"):
        model.trace(rows, Want(hidden=True), torch.zeros(1, 5, 8), 1)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"embedding": None}, BadSetting, "layers= needs embedding="),
        ({"layers": [3]}, BadInput, "Member 0 of layers"),
        ({"layers": nn.Linear(2, 2)}, BadInput, "layers came as one Linear"),
        ({"layers": [nn.Linear(2, 2)] * 2}, BadSetting, "different modules"),
    ],
)
def test_layers_that_do_not_fit_raise(settings, error, message):
    with pytest.raises(error, match=message):
        layered(**settings)


def test_the_layers_are_part_of_what_the_model_is():
    network = Layered().eval()
    plain, one, two = (layered(network, layers=layers) for layers in (None, [network.first], network.layers))
    assert len({plain.hash, one.hash, two.hash}) == 3
    assert plain.capabilities == {"gradient"}
    with pytest.raises(BadSetting, match="layer"):
        ask(one, [TEXTS[0]], ("gradient_x_input", {"layer": 2}))


def test_a_module_list_can_be_named_and_the_door_is_public():
    network = Layered().eval()
    assert layered(network, layers=nn.ModuleList(network.layers)).n_layers == 2
    assert pellucid.from_network is from_network
