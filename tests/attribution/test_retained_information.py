"""Retained information: the closed form of linear states, scales that do not matter, and the optimiser of the paper."""

import math
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from benchmarks.retained_information import minilm
from pellucid.attribution.retained_information import _of_seeds
from pellucid.attribution.shared.noise_search import STILL, NoiseSearch, SearchSettings, squared_jacobians
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.explaining.explain import explain
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import HiddenState
from pellucid.run.packing import scheduler_for
from pellucid.run.state_scale import state_function, state_scale
from pellucid.text.example import as_examples
from tests.reference.retained_information import log_sigmas_by_adam
from tests.shared.asking import SOME_TEXTS, ask
from tests.shared.tiny import tiny_classifier, tiny_composed

TEXT = "A gripping, lovely film."
PAIR = ("The café was closed.", "Nobody could eat there.")
LONG = "It was a long and winding but in the end rather fine film, with a few good ideas."
FAST = {"reference": SOME_TEXTS, "n_steps": 8}
METHOD = "retained_information"


def pass_of(model, texts, target):
    """A pass over texts and the target resolved for it."""
    batch = model.encode(as_examples(texts))
    run = ForwardPass(model, batch, scheduler_for(model, 512))
    return run, target.resolve(run.answers(target.readout_in(model)), model)


@dataclass
class LinearState:
    """s = sum of W_i x_i for each example. matrices: [example unit dimension width]."""

    points: torch.Tensor
    matrices: torch.Tensor

    def __post_init__(self):
        self.real = torch.ones(len(self.points), 1, dtype=torch.bool)
        self.states = self(range(len(self.points)), self.points)

    def __call__(self, examples, points):
        matrices = self.matrices[list(examples), : points.shape[1]]
        return torch.einsum("eudw,euw->ed", matrices, points)[:, None]


@pytest.mark.parametrize("dimensions", (1, 2, 5, 12, 16))
def test_linear_states_have_the_sigmas_of_the_closed_form(bert, dimensions):
    """100 random problems, in batches of 20; the sigmas differ by factors of up to a hundred."""
    texts = [f"{LONG[: 12 + 3 * number]} {number}" for number in range(20)]
    search, expected = searched_linear_states(bert, texts, dimensions)
    assert {search.evaluations(example) for example in range(len(texts))} == {82.0 + dimensions}
    for sigmas, of_example in zip(search.estimate().mean(1).exp(), expected, strict=True):
        np.testing.assert_allclose(sigmas[: len(of_example)], of_example, rtol=0.02)


@pytest.mark.parametrize("dimensions", (24, 144, 768))
def test_sigmas_of_wide_linear_states_are_neither_too_high_nor_too_low(bert, dimensions):
    """Probes tell the Jacobian of more than 16 dimensions by luck, so single sigmas vary, but not their mean."""
    search, expected = searched_linear_states(bert, [f"{LONG[:30]} {number}" for number in range(12)], dimensions)
    estimates = search.estimate().mean(1)
    gaps = [
        sigmas[: len(of_example)] - of_example.log() for sigmas, of_example in zip(estimates, expected, strict=True)
    ]
    assert abs(float(torch.cat(gaps).mean())) < 0.02


def searched_linear_states(model, texts, dimensions):
    """The search for the noise of random linear states, and the closed form of its sigmas for each text [unit]."""
    run, _ = pass_of(model, texts, HiddenState(1))
    generator = torch.Generator().manual_seed(dimensions)
    shape = (*run.embeddings.shape[:2], dimensions, run.embeddings.shape[2])
    sizes = (4.6 * torch.rand(*shape[:2], 1, 1, generator=generator) - 2.3).exp()
    matrices = sizes * torch.randn(shape, generator=generator)
    for example, length in enumerate(run.batch.lengths):
        matrices[example, length:] = 0
    phi = LinearState(run.embeddings, matrices)
    deviations = torch.rand(dimensions, generator=generator).double() + 0.5
    settings = SearchSettings(rate=0.1, n_seeds=3, n_steps=68, n_probes=16)
    search = NoiseSearch(run, phi, deviations, 1e3, settings, squared_jacobians(run, phi, deviations, settings))
    search.run_until_settled()
    squares = [
        (matrices[example, :length] / deviations[:, None]).square().sum((1, 2))
        for example, length in enumerate(run.batch.lengths)
    ]  # K lambda sigma_S² / (2 |W_i|²)
    return search, [(0.1 * dimensions / (2 * len(of_example) * of_example)).sqrt() for of_example in squares]


@pytest.mark.parametrize("factor", (0.01, 100.0, "each dimension its own"))
def test_rescaled_states_keep_their_scores(bert, factor):
    """The last norm's weights make the states of the last layer; the scale is measured on the rescaled model."""
    network = deepcopy(bert.network)
    norm = network.base_model.encoder.layer[-1].output.LayerNorm
    factors = torch.logspace(-2, 2, len(norm.weight)) if isinstance(factor, str) else factor
    with torch.no_grad():
        norm.weight *= factors
        norm.bias *= factors
    target = HiddenState(3)
    scores = [
        ask(model, [TEXT], (METHOD, FAST), target=target)[0].scores for model in (bert, replace(bert, network=network))
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-3)
    assert scores[0].max() > 0.5


@pytest.mark.parametrize("place", (1, 3))
def test_pieces_after_a_decoders_state_saturate(place):
    explanation = ask(tiny_classifier("gpt2"), [TEXT], (METHOD, FAST), target=HiddenState(2, (place,)))[0]
    assert (explanation.scores[place + 1 :] == 0).all()
    assert (explanation.scores[: place + 1] > 0.1).all()
    later = len(explanation.units) - place - 1
    assert explanation.diagnostics["saturated_share"] == pytest.approx(later / len(explanation.units))


@pytest.mark.whole
@pytest.mark.parametrize(
    ("layer", "positions"),
    [
        (3, "first"),
        pytest.param(2, "pooled", marks=pytest.mark.long),
        pytest.param(2, "all", marks=pytest.mark.long),
    ],
)
def test_the_scores_are_those_of_adam_with_20_000_samples(bert, layer, positions):
    evaluations = check_against_adam(bert, HiddenState(layer, positions), SOME_TEXTS, n_adam=2)
    assert evaluations == 98


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("layer", "positions"), [(2, "all"), (6, "pooled")])
def test_the_scores_on_minilm_are_those_of_adam_with_20_000_samples(layer, positions):
    """Adam runs once, so the spread is that of our seeds alone; three minutes on one core."""
    assert check_against_adam(minilm(), HiddenState(layer, positions), "pocket", n_adam=1) <= 392


def check_against_adam(model, target, reference, n_adam):
    """Scores of four seeds beside those of the paper's optimiser, within the spread; the evaluations of the usual
    settings.
    """
    run, resolved = pass_of(model, [TEXT], target)
    phi, scale = state_function(run, resolved), state_scale(model, resolved, reference)
    largest = 10 * scale.word_deviation
    deviations = scale.deviations.float().repeat(phi.states.shape[1])

    def states(points):
        return phi([0] * len(points), points).flatten(1)

    expected = torch.stack(
        [
            math.log(largest) - log_sigmas_by_adam(states, phi.points[0], deviations, largest, 0.1, 500, 40, seed)
            for seed in range(n_adam)
        ]
    )
    once = {"reference": reference, "n_seeds": 1}
    seeds = [ask(model, [TEXT], (METHOD, once), target=target, seed=seed)[0] for seed in range(4)]
    scores = np.stack([explanation.scores for explanation in seeds])
    spread = scores.std(0, ddof=1) + (expected.std(0).numpy() if n_adam > 1 else 0.0)
    apart = np.abs(scores.mean(0) - expected.mean(0).numpy())
    # Four seeds say little of one piece's spread, so no piece counts as calmer than the pieces are on average.
    assert (apart <= 2 * np.maximum(spread, spread.mean()) + 0.02).all()
    assert apart.mean() <= spread.mean() + 0.01
    assert spread.mean() < 0.1
    whole = ask(model, [TEXT], (METHOD, {"reference": reference}), target=target)[0]
    assert whole.diagnostics["converged"] == 1
    return whole.diagnostics["evaluations"]


@pytest.mark.parametrize("positions", ("pooled", "first", "last", "all", (1, 2)))
def test_the_state_function_gives_the_models_own_states(bert, positions):
    run, resolved = pass_of(bert, [TEXT, PAIR], HiddenState(2, positions))
    phi = state_function(run, resolved)
    for number, segments in enumerate(((TEXT,), PAIR)):
        inputs = bert.tokenizer(*segments, return_tensors="pt")
        with torch.no_grad():
            states = bert.network(**inputs, output_hidden_states=True).hidden_states[2][0]
        content = list(run.batch.units[number].content)
        places = {
            "first": states[:1],
            "last": states[-1:],
            "all": states,
            "pooled": states[content].mean(0)[None],
        }
        expected = states[[1, 2]] if isinstance(positions, tuple) else places[positions]
        assert phi.real[number].sum() == len(expected)
        torch.testing.assert_close(phi.states[number, : len(expected)], expected, rtol=1e-4, atol=1e-5)
        assert phi.states[number, len(expected) :].eq(0).all()
        again = phi([number], phi.points[[number]])
        torch.testing.assert_close(again[0], phi.states[number], rtol=1e-4, atol=1e-5)


def test_the_state_function_is_differentiable_by_the_points(bert):
    run, resolved = pass_of(bert, [TEXT], HiddenState(1, "all"))
    phi = state_function(run, resolved)
    generator = torch.Generator().manual_seed(0)
    step = torch.randn(phi.points.shape, generator=generator) * 1e-3
    weights = torch.randn(phi.states.shape, generator=generator)
    points = phi.points.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(phi([0], points), points, weights)
    rise = phi([0], phi.points + step) - phi([0], phi.points - step)
    assert float((rise * weights).sum() / 2) == pytest.approx(float((gradient * step).sum()), rel=1e-2)


def test_blocks_above_the_state_do_not_run_for_noise(bert):
    calls = []
    handles = [
        block.register_forward_hook(lambda *_, number=number: calls.append(number))
        for number, block in enumerate(bert.blocks)
    ]
    try:
        ask(bert, [TEXT], (METHOD, FAST), target=HiddenState(1))
    finally:
        for handle in handles:
            handle.remove()
    assert calls.count(0) > 8 + calls.count(2) > 8


def test_all_layers_are_rows_that_are_what_each_is_alone(bert, fresh):
    together = ask(bert, [TEXT, PAIR], (METHOD, FAST), target=HiddenState("all", "all"))
    for text, explanation in zip((TEXT, PAIR), together, strict=True):
        assert explanation.rows == (("layer", ("0", "1", "2", "3")),)
        assert str(explanation.target) == "hidden states (all) of layers 0 to 3"
        for layer, scores in enumerate(explanation.scores):
            alone = ask(fresh(bert), [text], (METHOD, FAST), target=HiddenState(layer, "all"))[0]
            np.testing.assert_allclose(scores, alone.scores, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "where"),
    [("bert", "first"), ("gpt2", "last"), ("first_token", "first"), ("mean", None), ("span", "all")],
)
def test_the_head_names_what_it_reads(kind, where):
    model = tiny_classifier(kind) if kind in ("bert", "gpt2") else tiny_composed(kind)
    explanation = ask(model, [TEXT], (METHOD, FAST), target=HiddenState("head"))[0]
    assert str(explanation.target) in {
        f"hidden state{'s' if positions == 'all' else ''} ({positions}) of layer 3"
        for positions in ([where] if where else ["pooled", "all"])
    }
    if where in ("first", "last"):
        number = ask(model, [TEXT], "gradient", target=HiddenState("head"))[0]
        assert number.target == ask(model, [TEXT], "gradient", target=HiddenState(3, where))[0].target


def test_the_scale_belongs_to_the_model_and_layer_alone(bert):
    _, resolved = pass_of(bert, [TEXT], HiddenState(2, "first"))
    _, same = pass_of(bert, [LONG, PAIR], HiddenState(2, "all"))
    scale = state_scale(bert, resolved, SOME_TEXTS)
    batch = bert.encode(as_examples(list(SOME_TEXTS)))
    with torch.no_grad():
        pieces = torch.cat([bert.trace([row], resolved.readout.want).hidden[2][0] for row in batch.rows])
    torch.testing.assert_close(scale.deviations, pieces.double().std(0, correction=0), rtol=1e-4, atol=1e-6)
    assert torch.equal(scale.deviations, state_scale(bert, same, SOME_TEXTS).deviations)
    assert (scale.n_texts, scale.source) == (3, "3 texts of the caller")
    assert state_scale(bert, resolved).source == "500 train texts of pocket"


def test_lambda_and_the_scale_are_stated(bert):
    explanation = ask(bert, [TEXT], (METHOD, {**FAST, "scale": 0.7}), target=HiddenState(1))[0]
    n, width = len(explanation.units), bert.network.config.hidden_size
    assert explanation.diagnostics["noise_scale"] == pytest.approx(0.7)
    assert explanation.diagnostics["lambda"] == pytest.approx(0.1 * width / (n * width))


def search_of(model, texts):
    """A search of three seeds before its first step, at layer 2."""
    run, resolved = pass_of(model, texts, HiddenState(2))
    phi, deviations = state_function(run, resolved), state_scale(model, resolved, SOME_TEXTS).deviations
    settings = SearchSettings(rate=0.1, n_seeds=3, n_steps=24, n_probes=4)
    return NoiseSearch(run, phi, deviations, 1.0, settings, squared_jacobians(run, phi, deviations, settings))


def test_seeds_share_the_first_steps_and_then_part(bert):
    search = search_of(bert, [TEXT, LONG])
    start = search.log_sigma
    for _ in range(8):
        search.advance()
        assert (search.log_sigma == search.log_sigma[:, :1]).all()
    assert not search.log_sigma.equal(start)
    search.advance()
    assert not search.log_sigma[:, 0].equal(search.log_sigma[:, 1])


def test_a_text_whose_search_settles_late_takes_more_steps_and_its_neighbour_does_not(bert, monkeypatch):
    """Whatever is asked of the drift, neighbours in a batch do not wait for each other, and scores stay their own."""
    target = HiddenState(3, "first")

    def settled(search, example):
        return len(search.run.batch.examples[example].segments[0]) == len(TEXT)

    monkeypatch.setattr(NoiseSearch, "has_settled", settled)
    both = ask(bert, [TEXT, LONG], (METHOD, {"reference": SOME_TEXTS, "n_steps": 24}), target=target)
    assert [one.diagnostics["evaluations"] for one in both] == [98, 128]
    assert [one.diagnostics["converged"] for one in both] == [1, 0]
    for text, one in zip((TEXT, LONG), both, strict=True):
        alone = ask(bert, [text], (METHOD, {"reference": SOME_TEXTS, "n_steps": 24}), target=target)[0]
        np.testing.assert_allclose(one.scores, alone.scores, atol=1e-5)


@pytest.mark.parametrize(("shared_drift", "settled"), [(0.0, True), (0.3, False)])
def test_luck_that_each_seed_has_of_its_own_is_no_drift(bert, shared_drift, settled):
    """Steps that wander by .5 nats around one value have settled, though their mean over seeds moves by more than
    STILL.
    """
    search = search_of(bert, [LONG])
    n_steps, shape = 24, search.log_sigma.shape
    wander = 0.5 * torch.randn(n_steps, *shape, generator=torch.Generator().manual_seed(0))
    drift = torch.linspace(0, 4 * shared_drift, n_steps)[:, None, None, None]
    search.history, search.steps = list(wander + drift), [n_steps]
    moved = (search.mean_of(0.75, 1.0) - search.mean_of(0.5, 0.75)).mean(1)
    assert moved.square().mean().sqrt() > STILL
    assert search.has_settled(0) == settled


def test_a_search_that_is_too_short_says_so(bert):
    explanation = ask(bert, [TEXT], (METHOD, {"reference": SOME_TEXTS, "n_steps": 4}), target=HiddenState(3, "first"))[
        0
    ]
    assert explanation.diagnostics["converged"] == 0
    assert any("had not settled" in caveat for caveat in explanation.caveats)


@pytest.mark.parametrize(
    ("ask_wrongly", "match"),
    [
        (
            lambda model: explain(model, TEXT, METHOD),
            "explains hidden states, not a class; give target=HiddenState",
        ),
        (lambda model: explain(model, TEXT, "gradient", target=HiddenState("all")), "retained_information"),
        (lambda model: explain(model, TEXT, "lime", target=HiddenState(1, "all")), "many states"),
        (lambda model: explain(model, TEXT, METHOD, target=HiddenState(1), rate=0), "rate=0"),
        (lambda model: explain(model, TEXT, METHOD, target=HiddenState(1), scale=-1.0), "scale=-1"),
        (lambda model: explain(model, TEXT, METHOD, target=HiddenState(1), n_steps=3), "n_steps=3"),
        (
            lambda model: explain(model, TEXT, METHOD, target=HiddenState(1), reference=("One.",)),
            "two or more",
        ),
        (lambda model: explain(model, TEXT, METHOD, target=HiddenState(1, part="5")), "no parts"),
        (lambda model: HiddenState("head", "first"), "leave positions='first' away"),
        (lambda model: HiddenState("all", part="5"), "number of the layer"),
        (lambda model: HiddenState("top"), "'all' or 'head'"),
    ],
)
def test_what_is_not_possible_ends_in_a_sentence(bert, ask_wrongly, match):
    with pytest.raises(BadSetting, match=match):
        ask_wrongly(bert)


def test_document_models_have_no_states_to_explain():
    with pytest.raises(ModelCannot):
        joining = tiny_composed("span", positions=16, max_length=64)
        ask(joining, [f"{LONG} {LONG}"], (METHOD, FAST), target=HiddenState(1))


def test_methods_without_a_target_go_beside_many_states(bert):
    explanation = ask(bert, [TEXT], "chance", target=HiddenState("all"))[0]
    assert str(explanation.target) == "hidden states (pooled) of layers 0 to 3"


def test_special_tokens_are_not_in_the_saturated_share():
    of_seeds = torch.tensor([[0.0, 2.0, 2.0, 0.0]])
    assert _of_seeds(of_seeds, torch.tensor([False, True, True, False]))["saturated_share"] == 0.0
    assert _of_seeds(of_seeds, torch.tensor([False, True, True, True]))["saturated_share"] == pytest.approx(1 / 3)
