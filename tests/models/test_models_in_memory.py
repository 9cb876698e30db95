"""Models as people have them in memory: each runs what its mathematics allows, or says in one sentence what it
lacks.
"""

import copy
import functools
import json
import threading

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import pellucid
from pellucid.base.errors import ModelCannot, ParityBroken, PellucidError
from pellucid.base.kinds import attributions
from pellucid.run.target import Target
from tests.shared.asking import FEW, ask, works
from tests.shared.tiny import save_tiny, tiny_classifier
from tests.shared.tiny_writing import tiny_writing

TEXT = "A gripping, lovely film."
EDITS = ("occlusion", "lime", "kernel_shap", "shapley_sampling")
BY_RULES = ("deep_lift_shap", "relevance", "wu_ong_lrp")  # which share out by each map, and two maps are not one
GRADIENTS = ("gradient", "gradient_x_input", "integrated_gradients")


def loaded(network, tokenizer):
    """A model in memory, by the door that its owner would take."""
    return pellucid.load(network, tokenizer)


def tiny_parts(family="bert"):
    model = tiny_classifier(family)
    return model.network, model.tokenizer


def quantised():
    network, tokenizer = tiny_parts()
    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, torch.qint8), tokenizer


def replaced(wraps):
    network, tokenizer = tiny_parts()
    own = network.forward

    def forward(*args, **kwargs):
        return own(*args, **kwargs)

    network.forward = functools.wraps(own)(forward) if wraps else forward
    return network, tokenizer


@pytest.mark.filterwarnings("ignore:.*torch.ao.quantization.*")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_quantised_network_is_explained_by_edits_and_says_that_it_has_no_gradients():
    network, tokenizer = quantised()
    model = loaded(network, tokenizer)
    columns = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        own = network(**columns).logits[0]
    for method in EDITS:
        explanation = ask(model, TEXT, (method, FEW.get(method, {})))[0]
        assert explanation.scores.any()
        np.testing.assert_allclose(explanation.prediction.logits, own, rtol=1e-5)
    for method in GRADIENTS:
        with pytest.raises(PellucidError, match="gradient"):
            ask(model, TEXT, (method, FEW.get(method, {})))


class WholeNumbers(nn.Module):
    """A linear map with weights of eight bits, as bitsandbytes keeps them; with or without a way back."""

    def __init__(self, plain, way_back):
        super().__init__()
        self.scale = plain.weight.detach().abs().amax(1, keepdim=True) / 127
        self.weight = nn.Parameter((plain.weight.detach() / self.scale).round().to(torch.int8), requires_grad=False)
        self.bias, self.way_back = plain.bias, way_back

    def forward(self, states):
        """[... width]"""
        with torch.set_grad_enabled(self.way_back and torch.is_grad_enabled()):
            return nn.functional.linear(states, self.weight * self.scale, self.bias)


class Adapted(nn.Module):
    """A linear map with an adapter, as PEFT keeps it."""

    def __init__(self, plain):
        super().__init__()
        self.base_layer = plain
        self.lora_A = nn.ModuleDict({"default": nn.Linear(plain.in_features, 4, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(4, plain.out_features, bias=False)})

    def forward(self, states):
        """[... width]"""
        return self.base_layer(states) + 2.0 * self.lora_B["default"](self.lora_A["default"](states))

    def merged(self):
        """The weights of one map that gives the same."""
        return self.base_layer.weight + 2.0 * self.lora_B["default"].weight @ self.lora_A["default"].weight


class Wrapper(nn.Module):
    """What PEFT puts around a network: it has one part, and borrows all that it lacks from it."""

    part = "model"

    def __init__(self, inside):
        super().__init__()
        self.add_module(self.part, inside)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(self.part), name)

    def forward(self, *args, **kwargs):
        """What the network inside answers."""
        return super().__getattr__(self.part)(*args, **kwargs)


class PeftModel(Wrapper):
    part = "base_model"

    def __init__(self, inside):
        super().__init__(Wrapper(inside))
        self.config = inside.config

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, task_ids=None, **kwargs):
        """The network's answer."""
        return self.base_model(
            input_ids=input_ids, attention_mask=attention_mask, inputs_embeds=inputs_embeds, **kwargs
        )


def exchanged(network, make):
    """The network with other linear maps in its blocks."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if name in ("query", "value", "q_proj", "v_proj") and isinstance(child, nn.Linear):
                setattr(module, name, make(child))
    return network.eval()


def test_weights_of_whole_numbers_are_explained_as_far_as_a_gradient_leads_back():
    plain = tiny_classifier("bert")
    with_way, without = (
        loaded(exchanged(copy.deepcopy(plain.network), functools.partial(WholeNumbers, way_back=way)), plain.tokenizer)
        for way in (True, False)
    )
    for method in ("occlusion", "integrated_gradients", "relevance", "attention"):
        assert ask(with_way, TEXT, (method, FEW.get(method, {})))[0].scores.any()
    assert ask(without, TEXT, "occlusion")[0].scores.any()
    with pytest.raises(ModelCannot, match=r"no gradient goes through bert\.encoder.*query \(WholeNumbers\)"):
        ask(without, TEXT, "gradient")


PAIRS = [(method, "bert") for method in attributions.names()] + [("occlusion", "llama"), ("deep_lift_shap", "llama")]


@pytest.mark.parametrize(("method", "family"), PAIRS)
def test_an_adapted_network_runs_what_the_plain_one_runs(method, family):
    """And its scores are those of the network with both weights in one; it is left as it was."""
    torch.manual_seed(3)
    plain = tiny_classifier(family)
    network = PeftModel(exchanged(copy.deepcopy(plain.network), Adapted))
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    adapted = loaded(network, plain.tokenizer)
    assert adapted.capabilities == plain.capabilities and adapted.n_layers == plain.n_layers
    with torch.no_grad():
        for place, module in network.base_model.model.named_modules():
            if isinstance(module, Adapted):
                plain.network.get_submodule(place).weight.copy_(module.merged())
    if not works(method, plain):
        return
    expected, scores = (ask(model, TEXT, (method, FEW.get(method, {})))[0].scores for model in (plain, adapted))
    if method not in BY_RULES:
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-6 + 1e-4 * np.abs(expected).max())
    assert all(torch.equal(weight, before[name]) for name, weight in network.state_dict().items())


def saved_adapter(folder, network, base, **settings):
    """A folder as `PeftModel.save_pretrained` leaves it: the matrices, and the head."""
    weights = {
        f"base_model.model.{name.replace('.default', '')}": weight.contiguous()
        for name, weight in network.base_model.model.state_dict().items()
        if "lora" in name or name.startswith("classifier")
    }
    folder.mkdir(exist_ok=True)
    save_file(weights, folder / "adapter_model.safetensors")
    facts = {"peft_type": "LORA", "task_type": "SEQ_CLS", "base_model_name_or_path": str(base), "r": 4, "lora_alpha": 8}
    facts |= {"target_modules": ["query", "value"], "modules_to_save": ["classifier"], "bias": "none", "revision": None}
    (folder / "adapter_config.json").write_text(json.dumps(facts | settings))
    return folder


def test_a_saved_adapter_is_loaded_with_its_base(tmp_path):
    """Also where the base has another head; its answers are those of the network in memory."""
    plain = tiny_classifier("bert")
    base = save_tiny(tmp_path / "base", "bert", labels=("a", "b"))
    other = pellucid.load(base).network.bert.state_dict()
    plain.network.bert.load_state_dict(other)
    network = PeftModel(exchanged(plain.network, Adapted))
    adapted = loaded(network, plain.tokenizer)
    model = pellucid.load(saved_adapter(tmp_path / "adapter", network, base))
    assert model.labels == ("LABEL_0", "LABEL_1", "LABEL_2") and model.name.endswith("adapter")
    expected, came = (ask(each, TEXT, "integrated_gradients")[0] for each in (adapted, model))
    np.testing.assert_allclose(came.prediction.logits, expected.prediction.logits, atol=1e-5)
    np.testing.assert_allclose(came.scores, expected.scores, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    (
        ({"use_dora": True}, "holds an adapter of .*merge both"),
        ({"init_lora_weights": "pissa"}, "holds an adapter of .*merge both"),
        (
            {"base_model_name_or_path": "/nowhere/base"},
            "holds an adapter of '/nowhere/base'.*put the base where that name",
        ),
        ({"peft_type": "IA3"}, "holds an adapter of .*merge both"),
    ),
)
def test_an_adapter_that_is_not_followed_is_named_for_what_it_is(settings, message, tmp_path):
    plain = tiny_classifier("bert")
    base = save_tiny(tmp_path / "base", "bert")
    folder = saved_adapter(tmp_path / "adapter", PeftModel(exchanged(plain.network, Adapted)), base, **settings)
    with pytest.raises(PellucidError, match=message):
        pellucid.load(folder)


def test_an_adapter_of_another_base_is_refused(tmp_path):
    plain = tiny_classifier("bert")
    base = save_tiny(tmp_path / "base", "bert", hidden_size=16)
    folder = saved_adapter(tmp_path / "adapter", PeftModel(exchanged(plain.network, Adapted)), base)
    with pytest.raises(PellucidError, match=r"adapter_model\.safetensors has '.*', which does not fit '.*base'"):
        pellucid.load(folder)


def test_adapted_networks_that_write_are_known_by_what_is_inside():
    plain = tiny_writing("llama")
    network = PeftModel(exchanged(copy.deepcopy(plain.network), Adapted))
    (result,) = pellucid.explain(
        (network, plain.tokenizer), [("A film.", "Dull.")], "gradient_x_input", progress=False
    )[:1]
    assert result.scores.any()


@pytest.mark.parametrize("wraps", (True, False))
def test_a_replaced_forward_gives_the_same_scores(wraps):
    model, plain = loaded(*replaced(wraps)), tiny_classifier("bert")
    for method in (*EDITS, *GRADIENTS):
        choice = (method, FEW.get(method, {}))
        ours, right = ask(model, TEXT, choice)[0], ask(plain, TEXT, choice)[0]
        np.testing.assert_allclose(ours.scores, right.scores, rtol=1e-4, atol=1e-6)


def test_a_traced_network_runs_or_says_one_sentence():
    network, tokenizer = tiny_parts()
    columns = tokenizer(TEXT, return_tensors="pt")
    network.config.return_dict = False
    traced = torch.jit.trace(network.eval(), (columns["input_ids"], columns["attention_mask"]), strict=False)
    with pytest.raises(PellucidError) as refused:
        pellucid.explain(loaded(traced, tokenizer), TEXT, "occlusion")
    assert len(str(refused.value).split()) > 5


def test_an_active_meta_device_is_refused():
    model = tiny_classifier("bert")
    for call in (lambda: pellucid.explain(model, TEXT, "occlusion"), lambda: model.predict(TEXT)):
        with torch.device("meta"), pytest.raises(ModelCannot, match="meta device"):
            call()
        call()


def with_masked_class():
    model = tiny_classifier("bert")
    with torch.no_grad():
        model.network.classifier.bias[1] = -float("inf")
    return model


@pytest.mark.parametrize("method", (*EDITS, *GRADIENTS))
def test_a_masked_class_is_refused_by_name_and_the_others_are_explained(method):
    model, choice = with_masked_class(), (method, FEW.get(method, {}))
    for label in ("negative", "positive"):
        explanation = ask(model, TEXT, choice, target=Target(label))[0]
        assert np.isfinite(explanation.scores).all() and explanation.scores.any()
        assert explanation.prediction.probabilities[1] == 0.0
        right = ask(tiny_classifier("bert"), TEXT, choice, target=Target(label))[0]
        np.testing.assert_allclose(explanation.scores, right.scores, rtol=1e-3, atol=1e-6)
    for target in ("neutral", ("positive", "neutral")):
        with pytest.raises(ModelCannot, match="neutral"):
            ask(model, TEXT, choice, target=Target(target))


def test_a_vector_without_numbers_that_no_text_reads_changes_no_score():
    """What would stand for "no word" has that vector in its mean: preservation_mask must not be 1 everywhere, but is
    refused.
    """
    model = tiny_classifier("bert")
    unused = next(id for id in model.vocabulary.tolist() if id not in model.tokenizer(TEXT)["input_ids"])
    with torch.no_grad():
        model.embedding.weight[unused] = float("nan")
    with pytest.raises(ModelCannot, match="mean of the word embeddings"):
        ask(model, TEXT, ("preservation_mask", {"n_steps": 2}))
    for method in ("occlusion", "gradient"):
        right = ask(tiny_classifier("bert"), TEXT, method)[0]
        assert np.allclose(ask(model, TEXT, method)[0].scores, right.scores, atol=1e-6)


def test_a_table_that_is_clipped_when_it_is_read_is_refused_or_left_as_it_was():
    model = tiny_classifier("bert")
    model.embedding.max_norm = 0.01
    before = model.embedding.weight.detach().clone()
    with pytest.raises(PellucidError, match="max_norm"):
        pellucid.explain(loaded(model.network, model.tokenizer), TEXT, "occlusion")
    assert torch.equal(model.embedding.weight, before)


def test_a_thread_that_switches_modes_changes_no_result():
    """Results are right, or one sentence says that another thread disturbs them; never others in silence."""
    model = tiny_classifier("bert")
    model.network.config.hidden_dropout_prob = 0.5
    for module in model.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    right = ask(model, TEXT, "occlusion")[0].scores
    done = threading.Event()

    def toggle():
        while not done.is_set():
            model.network.train()
            model.network.eval()

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        for _ in range(20):
            try:
                scores = ask(model, TEXT, "occlusion")[0].scores
            except ParityBroken as error:
                assert "another thread" in str(error)
            else:
                assert np.allclose(scores, right, atol=1e-5)
    finally:
        done.set()
        thread.join()
        model.network.eval()
