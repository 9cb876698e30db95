"""Whole passes by OpenVINO: never by weights that have changed, never past a hook, and only what nobody wants to see
the inside of.
"""

from dataclasses import replace

import pytest
import torch

import pellucid
from pellucid.base import torch_state as tensor_checksum
from pellucid.base.errors import ModelCannot, RouteNotUsed
from pellucid.base.torch_state import checksum, sums_remembered
from pellucid.models.routing import compiled_network, route_choice
from pellucid.models.routing.compiled_network import CompiledNetwork
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.models.test_digest import CHANGES
from tests.models.test_routes import fused_step, many_rows, own_logits
from tests.shared.tiny import tiny_classifier, tiny_composed

needs_openvino = pytest.mark.skipif(
    bool(compiled_network.lacks_openvino()), reason="the package openvino is not installed"
)
TEXTS = ("fine", "A gripping, lovely film.", "It was not bad, " * 9, "Two emoji 👩‍👩‍👧👍 and שלום")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch, tmp_path):
    """No trial of another test answers."""
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(route_choice, "_remembered", type(route_choice._remembered)())


@pytest.fixture
def model():
    """A tiny classifier whose passes OpenVINO computes."""
    routed = replace(tiny_classifier("bert"), route="openvino")
    assert routed.route_in_use == "openvino"
    return routed


def logits(model, rows=None):
    with torch.no_grad():
        return model.trace(many_rows(model, 4) if rows is None else rows).logits


def near(one, other):
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@needs_openvino
@pytest.mark.parametrize("change", [*CHANGES, "a fused step"])
def test_changed_weights_are_compiled_anew(model, change):
    before = logits(model)
    with torch.no_grad():
        {**CHANGES, "a fused step": fused_step}[change](model.blocks[0].intermediate.dense.weight)
    after = logits(model)
    near(after, own_logits(model)[:4])
    if change != "one number":  # too small to be seen in the answer
        assert not torch.equal(after, before)


@needs_openvino
def test_each_evaluation_of_edited_rows_sums_the_weights_once_and_notices_what_changed_before_it(model, monkeypatch):
    summed = []
    monkeypatch.setattr(tensor_checksum, "checksum", lambda one, sum_of=checksum: summed.append(one) or sum_of(one))
    rows = [row.keep(range(length)) for row in many_rows(model, 1) for length in (3, 5, 6)]

    def evaluated():
        return evaluate_rows(model, Scheduler(tokens=6), rows)

    before = evaluated()
    n_summed = len(summed)
    assert n_summed == len({id(one) for one in summed})
    model.blocks[0].intermediate.dense.weight.data.mul_(2.0)  # which torch does not count
    after = evaluated()
    assert len(summed) == 2 * n_summed
    assert not torch.allclose(after, before)
    near(after, evaluate_rows(replace(model, route="eager"), Scheduler(tokens=6), rows))


@needs_openvino
def test_what_is_compiled_is_never_known_by_a_sum_of_earlier_weights(model):
    network, weight = model.network, model.blocks[0].intermediate.dense.weight
    reader = CompiledNetwork(network)
    ids = torch.tensor([list(many_rows(model, 1)[0].ids)])
    few = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    more = {**few, "token_type_ids": torch.zeros_like(ids)}
    with torch.no_grad():
        with sums_remembered():
            reader.answer(network, few)
            weight.data.mul_(2.0)  # which torch does not count
            answer = reader.answer(network, more)[0]  # compiled of the changed weights
            assert reader._state == reader._state_now(checksum)
        near(answer, network(**more).logits)


@needs_openvino
def test_word_embeddings_that_change_need_no_new_compilation(model, monkeypatch):
    before = logits(model)
    monkeypatch.setattr(compiled_network, "compiled", None)
    with torch.no_grad():
        model.embedding.weight.mul_(2.0)
    after = logits(model)
    near(after, own_logits(model)[:4])
    assert not torch.equal(after, before)


@needs_openvino
def test_a_table_that_another_module_shares_is_compiled_anew_after_a_change(model):
    (reader,) = [model.route_choice.by_kind["answers"]._compiled]
    model.network.shares = torch.nn.Linear(1, 1)
    model.network.shares.weight = model.embedding.weight
    before = reader._state_now(checksum)
    with torch.no_grad():
        model.embedding.weight[3, 0] += 1.0
    assert reader._state_now(checksum) != before


@needs_openvino
def test_what_a_hook_or_another_forward_changes_is_in_the_answer(model):
    block, before = model.blocks[-1], logits(model)
    handle = block.register_forward_hook(lambda _, __, output: output * 2.0)
    hooked = logits(model)
    handle.remove()
    assert not torch.allclose(hooked, before) and torch.equal(logits(model), before)
    forward = block.forward
    block.forward = lambda *inputs, **settings: forward(*inputs, **settings) * 2.0
    assert torch.equal(logits(model), hooked)
    del block.forward
    handle = model.embedding.register_forward_hook(lambda _, __, output: output * 2.0)
    near(logits(model), own_logits(model)[:4])
    handle.remove()
    assert torch.equal(logits(model), before)


@needs_openvino
@pytest.mark.parametrize("want", (Want(gradients=True), Want(hidden=True), Want(attention=True)))
def test_what_is_recorded_is_computed_by_torch(model, want):
    rows = many_rows(model, 4)
    assert torch.equal(model.trace(rows, want).logits, replace(model, route="eager").trace(rows, want).logits)


@needs_openvino
@pytest.mark.parametrize("kind", ("bert", "span", "long"))
def test_rows_of_any_number_and_length_have_eagers_answers(kind):
    own = {
        "bert": lambda: tiny_classifier("bert"),
        "span": lambda: tiny_composed("span"),
        "long": lambda: tiny_composed("span", max_length=200),
    }[kind]()
    routed = replace(own, route="openvino")
    assert routed.route_in_use == "openvino"
    batch = own.encode(as_examples(list(TEXTS if kind == "bert" else (*TEXTS, "It was not bad, " * 20))))
    rows = [row for row in batch.rows if not row.windows]
    for some in (*([row] for row in rows), rows, rows * 3):
        near(logits(routed, some), logits(own, some))
    gaps = [batch.edited(1, [2, 3], "absent"), batch.edited(2, [4], "mask")]
    near(logits(routed, gaps), logits(own, gaps))


@needs_openvino
def test_answers_by_openvino_and_gradients_by_onednn(monkeypatch):
    model = replace(tiny_classifier("bert"), route="openvino+onednn")
    assert model.route_in_use == "openvino+onednn"
    assert replace(model, route="openvino_onednn").route_in_use == "openvino+onednn"  # as version 0.1 called it
    answers = logits(model)
    assert torch.equal(answers, logits(replace(model, route="openvino")))
    rows, want = many_rows(model, 4), Want(gradients=True)
    assert torch.equal(model.trace(rows, want).logits, replace(model, route="onednn").trace(rows, want).logits)


@needs_openvino
@pytest.mark.parametrize("route", ("openvino", "openvino+onednn"))
def test_mixed_precision_is_not_for_openvino(route):
    model = replace(tiny_classifier("bert"), computes_in=torch.bfloat16, route=route)
    with pytest.warns(RouteNotUsed, match="it does not compute in mixed precision"):
        assert model.route_in_use == "eager"


@needs_openvino
def test_the_use_of_openvino_is_reported_to_nobody(monkeypatch):
    import openvino

    monkeypatch.setattr(openvino, "convert_model", None)  # it sends a report
    assert replace(tiny_classifier("bert"), route="openvino").route_in_use == "openvino"


@needs_openvino
@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("double", "computes weights of float32"),
        ("rationale", "networks of transformers that read word embeddings"),
        ("failing", "OpenVINO cannot compile BertForSequenceClassification: no such operation"),
    ],
)
def test_what_it_cannot_compute_is_computed_by_torch_and_a_notice_says_why(kind, sentence, monkeypatch):
    own = tiny_composed("rationale") if kind == "rationale" else tiny_classifier("bert")
    if kind == "double":
        own.network.double()
    if kind == "failing":

        def fail(*_):
            raise RuntimeError("no such operation")

        monkeypatch.setattr(compiled_network, "_converted", fail)
    model = replace(own, route="openvino")
    with pytest.warns(RouteNotUsed, match="route='openvino' is not used") as notices:
        assert model.route_in_use == "eager"
    assert sentence in str(notices[0].message)
    assert torch.equal(logits(model), logits(own))  # in a pass of the same rows: another count changes last bits


def test_without_the_package_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(compiled_network, "find_spec", lambda _: None)
    (listed,) = [route for route in pellucid.routes() if route["name"] == "openvino"]
    assert "pip install openvino" in listed["lacks"]
    with pytest.warns(RouteNotUsed, match="the package openvino is not installed"):
        assert replace(tiny_classifier("bert"), route="openvino").route_in_use == "eager"


def test_a_network_without_word_embeddings_is_refused():
    with pytest.raises(ModelCannot, match="networks of transformers that read word embeddings"):
        compiled_network.CompiledNetwork(torch.nn.Linear(2, 2))
