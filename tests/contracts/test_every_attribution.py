"""Every attribution method keeps the promises that all methods share, and those that it declares for itself."""

import json
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting, ModelCannot, ParityBroken, UnknownName
from pellucid.base.kinds import attributions
from pellucid.corpus.door import explain_corpus
from pellucid.run import batch, parity
from pellucid.run.batch import edits
from pellucid.run.explaining import Request, method_calls
from pellucid.run.target import Target, head_settings
from pellucid.run.traces import Traces
from pellucid.text.example import Example, as_examples
from pellucid.text.passages import with_fixed_parts
from pellucid.text.units import Spans, coarsen
from tests.shared.asking import FEW, STATE, ask, ask_all, reads_states, works
from tests.shared.tiny import FAMILIES

METHODS = attributions.names()
COMPOSED = ("first_token", "span", "rationale", "additive", "b_cos")
OF_BERT = ("bert", "roberta", "xlm_roberta", "electra", *COMPOSED)
HAS = {kind: {"gradient", "hidden_states", "attention"} for kind in (*FAMILIES, *COMPOSED)}
for kind in OF_BERT:
    HAS[kind] |= {"bert_layers"}
HAS["span"] |= {"span_weights"}
HAS["rationale"] |= {"rationale"}
HAS["additive"] |= {"unit_weights"}
HAS["b_cos"] |= {"b_cos"}
HAS["bert"] |= {"language_head"}
# What reaches into a model in a way of its own. These run on every kind of model, and every method on one of them; each
# method on each kind is what docs/capabilities.md holds, and tests/test_capabilities.py runs, six kinds of them in the
# suite.
REACHING = (
    "attention_norm",
    "attention_gradient",
    "b_cos",
    "gradient",
    "integrated_gradients",
    "occlusion",
    "rationale",
    "relevance",
    "unit_attention",
)
# Kinds that differ most in how they read a text: where it is, and what comes before it.
DIFFERENT = ("bert", "deberta_v3", "gpt2", "span")


def kinds_for(name):
    """The kinds of models that a method runs on here, of those that have what it needs."""
    kinds = [kind for kind in HAS if attributions.get(name).facts["needs"] <= HAS[kind]]
    return kinds if name in REACHING else [kind for kind in ("bert", "span") if kind in kinds][:1]


PAIRS = [(name, kind) for name in METHODS for kind in kinds_for(name)]
RANDOM = [name for name in METHODS if attributions.get(name).facts["random"]]
COMPLETE = [name for name in METHODS if attributions.get(name).facts["complete"]]
# Methods of gradients alone: those that read the text's own pass, and those that have passes of their own.
OF_GRADIENTS = [name for name in METHODS if "gradient" in attributions.get(name).facts["needs"]]
ELSEWHERE = [name for name in OF_GRADIENTS if not attributions.get(name).facts["at_text"]]
AT_TEXT = [
    name for name in OF_GRADIENTS if attributions.get(name).facts["needs"] == {"gradient"} and name not in ELSEWHERE
]
TOLERANT = [name for name in COMPLETE if {"tolerance", "n_steps"} <= set(attributions.get(name).defaults)]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request, models):
    """A method on a kind of model that has what it needs."""
    name, kind = request.param
    return name, models[kind]


@pytest.fixture
def texts(texts, request):
    """The texts of all tests; those of a linear model of words without pairs, which it does not read."""
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    reads_pairs = "linear" not in attributions.get(params.get("once", "occlusion")).facts["needs"]
    return [text for text in texts if reads_pairs or isinstance(text, str)]


@pytest.fixture(params=METHODS)
def once(request, having):
    """Every method on one model that has what it needs."""
    return request.param, having(request.param)


def explained(model, texts, method, **how):
    """Explanations by the method, with few samples or steps."""
    return ask(model, texts, (method, FEW.get(method, {})), **how)


_USUAL = {}


def usual(model, texts, method):
    """The method's explanations of all texts, computed once, with which many tests compare."""
    key = model.hash, method
    if key not in _USUAL:
        _USUAL[key] = texts, explained(model, texts, method)
    known, explanations = _USUAL[key]
    assert known == texts
    return explanations


def assert_alike(explanations, expected):
    assert len(explanations) == len(expected)
    for one, other in zip(explanations, expected, strict=True):
        assert one.example == other.example
        assert one.units == other.units
        room = 1e-5 * max(1.0, float(np.abs(other.scores).max()))
        np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=room)


def test_one_score_a_unit(pair, texts):
    method, model = pair
    examples = as_examples(texts)
    for example, explanation in zip(examples, usual(model, texts, method), strict=True):
        pieces = model.encode([example]).units[0]
        rows = [len(labels) for _, labels in explanation.rows]
        assert explanation.example == example
        assert explanation.scores.shape == (*rows, len(explanation.units))
        assert np.isfinite(explanation.scores).all()
        assert isinstance(explanation.units, Spans) == (attributions.get(method).facts["units"] == "span")
        if isinstance(explanation.units, Spans):
            sizes = [sum(segment == number for segment in explanation.units.parts.segment) for number in range(2)]
            assert len(explanation.units) == sum(n * (n + 1) // 2 for n in sizes)
        else:
            assert explanation.units == coarsen(pieces, attributions.get(method).facts["units"], example.segments)[0]


def test_a_text_alone_has_the_scores_that_it_has_in_a_batch(pair, fresh, texts):
    """Each text is explained alone by an equal model that has read nothing but the texts after it."""
    method, model = pair
    together = usual(model, texts, method)
    other = fresh(model)
    alone = [explained(other, [example], method)[0] for example in reversed(as_examples(texts))]
    assert_alike(together, alone[::-1])


def test_a_run_over_a_corpus_keeps_what_it_gives(once, texts, tmp_path):
    """Forty rows, of which as many are equal as there can be: each is read from the folder with its scores."""
    method, model = once
    usually, examples = usual(model, texts, method), as_examples(texts)
    rows = [replace(examples[number % len(examples)], id=f"row {number}") for number in range(40)]
    target, settings = STATE if reads_states(method) else "predicted", FEW.get(method, {})
    run = explain_corpus(model, rows, method, folder=tmp_path / "run", target=target, progress=False, **settings)
    assert run.is_whole and run.failures == [] and [each.example for each in run] == rows
    first = [replace(each, example=usually[number].example) for number, each in enumerate(run[: len(examples)])]
    assert_alike(first, usually)


def test_what_stays_is_in_every_pass_and_has_no_score(once, monkeypatch):
    method, model = once
    (example,) = with_fixed_parts([Example(("The food was cold, and nobody came.",))], "food was")
    stays = [piece for piece, label in enumerate(model.encode([example]).units[0].labels) if label in "food was"]
    removals = []
    monkeypatch.setattr(
        batch, "edits", lambda row, removed, *rest: removals.append(removed) or edits(row, removed, *rest)
    )
    if method in ("span_attention", "linear_coefficients"):
        with pytest.raises(ModelCannot, match="leave keep= away"):
            explained(model, [example], method)
        return
    [result] = explained(model, [example], method)
    assert not any(removed[..., stays].any() for removed in removals if removed.shape[-1] > max(stays))
    words = [result.units.labels[unit] for unit in result.units.content]
    assert "food" not in words and "cold" in words


def test_the_order_changes_nothing(once, texts):
    method, model = once
    order, together = [3, 2, 0], usual(model, texts, method)
    shuffled = explained(model, [as_examples(texts)[number] for number in order], method)
    assert_alike(shuffled, [together[number] for number in order])


@pytest.fixture
def graphs(monkeypatch):
    """The rows of every run of a text's own pass with a graph, of the pass that methods share, in a call of which the
    guard samples none.
    """
    rows, run = [], Traces._run
    monkeypatch.setattr(parity, "sample", lambda *_: frozenset())

    def seen(self, want):
        if want.gradients and self.point is None:
            rows.append(self.rows)
        return run(self, want)

    monkeypatch.setattr(Traces, "_run", seen)
    return rows


@pytest.mark.parametrize("method", ELSEWHERE)
def test_a_method_of_other_passes_leaves_the_text_without_a_graph(method, having, texts, graphs):
    model = having(method)
    choice = method, {name: value for name, value in FEW.get(method, {}).items() if name != "layer"}
    ask(model, texts, choice)
    assert not graphs
    ask_all(model, texts, [choice, "gradient"])
    assert graphs  # as the other method needs it


@pytest.mark.parametrize("method", AT_TEXT)
def test_a_method_that_needs_the_texts_graph_reads_it(method, having, texts, graphs, monkeypatch):
    monkeypatch.setattr(Request, "reads_text_graph", False)
    explained(having(method), texts, method)
    assert graphs


@pytest.mark.parametrize("sampled", (frozenset({0}), frozenset(range(9))), ids=("a large call", "a small one"))
@pytest.mark.parametrize("method", (*AT_TEXT, *ELSEWHERE))
def test_a_network_that_answers_otherwise_under_a_graph_is_refused(method, sampled, having, fresh, texts, monkeypatch):
    monkeypatch.setattr(parity, "sample", lambda *_: sampled)
    model = fresh(having(method))
    model.network.register_forward_hook(lambda _, __, output: _doubled(output) if torch.is_grad_enabled() else output)
    with pytest.raises(ParityBroken):
        explained(model, texts, method)


def _doubled(output):
    """The same output of a network, with other logits."""
    return type(output)(
        **{
            **dict(output.items() if hasattr(output, "items") else vars(output).items()),
            "logits": 2 * output.logits + 1,
        }
    )


@pytest.mark.parametrize("budget", (1, 100_000))  # a row a pass, and all in one; 512 is usual
def test_the_token_budget_changes_nothing(once, texts, budget):
    method, model = once
    # A row a pass is slow: a word, a sentence and a pair are enough.
    some = 3 if budget == 1 else len(texts)
    assert_alike(explained(model, texts[:some], method, budget=budget), usual(model, texts, method)[:some])


def test_the_same_seed_gives_the_same_bytes(once, texts):
    method, model = once
    assert explained(model, texts, method) == usual(model, texts, method)


def test_the_seed_matters_to_random_methods_alone(once, texts):
    method, model = once
    for one, other in zip(usual(model, texts, method), explained(model, texts, method, seed=6), strict=True):
        if one.diagnostics.get("exact") == 1:  # short texts are not sampled
            assert_alike([one], [other])
        else:
            assert np.array_equal(one.scores, other.scores) == (method not in RANDOM)


@contextmanager
def disturbed(network):
    """One submodule in training mode on purpose; afterwards evaluation as before."""
    odd = next(module for name, module in network.named_modules() if name.endswith("0") and any(module.children()))
    odd.training = True
    try:
        yield
    finally:
        network.eval()


def traces_of(network):
    """What a call must leave as it was: modes, hooks, random state, gradient mode, parameters' gradients."""
    modules = list(network.modules())
    return (
        [module.training for module in modules],
        [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in modules],
        torch.get_rng_state().tolist(),
        torch.is_grad_enabled(),
        [parameter.grad is None for parameter in network.parameters()],
        [parameter.requires_grad for parameter in network.parameters()],
        network.config._attn_implementation,
    )


def test_the_model_is_left_as_it_was(pair, texts):
    method, model = pair
    weights = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    with disturbed(model.network):
        before = traces_of(model.network)
        assert any(before[0])
        explained(model, texts[:2], method)
        assert traces_of(model.network) == before
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.network.state_dict().items())


@pytest.mark.parametrize("mode", (torch.no_grad, torch.inference_mode))
def test_the_callers_gradient_mode_neither_matters_nor_changes(once, texts, mode):
    method, model = once
    with mode():
        explanations = explained(model, texts[:3], method)
        assert not torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled() == (mode is torch.inference_mode)
    assert_alike(explanations, usual(model, texts, method)[:3])


class PassError(Exception):
    """The test's own error, raised inside the model."""


@contextmanager
def failing(module, call):
    """The module's n-th call raises."""
    calls = []

    def fail(*_):
        calls.append(1)
        if len(calls) == call:
            raise PassError

    handle = module.register_forward_hook(fail)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("call", (1, 2))
def test_an_exception_leaves_the_model_as_it_was(pair, texts, call):
    method, model = pair
    with disturbed(model.network), failing(model.blocks[-1], call):
        before = traces_of(model.network)
        with pytest.raises(PassError):
            explained(model, texts[:2], method)
        assert traces_of(model.network) == before


def test_special_tokens_stay_and_are_marked(pair, texts):
    method, model = pair
    tokenizer = model.tokenizer
    for example, explanation in zip(as_examples(texts), usual(model, texts, method), strict=True):
        if isinstance(explanation.units, Spans):
            assert not explanation.special.any()  # spans hold none
            continue
        pieces = tokenizer.convert_ids_to_tokens(tokenizer(*example.segments)["input_ids"])
        known = {*tokenizer.all_special_tokens} - {tokenizer.unk_token}  # an unknown piece is text
        specials = [piece for piece in pieces if piece in known]
        assert [explanation.units.labels[index] for index in np.flatnonzero(explanation.special)] == specials


def test_the_explained_logit_is_the_models_own(pair, texts):
    method, model = pair
    for example, explanation in zip(as_examples(texts), usual(model, texts, method), strict=True):
        assert 0 <= explanation.diagnostics["parity"] <= 1e-4
        logits = model.plain_logits(example)
        np.testing.assert_allclose(explanation.prediction.logits, logits, atol=1e-6)
        if reads_states(method):
            assert explanation.target.label == "layer 1"
            continue
        assert explanation.target.value == pytest.approx(float(logits.max()), abs=1e-6)
        assert explanation.target.label == explanation.prediction.label == model.labels[int(logits.argmax())]


def test_the_request_is_stored_with_the_result(once, texts):
    method, model = once
    explanation = ask(model, texts[1:2], method, seed=3)[0]  # one word: the defaults are for longer texts
    assert (explanation.method, explanation.seed, explanation.model, explanation.model_hash) == (
        method,
        3,
        model.name,
        model.hash,
    )
    settings = json.loads(json.dumps(attributions.get(method).settings({})))  # as saved
    if "language_head" in attributions.get(method).facts["needs"]:
        settings |= head_settings(model.language_head)
    assert explanation.settings == settings


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_setting_raises_with_the_nearest_name(method):
    entry = attributions.get(method)
    with pytest.raises(UnknownName, match="no_such_setting"):
        entry.settings({"no_such_setting": 1})
    for setting in entry.defaults:
        with pytest.raises(UnknownName, match=f"Did you mean '{setting}'"):
            entry.settings({setting + "x": 1})


TARGETS = (
    Target("positive"),
    Target(0),
    Target(("positive", "negative")),
    Target((2, "neutral")),
    Target(output="probability"),
    Target("neutral", output="loss"),
    Target("gold"),
)


@pytest.mark.parametrize("name", [name for name in METHODS if not attributions.get(name).facts["of_class"]])
def test_scores_of_no_class_are_the_same_for_every_class(name, having):
    one, other = (ask(having(name), ["A gripping, lovely film."], name, target=Target(of))[0] for of in (0, 1))
    assert np.array_equal(one.scores, other.scores)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_target_runs_and_names_itself(once, target):
    method, model = once
    example = Example(("A gripping, lovely film.",), label="negative")
    if reads_states(method):
        with pytest.raises(BadSetting, match="explains hidden states") if target != Target() else nullcontext():
            explained(model, [example], method, target=target)
        return
    explanation = explained(model, [example], method, target=target)[0]
    classes = target.of if isinstance(target.of, tuple) else (target.of,)
    names = {"gold": "negative", "predicted": explanation.prediction.label}
    named = [model.labels[of] if isinstance(of, int) else names.get(of, of) for of in classes] + [None]
    named_target = explanation.target
    assert (named_target.label, named_target.against, named_target.output) == (
        named[0],
        named[1],
        target.output,
    )
    chances = dict(zip(model.labels, explanation.prediction.probabilities, strict=True))
    logits = dict(zip(model.labels, explanation.prediction.logits, strict=True))
    expected = {
        "logit": logits[named[0]] - (logits[named[1]] if named[1] else 0),
        "probability": chances[named[0]],
        "loss": -np.log(chances[named[0]]),
    }
    assert named_target.value == pytest.approx(expected[target.output], abs=1e-6)


@pytest.mark.parametrize(
    "method",
    [
        "gaussian_process_shapley",
        "gradient_x_input",
        "integrated_gradients",
        "kernel_shap",
        "lime",
        "occlusion",
        "shapley_sampling",
        "thermostat_lime",
    ],
)
def test_a_contrast_is_the_difference_of_two_classes(method, bert, texts):
    between = explained(bert, texts, method, target=Target(("positive", "negative")))
    first = explained(bert, texts, method, target=Target("positive"))
    second = explained(bert, texts, method, target=Target("negative"))
    for whole, one, other in zip(between, first, second, strict=True):
        np.testing.assert_allclose(whole.scores, one.scores - other.scores, atol=1e-4)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (name, kind)
        for name in COMPLETE
        for kind in (HAS if name in REACHING else DIFFERENT)
        if attributions.get(name).facts["needs"] <= HAS[kind]
    ],
)
def test_complete_methods_sum_to_the_rise(method, kind, models, texts):
    # A new DeBERTa-v3 puts nothing but the pad token's zero vector into its first LayerNorm: there the path jumps.
    settings = {"baselines": "mask"} if kind == "deberta_v3" and method in TOLERANT else {}
    assert_complete(models[kind], texts[:3], method, "logit", **settings)


@pytest.mark.parametrize("method", [name for name in COMPLETE if attributions.get(name).facts["needs"] <= HAS["bert"]])
@pytest.mark.parametrize("output", ("probability", "loss"))
def test_complete_methods_sum_to_the_rise_of_any_output(method, output, bert, texts):
    assert_complete(bert, texts[:3], method, output)


def assert_complete(model, texts, method, output, tolerance=0.01, **settings):
    examples, target = as_examples(texts), Target("positive", output)
    changes = {"tolerance": tolerance, **settings} if method in TOLERANT else FEW.get(method, {})
    explanations = ask(model, texts, (method, changes), target=target)
    for example, explanation in zip(examples, explanations, strict=True):
        rise = explanation.target.value - value_of_nothing(model, example, target, method, settings)
        assert abs(explanation.scores.sum() - rise) <= tolerance * abs(rise) + 1e-4
        assert explanation.diagnostics.get("completeness_gap", 0.0) <= tolerance


def value_of_nothing(model, example, target, method, settings):
    """The target of the text without content: with a path's blank embeddings, or with all units removed."""
    batch, defaults = model.encode([example]), attributions.get(method).defaults
    token = settings.get("baselines", "pad") if method in TOLERANT else defaults.get("operator", "pad")
    nothing = batch.edited(0, batch.units[0].content, token)
    with torch.no_grad():
        if method in TOLERANT:
            trace = model.trace(batch.rows, embeddings=model.embed(torch.tensor([nothing.ids])))
        else:
            trace = model.trace([nothing])
    return float(target.resolve([example], trace.logits, model.labels, model.problem).values(trace.logits)[0])


def test_the_kinds_of_models_have_what_this_file_says(models):
    assert {kind: set(model.capabilities) for kind, model in models.items()} == HAS


def test_methods_that_share_their_passes_give_what_they_give_alone(models, texts):
    model = models["span"]
    choices = [(name, FEW.get(name, {})) for name in METHODS if works(name, model)]
    for (name, _), together in zip(choices, ask_all(model, texts, choices).values(), strict=True):
        assert_alike(together, explained(model, texts, name))


@pytest.mark.parametrize("method", TOLERANT)
def test_a_neighbour_that_needs_more_steps_changes_nothing(method, bert, texts):
    choice = (method, {"tolerance": 0.01, "n_steps": 2})
    together = ask(bert, as_examples(texts), choice, budget=1000)
    alone = [ask(bert, [example], choice)[0] for example in as_examples(texts)]
    assert_alike(together, alone)
    for one, other in zip(together, alone, strict=True):
        assert one.diagnostics == pytest.approx(other.diagnostics, abs=1e-3)


def test_missing_needs_name_the_methods_that_would_work(models):
    for model in models.values():
        for name in METHODS:
            if works(name, model):
                assert method_calls([name], model)
                continue
            with pytest.raises(ModelCannot) as raised:
                method_calls([name], model)
            message = str(raised.value)
            assert model.name in message
            possible = message.split("Methods that work with it: ")[1].rstrip(".").split(", ")
            assert possible == [other for other in METHODS if works(other, model)]


@pytest.mark.parametrize("name", ("occlusion", "chance"))
def test_some_methods_are_always_possible(name):
    assert attributions.get(name).facts["needs"] == frozenset()


def test_a_black_box_gets_only_what_it_can(bert):
    black_box = replace(bert, possible=frozenset())
    for name in METHODS:
        if attributions.get(name).facts["needs"]:
            with pytest.raises(ModelCannot, match=r"chance, .*occlusion"):
                method_calls([name], black_box)
        else:
            assert explained(black_box, ["A fine film."], name)
