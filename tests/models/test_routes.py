"""Routes of a pass: stale weights are never used, and a route that lies, is slow or is not there is not used either."""

import re
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

import pellucid
from pellucid.base.errors import RouteNotUsed, UnknownName
from pellucid.base.kinds import routes
from pellucid.models.routing import linear_product, route_choice, trial
from pellucid.models.routing.linear_product import InputLinear, PackedWeights, TrainedLinear
from pellucid.models.routing.routes import FEWEST_PACKED, EagerRoute, LinearLayers
from pellucid.models.routing.trial import storage_key, store_choice, stored_choice
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.models.test_digest import CHANGES
from tests.shared.tiny import save_tiny, tiny_classifier

needs_onednn = pytest.mark.skipif(bool(linear_product.lacks_product()), reason="this PyTorch has no such oneDNN")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch, tmp_path):
    """No trial of another test answers."""
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(route_choice, "_remembered", type(route_choice._remembered)())


def many_rows(model, count=40):
    return list(model.encode(as_examples("A gripping, lovely film.")).rows) * count


def logits(model):
    with torch.no_grad():
        return model.trace(many_rows(model)).logits


def own_logits(model):
    return replace(model, route="eager").trace(many_rows(model)).logits.detach()


def fused_step(weight):
    """A step of the optimizer of trainings, which torch does not count as a change."""
    with torch.enable_grad():
        weight.grad = torch.ones_like(weight)
        torch.optim.AdamW([weight], lr=0.1, fused=True).step()
    weight.grad = None


@needs_onednn
@pytest.mark.parametrize("change", [*CHANGES, "a fused step"])
def test_changed_weights_are_never_served_by_what_was_packed_before(change):
    model = replace(tiny_classifier("bert"), route="onednn")
    weight = model.blocks[0].intermediate.dense.weight
    before = logits(model)
    assert len(model.route_choice.by_kind["answers"]._packed)
    with torch.no_grad():
        {**CHANGES, "a fused step": fused_step}[change](weight)
    after = logits(model)
    torch.testing.assert_close(after, own_logits(model), rtol=1e-5, atol=1e-5)
    if change != "one number":  # too small to be seen in the answer
        assert not torch.equal(after, before)


@needs_onednn
def test_every_single_change_of_a_weight_is_packed_anew():
    weights, weight = PackedWeights(), nn.Parameter(torch.randn(24, 40))
    inputs = torch.randn(8, 40)
    for change in CHANGES.values():
        first = weights.copy_of(weight)
        assert weights.copy_of(weight) is first
        with torch.no_grad():
            change(weight)
            assert weights.copy_of(weight) is not first
            torch.testing.assert_close(
                linear_product.linear_product(inputs, weights.copy_of(weight)), inputs @ weight.t()
            )


@needs_onednn
@pytest.mark.parametrize("is_packed", (False, True))
def test_a_bias_may_lie_anywhere(is_packed):
    inputs, weight = torch.randn(20, 24), torch.randn(40, 24)
    read = linear_product.packed(weight) if is_packed else weight
    for bias in (
        torch.randn(80)[::2],
        torch.randn(40, 3)[:, 1],
        torch.randn(1).expand(40),
        torch.randn(41)[1:],
    ):
        product = linear_product.linear_product(inputs, read, bias)
        torch.testing.assert_close(product, F.linear(inputs, weight, bias), rtol=1e-5, atol=1e-5)


@needs_onednn
@pytest.mark.whole
def test_a_process_with_packed_weights_ends_in_silence(tmp_path):
    """At its end Python empties modules before the last weights go; a process of its own, since a fork of a warm one
    ends without that.
    """
    save_tiny(tmp_path, "bert")
    script = (
        "import pellucid\n"
        f"model = pellucid.load({str(tmp_path)!r}, route='onednn')\n"
        "pellucid.explain(model, 'a good film that we saw ' * 8, 'occlusion', progress=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


@needs_onednn
def test_packed_weights_live_as_long_as_their_weights():
    weights, weight = PackedWeights(), nn.Parameter(torch.randn(24, 40))
    weights.copy_of(weight)
    assert len(weights) == 1
    del weight
    assert not len(weights)


@needs_onednn
@pytest.mark.parametrize("layer", (InputLinear, TrainedLinear))
def test_gradients_of_linear_layers_are_those_of_torch(layer):
    generator = torch.Generator().manual_seed(0)
    shapes = ((3, 16, 24), (40, 24), (40,))
    points = [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]
    wanted = points[:1] if layer is InputLinear else points

    def gradients(linear):
        values = linear(*points).sin().sum()
        first = torch.autograd.grad(values, wanted, create_graph=True)
        second = torch.autograd.grad(first[0].square().sum(), points[:1])
        plain = torch.autograd.grad(linear(*points).sin().sum(), wanted)
        return [*first, *second, *plain]

    for ours, own in zip(gradients(layer.apply), gradients(F.linear), strict=True):
        torch.testing.assert_close(ours, own, rtol=1e-5, atol=1e-4)


@needs_onednn
def test_what_is_not_recognised_is_computed_by_torch():
    """Bit for bit: other number types, few rows, autocast, weights that are computed, and tensors of other classes."""
    inputs, weight = torch.randn(32, 40), nn.Parameter(torch.randn(24, 40))
    scale = torch.ones(24, 1, requires_grad=True)
    calls = (
        lambda: F.linear(inputs.double(), weight.double()),
        lambda: F.linear(inputs[:4], weight),
        lambda: F.linear(inputs, weight=weight),
        lambda: torch.autograd.grad(F.linear(inputs, weight * scale).sum(), scale)[0],
        lambda: F.linear(nn.Parameter(inputs).as_subclass(Tagged), weight),
    )
    for call in calls:
        own = call()
        with LinearLayers(PackedWeights()):
            assert torch.equal(call(), own)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        own = F.linear(inputs, weight)
        with LinearLayers(PackedWeights()):
            assert torch.equal(F.linear(inputs, weight), own)


class Tagged(torch.Tensor):
    """A tensor of somebody else's class."""


@needs_onednn
@pytest.mark.parametrize("want", (Want(attention=True), Want(attention=True, gradients=True)))
def test_attention_is_recorded_under_a_route(want, monkeypatch):
    model = tiny_classifier("bert")
    rows, calls = many_rows(model, 4), []
    product = LinearLayers._product
    monkeypatch.setattr(LinearLayers, "_product", lambda *inputs: calls.append(inputs) or product(*inputs))
    routed, own = replace(model, route="onednn").trace(rows, want), model.trace(rows, want)
    assert calls and len(routed.attention) == len(own.attention) == len(model.blocks)
    for one, other in zip((routed.logits, *routed.attention), (own.logits, *own.attention), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@needs_onednn
def test_double_precision_is_computed_by_torch():
    model = tiny_classifier("bert")
    model.network.double()
    routed, own = logits(replace(model, route="onednn")), logits(model)
    torch.testing.assert_close(routed, own, rtol=1e-12, atol=1e-12)  # of the last block by fewer rows


@needs_onednn
@pytest.mark.skipif(not linear_product.has_bfloat16(), reason="this processor has no bfloat16")
def test_mixed_precision_takes_a_route_too_and_notices_changed_weights():
    own = replace(tiny_classifier("bert"), computes_in=torch.bfloat16)
    model = replace(own, route="onednn")
    assert model.route_in_use == "onednn"
    near = lambda one, other: torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)  # noqa: E731
    before = logits(model)
    near(before, own_logits(model))
    packed = {dtype for _, dtype in model.route_choice.by_kind["answers"]._packed._by_id}
    assert packed == {torch.float32, torch.bfloat16}
    with torch.no_grad():
        model.blocks[-1].intermediate.dense.weight.data.mul_(3.0)
    near(logits(model), own_logits(model))
    assert not torch.equal(logits(model), before)


class Scaled(TorchFunctionMode):
    """Linear layers whose answers are a little too large."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        answer = func(*args, **(kwargs or {}))
        return answer * 1.001 if func is F.linear and self.lies() else answer

    def lies(self):
        return True


class ScaledGradient(Scaled):
    """The same where there is a graph, so that gradients alone are wrong."""

    def lies(self):
        return torch.is_grad_enabled()


class Lying(EagerRoute):
    """A route that lies on purpose."""

    mode = Scaled

    def explaining(self):
        return self.mode()


class LyingInGradients(Lying):
    """A route whose answers are right, and whose gradients are not."""

    mode = ScaledGradient


class ScaledLarge(TorchFunctionMode):
    """The same in large passes, whose weights other routes pack."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        answer = func(*args, **(kwargs or {}))
        large = func is F.linear and args[0].numel() >= FEWEST_PACKED * args[0].shape[-1]
        return answer * 1.01 if large else answer


class LyingInLargePasses(Lying):
    """A route whose answers are right for a few short texts alone."""

    mode = ScaledLarge


class ScaledHead(TorchFunctionMode):
    """The same in products of one row a text, where there are many texts."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        answer = func(*args, **(kwargs or {}))
        return answer * 1.01 if func is F.linear and args[0].ndim == 2 and len(args[0]) > 16 else answer


class LyingInHeads(Lying):
    """A route that is right where few texts share a pass."""

    mode = ScaledHead


class Equal(EagerRoute):
    """As eager, under another name."""


@contextmanager
def slow():
    time.sleep(0.05)  # a short pass takes a few thousandths, also on a busy machine less than this
    yield


class Slow(EagerRoute):
    """Right, and slower than eager."""

    def explaining(self):
        return slow()


@pytest.fixture
def with_route(monkeypatch):
    """Register a class as the only route beside eager, for one test."""

    def register(route):
        routes.names()
        monkeypatch.setattr(route_choice, "FEWEST_WEIGHTS", 0)
        monkeypatch.setattr(trial, "SECONDS", 0)  # one row a pass
        monkeypatch.setattr(trial, "TURNS", 1)  # what is slow here is ten times as slow: no noise hides it
        monkeypatch.setattr(routes, "_entries", {"eager": routes.get("eager")})
        routes.add("other")(route)

    return register


@pytest.mark.parametrize("route", (Lying, LyingInGradients, Slow))
def test_a_route_that_lies_or_is_slower_is_not_used(with_route, route):
    with_route(route)
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "eager"


@pytest.mark.parametrize("route", (Lying, LyingInGradients))
def test_a_named_route_that_lies_is_not_used_and_a_notice_says_so(with_route, route):
    with_route(route)
    model = replace(tiny_classifier("bert"), route="other")
    with pytest.warns(RouteNotUsed, match="route='other' is not used: its answers are not those of eager"):
        assert model.route_in_use == "eager"
    assert torch.equal(logits(model), own_logits(model))


def test_the_faster_route_is_used_and_tried_once_for_equal_models(with_route, monkeypatch):
    with_route(Equal)
    monkeypatch.setattr(EagerRoute, "explaining", lambda _: slow())
    monkeypatch.setattr(Equal, "explaining", lambda _: nullcontext())
    model = replace(tiny_classifier("bert"), route="auto")
    assert model.route_in_use == "other" and "times as fast as eager" in model.route_choice.why
    assert re.search(r"large products of float32 reach \d+ GFLOP/s by torch", model.route_choice.why)
    monkeypatch.setattr(route_choice, "speeds_of", None)
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "other"


def test_the_fastest_route_is_measured_once_a_machine_and_checked_in_every_process(with_route, monkeypatch):
    with_route(Equal)
    monkeypatch.setattr(EagerRoute, "explaining", lambda _: slow())
    monkeypatch.setattr(Equal, "explaining", lambda _: nullcontext())
    first = replace(tiny_classifier("bert"), route="auto").route_choice
    route_choice._remembered.clear()  # as in the next process
    measure = route_choice.speeds_of
    monkeypatch.setattr(route_choice, "speeds_of", None)
    again = replace(tiny_classifier("bert"), route="auto").route_choice
    assert (again.name, again.why) == (first.name, first.why) == ("other", first.why)
    route_choice._remembered.clear()
    monkeypatch.setattr(route_choice, "speeds_of", measure)
    monkeypatch.setattr(Equal, "explaining", lambda _: Scaled())
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "eager"


def test_each_kind_of_pass_takes_its_own_fastest_route(with_route, monkeypatch):
    with_route(Equal)
    passes: list[str] = []
    monkeypatch.setattr(Equal, "explaining", lambda _: passes.append("other") or nullcontext())
    full = iter([{"other": 2.0}, {"other": 1.0}] * 3)  # of full passes, and of a text alone
    monkeypatch.setattr(trial, "_speeds", lambda *_: next(full))
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "other"
    route_choice._remembered.clear()
    monkeypatch.setenv("PELLUCID_CACHE", "/nowhere")
    full = iter([{"other": 2.0}, {"other": 1.0}, {"other": 0.9}, {"other": 0.9}, {"other": 2.0}, {"other": 0.5}])
    model = replace(tiny_classifier("bert"), route="auto")
    assert model.route_in_use == "other+eager"
    assert "answers: other was 2.00 times as fast" in model.route_choice.why and "gradients" in model.route_choice.why
    passes.clear()
    with torch.no_grad():
        for want in (Want(), Want(hidden=True)):
            model.trace(many_rows(model, 2), want)
    model.trace(many_rows(model, 2), Want(gradients=True))
    assert passes == ["other"]
    named = replace(model, route="eager+eager+other")
    passes.clear()
    named.trace(many_rows(model, 2), Want(gradients=True))
    assert named.route_in_use == "eager+eager+other" and passes[-1] == "other"
    with pytest.raises(UnknownName, match="eager\\+other\\+eager\\+other"):
        logits(replace(model, route="eager+other+eager+other"))


@pytest.mark.parametrize("contents", ("", "[]", "{", '{"a": 3}', None))
def test_without_a_readable_file_every_process_measures_for_itself(with_route, contents, tmp_path, monkeypatch):
    with_route(Slow)
    cache = tmp_path / "cache"
    if contents is None:
        cache.write_text("a file where the folder should be")
    else:
        cache.mkdir()
        (cache / "routes.json").write_text(contents)
    calls = []
    monkeypatch.setattr(route_choice, "speeds_of", lambda *_: calls.append(1) or {"answers": {"other": 0.5}})
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "eager"
    assert calls == [1]


@pytest.mark.parametrize("moment", ("a hook", "autocast", "no oneDNN"))
def test_what_is_measured_at_an_unusual_moment_is_not_stored(with_route, moment, tmp_path):
    with_route(Slow)
    model = replace(tiny_classifier("bert"), route="auto")
    with ExitStack() as stack:
        if moment == "a hook":
            stack.callback(model.blocks[0].register_forward_hook(lambda *_: None).remove)
        elif moment == "autocast":
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        else:
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        assert model.route_in_use == "eager"
    assert not (tmp_path / "cache").exists()
    route_choice._remembered.clear()
    assert replace(tiny_classifier("bert"), route="auto").route_in_use == "eager"
    assert (tmp_path / "cache" / "routes.json").exists()


@pytest.mark.parametrize("lying", (LyingInLargePasses, LyingInHeads))
def test_the_answers_of_large_passes_count_too(lying, with_route):
    with_route(lying)
    with pytest.warns(RouteNotUsed, match="its answers are not those of eager"):
        assert replace(tiny_classifier("bert"), route="other").route_in_use == "eager"


@pytest.mark.parametrize(
    "product", (lambda *_: 1 / 0, lambda inputs, weight, bias=None: F.linear(inputs, weight, bias) * 1.1)
)
def test_bfloat16_that_is_wrong_is_not_used(monkeypatch, product):
    monkeypatch.setattr(linear_product, "linear_product", product)
    monkeypatch.setattr(linear_product, "packed", lambda weight: weight)
    linear_product.has_bfloat16.cache_clear()
    try:
        assert not linear_product.has_bfloat16()
    finally:
        linear_product.has_bfloat16.cache_clear()


def test_without_a_home_nothing_is_written(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PELLUCID_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    store_choice("key", ("eager", "why"))
    assert stored_choice("key") is None
    assert not list(tmp_path.rglob("routes.json"))


def test_another_version_machine_or_number_of_threads_is_another_question(monkeypatch):
    facts = {"digest": "a", "threads": 1}
    keys = {storage_key(facts), storage_key(facts | {"threads": 2}), storage_key(facts | {"digest": "b"})}
    monkeypatch.setattr(trial, "_version", lambda _: "another")
    keys.add(storage_key(facts))
    monkeypatch.setattr(trial, "_machine", lambda: ["another"])
    assert len(keys | {storage_key(facts)}) == 5


def test_the_file_of_trials_stays_small(monkeypatch):
    monkeypatch.setattr(trial, "MOST", 3)
    for number in range(5):
        store_choice(str(number), ("eager", "why"))
    assert [stored_choice(str(number)) for number in range(5)] == [None, None, *[("eager", "why")] * 3]


def test_a_small_network_is_not_tried(monkeypatch):
    monkeypatch.setattr(route_choice, "is_right", None)
    model = replace(tiny_classifier("bert"), route="auto")
    assert (model.route_in_use, model.route_choice.why) == (
        "eager",
        "the network is too small to gain by another",
    )


@pytest.mark.parametrize("operator", (AttributeError, RuntimeError, "wrong"))
def test_without_its_operators_a_route_is_not_used(monkeypatch, operator):
    """Private operators may be missing, take other arguments, or compute something else in another PyTorch."""

    def product(inputs, weight, bias=None):
        if operator == "wrong":
            return 1.01 * F.linear(inputs, weight, bias)
        raise operator

    monkeypatch.setattr(linear_product, "linear_product", product)
    monkeypatch.setattr(linear_product, "packed", lambda weight: weight)
    linear_product._lacks_operators.cache_clear()
    try:
        model = replace(tiny_classifier("bert"), route="onednn")
        with pytest.warns(RouteNotUsed, match="oneDNN"):
            assert torch.equal(logits(model), own_logits(model))
        assert model.route_in_use == "eager"
        assert next(route for route in pellucid.routes() if route["name"] == "onednn")["lacks"]
    finally:
        linear_product._lacks_operators.cache_clear()


@needs_onednn
def test_a_trial_leaves_no_trace_in_the_run_that_it_came_before():
    model = tiny_classifier("bert")
    rows, want = many_rows(model, 2), Want(gradients=True, hidden=True)
    first, eager = replace(model, route="onednn").trace(rows, want), model.trace(rows, want)
    assert torch.equal(first.embeddings, eager.embeddings)
    assert [state.shape for state in first.hidden] == [state.shape for state in eager.hidden]


def test_the_environment_names_a_route_and_the_argument_comes_first(tmp_path, monkeypatch):
    folder = save_tiny(tmp_path / "model")
    assert pellucid.load(folder).route == "eager"
    monkeypatch.setenv("PELLUCID_ROUTE", "auto")
    assert pellucid.load(folder).route == "auto"
    assert pellucid.load(folder, route="onednn").route == "onednn"
    monkeypatch.setenv("PELLUCID_ROUTE", "onednm")
    with pytest.raises(UnknownName, match=r"No route is called 'onednm'\. Did you mean 'onednn'"):
        pellucid.load(folder)


def test_packs_are_of_large_passes_alone():
    """The tests above must reach them."""
    model = tiny_classifier("bert")
    assert sum(map(len, many_rows(model))) >= FEWEST_PACKED
