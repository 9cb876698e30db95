"""The gradient family: its formulas written out slowly, captum as an oracle, closed forms and axioms."""

import numpy as np
import pytest
import torch
from captum.attr import (
    GradientShap,
    InputXGradient,
    LayerGradientXActivation,
    LayerIntegratedGradients,
    NoiseTunnel,
    Saliency,
)

from pellucid.attribution.gradient import CANCELLED, Moves
from pellucid.attribution.gradient_shap import GOLDEN
from pellucid.attribution.shared.paths import Anchors, AnchorSearch, blank_texts, nodes_of
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.models.classifiers.network import from_network
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.reference import attributions as literal
from tests.reference import gradients as slow
from tests.shared.asking import ask
from tests.shared.small_networks import Bag, words
from tests.shared.tiny import LABELS, tiny_classifier

TEXT, PAIR = ("A gripping, lovely film.",), ("The café was closed.", "Nobody could eat there.")
LABEL = 1
DEEP = ("bert", "roberta", "electra")


@pytest.fixture(scope="module")
def doubles():
    classifiers = {family: tiny_classifier(family) for family in DEEP}
    for classifier in classifiers.values():
        classifier.network.double()
    return classifiers


@pytest.fixture(scope="module")
def double(doubles):
    return doubles["bert"]


def explain_one(classifier, segments, method, **settings):
    text = segments[0] if len(segments) == 1 else tuple(segments)
    return ask(classifier, [text], (method, settings), target=Target(LABEL))[0]


def assert_close(actual, expected, room=1e-6):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=room * max(1e-3, float(np.abs(expected).max())))


def passing(classifier, segments):
    return ForwardPass(
        classifier,
        classifier.encode(as_examples([segments[0] if len(segments) == 1 else tuple(segments)])),
        Scheduler(512),
    )


def by_embeddings(classifier, segments):
    """The user's network as a function of word embeddings, for captum, and the embeddings."""
    inputs = literal.inputs_of(classifier, segments)
    return (
        lambda points: torch.stack([literal.logit_at(classifier, inputs, points, label) for label in range(3)], 1),
        literal.word_embeddings(classifier, inputs["input_ids"]),
    )


@pytest.mark.parametrize("family", DEEP)
@pytest.mark.parametrize("layer", range(4))
def test_gradients_of_a_layer_are_those_of_the_networks_own_states(family, layer, doubles):
    state, gradient = slow.state_and_gradient(doubles[family], PAIR, LABEL, layer)
    find = lambda method, **how: explain_one(doubles[family], PAIR, method, layer=layer, **how).scores  # noqa: E731
    assert_close(find("gradient"), gradient.norm(dim=-1))
    assert_close(find("gradient", norm="sum"), gradient.sum(-1))
    assert_close(find("gradient_x_input"), (gradient * state).sum(-1))
    assert_close(find("gradient_x_input", norm="l2"), (gradient * state).norm(dim=-1))
    assert_close(find("grad_cam", relu=False), (gradient * state).sum(-1))
    assert_close(find("grad_cam"), (gradient * state).sum(-1).clamp_min(0))
    assert_close(find("grad_cam", relu=False, pool_gradients=True), (gradient.mean(0, keepdim=True) * state).sum(-1))


@pytest.mark.parametrize("layer", (0, 2, 3))
def test_grad_cam_is_what_stretching_a_state_does(layer, double):
    expected = slow.grad_cam_by_differences(double, TEXT, LABEL, layer)
    assert_close(explain_one(double, TEXT, "grad_cam", layer=layer, relu=False).scores, expected, 1e-5)


def test_all_layers_of_grad_cam_are_rows_from_one_pass(double, monkeypatch):
    traces = []
    trace = type(double).trace
    monkeypatch.setattr(type(double), "trace", lambda *args: traces.append(1) or trace(*args))
    together = explain_one(double, TEXT, "grad_cam", layer="all")
    assert len(traces) == 1
    assert together.rows == (("layer", ("0", "1", "2", "3")),)
    for layer in range(4):
        assert_close(together.scores[layer], explain_one(double, TEXT, "grad_cam", layer=layer).scores)
    assert_close(explain_one(double, TEXT, "grad_cam").scores, together.scores[2])  # late: two thirds of three


def test_grad_cam_of_the_last_layer_is_the_first_token_where_nothing_else_is_read(models):
    explanation = ask(models["first_token"], TEXT[0], ("grad_cam", {"layer": 3, "relu": False}))[0]
    assert explanation.scores[0] and not explanation.scores[1:].any()
    assert explanation.diagnostics["special_share"] == 1
    assert any("special tokens" in caveat for caveat in explanation.caveats)


def test_grad_cam_before_relu_sums_to_the_logit_less_the_bias_of_what_is_linear_above(models):
    """A1.4: the composed head on the first token is linear in the last layer."""
    model = models["first_token"]
    explanation = ask(model, TEXT[0], ("grad_cam", {"layer": 3, "relu": False}), target=Target(LABEL))[0]
    assert explanation.scores.sum() == pytest.approx(
        explanation.target.value - float(model.network.head.bias[LABEL].detach()), abs=1e-4
    )


@pytest.mark.parametrize("layer", ("deep", 4, -1))
def test_a_layer_that_is_not_there_raises(layer, bert):
    with pytest.raises(BadSetting, match="from 0 to 3"):
        explain_one(bert, TEXT, "grad_cam", layer=layer)
    if layer != "deep":
        for method in ("gradient", "gradient_x_input", "integrated_gradients", "gradient_shap"):
            with pytest.raises(BadSetting, match="from 0 to 3"):
                explain_one(bert, TEXT, method, layer=layer)


def test_the_signed_sum_says_where_it_is_zero(models):
    assert CANCELLED in explain_one(models["bert"], TEXT, "gradient", norm="sum").caveats
    assert CANCELLED not in explain_one(models["bert"], TEXT, "gradient", norm="sum", layer=1).caveats
    smooth = explain_one(models["bert"], TEXT, "allennlp_smooth")
    assert CANCELLED in smooth.caveats and not smooth.scores.any()


def test_gradients_are_captums(double):
    function, here = by_embeddings(double, PAIR)
    signed = Saliency(function).attribute(here[None].clone().requires_grad_(), target=LABEL, abs=False)[0]
    product = InputXGradient(function).attribute(here[None].clone().requires_grad_(), target=LABEL)[0]
    assert_close(explain_one(double, PAIR, "gradient").scores, signed.norm(dim=-1).detach())
    assert_close(explain_one(double, PAIR, "gradient", norm="l1").scores, signed.abs().sum(-1).detach())
    assert_close(explain_one(double, PAIR, "gradient_x_input").scores, product.sum(-1).detach())


def moves_of(classifier, segments, count, noise, antithetic):
    run = passing(classifier, segments)
    moves = Moves.drawn(run, "smooth_gradient", count, noise, antithetic=antithetic)
    return moves.vectors([0] * count, list(range(count)))


@pytest.mark.parametrize("antithetic", (True, False))
def test_smooth_gradient_is_the_loop_over_the_same_moves(antithetic, double):
    expected = slow.smooth(double, PAIR, LABEL, list(moves_of(double, PAIR, 6, 0.1, antithetic)))
    for form in ("mean", "squared", "variance"):
        explanation = explain_one(
            double, PAIR, "smooth_gradient", form=form, n_samples=6, noise=0.1, antithetic=antithetic
        )
        assert_close(explanation.scores, expected[form])
    explanation = explain_one(
        double, PAIR, "smooth_gradient", times_input=True, n_samples=6, noise=0.1, antithetic=antithetic
    )
    assert_close(explanation.scores, expected["times_input"])


@pytest.mark.parametrize(
    ("form", "kind"), (("mean", "smoothgrad"), ("squared", "smoothgrad_sq"), ("variance", "vargrad"))
)
def test_smooth_gradient_is_captums_noise_tunnel_with_the_same_noise(form, kind, double, monkeypatch):
    noise = moves_of(double, PAIR, 6, 0.1, False)
    function, here = by_embeddings(double, PAIR)
    monkeypatch.setattr(torch, "normal", lambda *_, **__: noise)
    oracle = NoiseTunnel(Saliency(function)).attribute(
        here[None].clone().requires_grad_(), nt_type=kind, nt_samples=6, stdevs=1.0, target=LABEL, abs=False
    )[0]
    expected = oracle.norm(dim=-1) if form == "mean" else oracle.sum(-1)
    explanation = explain_one(double, PAIR, "smooth_gradient", form=form, n_samples=6, noise=0.1, antithetic=False)
    assert_close(explanation.scores, expected.detach(), 1e-5)


def test_moves_are_a_share_of_the_texts_own_spread_and_more_of_them_extend_fewer(double):
    run = passing(double, PAIR)
    few, many = (Moves.drawn(run, "smooth_gradient", count, 0.05, antithetic=True) for count in (6, 12))
    torch.testing.assert_close(many.seeds[:, :6], few.seeds)
    torch.testing.assert_close(few.scales, 0.05 * (run.embeddings.max() - run.embeddings.min())[None])
    drawn = many.vectors([0] * 12, list(range(12)))
    torch.testing.assert_close(drawn[::2], -drawn[1::2])
    assert float(drawn.std()) == pytest.approx(float(few.scales[0]), rel=0.05)


@pytest.mark.parametrize("antithetic", (True, False))
def test_moves_of_a_pack_are_those_of_each_text_alone(antithetic, bert):
    """A pack has texts of several lengths, and may begin or end between two opposite moves."""
    run = ForwardPass(
        bert, bert.encode(as_examples(["A fine film.", "Long, and in the end rather dull."])), Scheduler(512)
    )
    moves = Moves.drawn(run, "smooth_gradient", 4, 0.05, antithetic=antithetic)
    examples, samples = [0, 0, 1, 1, 0], [3, 0, 1, 2, 2]
    together = moves.vectors(examples, samples)
    for own, example, sample in zip(together, examples, samples, strict=True):
        length, step = run.batch.lengths[example], 2 if antithetic else 1
        generator = torch.Generator().manual_seed(int(moves.seeds[example, sample // step]))
        sign = -1 if antithetic and sample % 2 else 1
        expected = sign * moves.scales[example] * torch.randn(length, moves.width, generator=generator)
        torch.testing.assert_close(own[:length], expected, rtol=0, atol=0)
        assert not own[length:].any()


def test_moves_do_not_depend_on_the_type_of_new_numbers(double):
    before = moves_of(double, PAIR, 4, 0.1, True)
    moves = Moves.drawn(passing(double, PAIR), "smooth_gradient", 4, 0.1, antithetic=True)
    torch.set_default_dtype(torch.float16)
    try:
        after = moves.vectors([0] * 4, list(range(4)))
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(after, before, rtol=0, atol=0)


def test_opposite_moves_err_less(bert):
    errors = [
        explain_one(bert, PAIR, "smooth_gradient", n_samples=40, antithetic=pairs).diagnostics["relative_error"]
        for pairs in (True, False)
    ]
    assert errors[0] < errors[1] / 2


def test_the_relative_error_is_that_of_other_seeds(bert):
    how = ("smooth_gradient", {"n_samples": 20, "noise": 0.1, "antithetic": False})
    explanations = [ask(bert, [PAIR], how, seed=seed, target=Target(LABEL))[0] for seed in range(30)]
    scores = np.stack([one.scores for one in explanations])
    spread = np.sqrt(scores.var(0, ddof=1).mean()) / scores.mean(0).max()
    assert np.mean([one.diagnostics["relative_error"] for one in explanations]) == pytest.approx(spread, rel=0.3)


@pytest.mark.parametrize("noise", (0.0, 0.05))
def test_gradient_shap_is_captums_with_the_same_draws(noise, double, monkeypatch):
    run, count = passing(double, PAIR), 5
    blank = literal.blanked(double, PAIR, "mask")
    nodes = torch.rand(count, generator=run.generators("gradient_shap")[0], dtype=torch.float64)
    moves = Moves.drawn(run, "gradient_shap moves", count, noise).vectors([0] * count, list(range(count)))
    expected = slow.expected_gradients(double, PAIR, LABEL, blank, nodes=nodes, noises=list(moves))
    how = {"n_samples": count, "noise": noise, "baselines": "mask", "even": False}
    explanation = explain_one(double, PAIR, "gradient_shap", **how)
    assert_close(explanation.scores, expected)
    function, here = by_embeddings(double, PAIR)
    monkeypatch.setattr(torch, "normal", lambda *_, **__: moves)
    monkeypatch.setattr(np.random, "uniform", lambda *_: nodes.numpy())
    oracle = GradientShap(function).attribute(
        here[None].clone(), baselines=blank[None], n_samples=count, stdevs=1.0, target=LABEL
    )[0]
    assert_close(explanation.scores, oracle.sum(-1).detach(), 1e-5)


def test_even_nodes_add_up_sooner_and_start_at_random(bert):
    gaps = [
        explain_one(bert, PAIR, "gradient_shap", n_samples=50, even=even).diagnostics["completeness_gap"]
        for even in (True, False)
    ]
    assert gaps[0] < gaps[1] / 2
    assert len({round(GOLDEN * n % 1, 6) for n in range(50)}) == 50


@pytest.mark.parametrize("method", ("gradient_shap", "integrated_gradients"))
def test_every_text_has_its_own_blank_text_in_a_batch(method, bert):
    """Another text's separator does not lead in (as it does in captum's GradientShap)."""
    settings = {"baselines": "mask", **({"n_samples": 300} if method == "gradient_shap" else {})}
    texts = ["A gripping, lovely film.", PAIR]
    together = ask(bert, texts, (method, settings), target=Target(LABEL), budget=4000)
    for text, explanation in zip(texts, together, strict=True):
        run = ForwardPass(bert, bert.encode(as_examples([text])), Scheduler(512))
        target = Target(LABEL).resolve(run.batch.examples, run.logits, bert.labels, bert.problem)
        rise = float(run.values(target) - run.at(run.blank("mask")).values(target))
        assert explanation.scores.sum() == pytest.approx(rise, rel=0.03)


def test_integrated_gradients_by_gauss_and_legendre_is_captums_default(double):
    inputs = literal.inputs_of(double, PAIR)
    ids = inputs.pop("input_ids")
    blank = ids.clone()
    blank[0, [position for positions in literal.content_of(double, PAIR) for position in positions]] = (
        double.tokenizer.pad_token_id
    )
    for layer, module in (
        (None, double.network.get_input_embeddings()),
        (0, double.network.bert.embeddings),
    ):
        oracle = LayerIntegratedGradients(lambda ids: double.network(ids, **inputs).logits, module)
        expected = oracle.attribute(ids, blank, target=LABEL, n_steps=25).sum(-1)[0].detach()
        how = {"n_steps": 25, "rule": "gauss_legendre", "layer": layer}
        assert_close(explain_one(double, PAIR, "integrated_gradients", **how).scores, expected, 1e-5)
    assert_close(explain_one(double, PAIR, "thermostat_integrated_gradients").scores, expected, 1e-5)
    product = LayerGradientXActivation(
        lambda ids: double.network(ids, **inputs).logits, double.network.bert.embeddings
    ).attribute(ids, target=LABEL)
    assert_close(
        explain_one(double, PAIR, "thermostat_gradient_x_activation").scores,
        product.sum(-1)[0].detach(),
        1e-5,
    )


def test_word_embeddings_and_the_embedding_layers_output_are_not_the_same(bert):
    """PEER_SPEED's tenth pitfall: which of the two is read is a setting, and stands in the result."""
    embeddings, states = (explain_one(bert, PAIR, "integrated_gradients", layer=layer) for layer in (None, 0))
    assert np.abs(embeddings.scores - states.scores).max() > 1e-3 * np.abs(embeddings.scores).max()
    assert (embeddings.settings["layer"], states.settings["layer"]) == (None, 0)


def test_settings_do_not_stick(bert):
    explain_one(bert, PAIR, "integrated_gradients", n_steps=5)
    assert explain_one(bert, PAIR, "integrated_gradients").diagnostics["n_steps"] == 32


@pytest.mark.parametrize("rule", ("midpoint", "gauss_legendre", "left"))
def test_weights_of_a_rule_sum_to_one_and_integrate(rule):
    nodes, weights = nodes_of(rule, 40)
    assert float(weights.sum()) == pytest.approx(1)
    assert float((weights * nodes.square()).sum()) == pytest.approx(1 / 3, abs={"left": 0.02}.get(rule, 1e-3))


def test_the_mean_blank_is_the_vocabularys_mean(double):
    special = set(double.tokenizer.all_special_ids)
    weight = double.network.get_input_embeddings().weight.detach()
    mean = weight[[n for n in range(len(weight)) if n not in special]].mean(0)
    run = passing(double, PAIR)
    torch.testing.assert_close(run.blank("mean")[0, 1], mean)


def test_uniform_blanks_are_averaged_the_same_for_equal_texts_and_extended(bert):
    run = passing(bert, PAIR)
    few, many = (blank_texts(run, "uniform", count, "integrated_gradients") for count in (2, 4))
    torch.testing.assert_close(many[:2], few)
    assert torch.equal(few[0][0, 0], run.embeddings[0, 0])  # [CLS] stays
    assert not torch.equal(few[0], few[1])
    explanation = explain_one(bert, PAIR, "integrated_gradients", baselines="uniform", n_baselines=2, n_steps=24)
    target = Target(LABEL).resolve(run.batch.examples, run.logits, bert.labels, bert.problem)
    mean = torch.stack([run.at(blank).values(target) for blank in few]).mean()
    assert explanation.scores.sum() == pytest.approx(float(run.values(target) - mean), rel=0.05)
    other = ask(bert, [PAIR], ("integrated_gradients", {"baselines": "uniform"}), seed=1)[0]
    assert not np.array_equal(
        other.scores, ask(bert, [PAIR], ("integrated_gradients", {"baselines": "uniform"}))[0].scores
    )


def test_a_tolerance_refines_midpoints_only(bert):
    with pytest.raises(BadSetting, match="refines midpoints"):
        explain_one(bert, TEXT, "integrated_gradients", tolerance=0.01, rule="gauss_legendre")


def test_sequential_integrated_gradients_is_the_loop(double):
    blank = literal.blanked(double, TEXT, "mask")
    expected = slow.sequential(double, TEXT, LABEL, blank, 3)
    explanation = explain_one(
        double, TEXT, "sequential_integrated_gradients", n_steps=3, rule="midpoint", baselines="mask"
    )
    assert_close(explanation.scores, expected)


def test_sequential_integrated_gradients_is_occlusion_by_the_mask_token(double):
    explanation = explain_one(double, TEXT, "sequential_integrated_gradients", n_steps=40, baselines="mask")
    occluded = explain_one(double, TEXT, "occlusion", unit="piece", operator="mask").scores
    assert_close(explanation.scores, occluded, 1e-3)
    assert explanation.diagnostics["completeness_gap"] < 1e-3


@pytest.mark.parametrize("strategy", ("greedy", "max_count"))
def test_a_discretised_path_is_the_literal_one_and_never_turns_back(strategy):
    table = torch.randn(40, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for word in (3, 17):
        expected = slow.discretised_path(table[word], table[0], table, steps=5, near=12, strategy=strategy)
        path = Anchors(table, table[0], AnchorSearch(5, 12, strategy)).path(table[word])
        torch.testing.assert_close(path, torch.stack(expected))
        moves = path.diff(dim=0) * (table[word] - table[0]).sign()
        assert float(moves.min()) >= -1e-12
        assert len(path) == 7


def test_discretised_integrated_gradients_adds_up_and_reads_left_ends_as_its_authors(double):
    gaps = {
        rule: explain_one(
            double, PAIR, "discretised_integrated_gradients", n_steps=40, n_neighbours=50, rule=rule
        ).diagnostics["completeness_gap"]
        for rule in ("midpoint", "left")
    }
    assert gaps["midpoint"] < 0.1
    assert gaps["midpoint"] < gaps["left"]
    run = passing(double, TEXT)
    ids = [n for n in range(len(double.tokenizer)) if n not in set(double.tokenizer.all_special_ids)]
    table = double.embed(torch.tensor(ids))
    here, blank = run.embeddings[0], run.blank("pad")[0]
    search = AnchorSearch(3, 50, "greedy")
    paths = torch.stack(
        [Anchors(table, blank[unit], search).path(here[unit]) for unit in run.batch.units[0].content],
        1,
    )
    points = here[None].repeat(5, 1, 1)
    points[:, list(run.batch.units[0].content)] = paths
    expected = sum(
        ((points[k + 1] - points[k]) * slow.gradient_at(double, TEXT, LABEL, points[k])).sum(-1) for k in range(4)
    )
    explanation = explain_one(double, TEXT, "discretised_integrated_gradients", n_steps=3, n_neighbours=50, rule="left")
    assert_close(explanation.scores, expected)


def loss_gradient(classifier, segments, point):
    leaf = point.clone().requires_grad_()
    inputs = literal.inputs_of(classifier, segments)
    logits = torch.stack([literal.logit_at(classifier, inputs, leaf[None], label)[0] for label in range(3)])
    return torch.autograd.grad(-logits.log_softmax(-1)[LABEL], leaf)[0]


def share(values):
    return (values.abs() / values.abs().sum()).detach()


def test_allennlps_three_are_their_formulas(double):
    here = literal.word_embeddings(double, literal.inputs_of(double, TEXT)["input_ids"])
    simple = (loss_gradient(double, TEXT, here) * here).sum(-1)
    assert_close(explain_one(double, TEXT, "allennlp_simple").scores, share(simple))
    steps = [loss_gradient(double, TEXT, step / 10 * here) for step in range(10)]
    assert_close(explain_one(double, TEXT, "allennlp_integrated").scores, share((sum(steps) / 10 * here).sum(-1)))
    run = passing(double, TEXT)
    moves = Moves.drawn(run, "smooth_gradient", 4, 0.01, layer=0).vectors([0] * 4, list(range(4)))

    def state_gradient(move):
        leaf = (run.state(0)[0] + move).requires_grad_()
        logits = torch.stack(
            [slow.logit_with_state(double, TEXT, label, 0, lambda _: leaf[None]) for label in range(3)]
        )
        return torch.autograd.grad(-logits.log_softmax(-1)[LABEL], leaf)[0]

    mean = sum(state_gradient(move) for move in moves) / 4
    assert_close(explain_one(double, TEXT, "allennlp_smooth", n_samples=4, layer=0).scores, share(mean.sum(-1)))


def test_thermostats_gradient_shap_reads_five_points(bert):
    explanation = explain_one(bert, TEXT, "thermostat_gradient_shap")
    settings = {"n_samples": 5, "even": False, "layer": 0}
    assert_close(explanation.scores, explain_one(bert, TEXT, "gradient_shap", **settings).scores)


@pytest.fixture(scope="module")
def bag():
    torch.manual_seed(3)
    network = Bag().eval()
    with torch.no_grad():
        network.embedding.weight[words("nothing")[0][0]] = 0
    return from_network(network, tokenize=words, logits=network, embedding=network.embedding, labels=LABELS, mask=598)


WORDS = "a gripping and gripping nothing"
PATHS = {
    "integrated_gradients": {"n_steps": 3},
    "gradient_shap": {"n_samples": 3, "noise": 0.0},
    "sequential_integrated_gradients": {"n_steps": 2},
    "discretised_integrated_gradients": {"n_steps": 2, "n_neighbours": 30},
}


@pytest.mark.parametrize("method", PATHS)
@pytest.mark.parametrize("baselines", ("zero", "mask", "mean"))
def test_a_linear_network_gets_the_closed_form_of_paths(method, baselines, bag):
    explanation = explain_one(bag, (WORDS,), method, baselines=baselines, **PATHS[method])
    vectors = bag.network.embedding(torch.tensor([n for n, _, _ in words(WORDS)]))
    weight = bag.network.embedding.weight
    blank = {
        "zero": torch.zeros(8),
        "mask": weight[598],
        "mean": weight[[n for n in range(600) if n not in (0, 598)]].mean(0),
    }
    expected = (vectors - blank[baselines]) @ bag.network.head.weight[LABEL]
    assert_close(explanation.scores, expected.detach(), 1e-4)
    assert explanation.diagnostics["completeness_gap"] < 1e-4
    assert explanation.scores[1] == pytest.approx(explanation.scores[3], abs=1e-5)  # symmetry: the same word twice
    if baselines == "zero":
        assert explanation.scores[4] == pytest.approx(0, abs=1e-6)  # dummy: a word of zeros


def test_a_linear_network_gets_the_closed_form_of_gradients(bag):
    vectors = bag.network.embedding(torch.tensor([n for n, _, _ in words(WORDS)])).detach()
    gradient = bag.network.head.weight[LABEL].detach()
    products = (vectors @ gradient).numpy()
    flat = lambda value: np.full(5, float(value))  # noqa: E731
    expected = [
        ("gradient", {"norm": "sum"}, flat(gradient.sum())),
        ("gradient", {}, flat(gradient.norm())),
        ("gradient_x_input", {}, products),
        ("smooth_gradient", {}, flat(gradient.norm())),
        ("smooth_gradient", {"form": "squared"}, flat(gradient.square().sum())),
        ("smooth_gradient", {"form": "variance"}, flat(0)),
        ("smooth_gradient", {"times_input": True}, products),
        ("allennlp_simple", {}, None),
        ("allennlp_smooth", {}, flat(0.2)),
    ]
    for method, settings, scores in expected:
        explanation = explain_one(bag, (WORDS,), method, **settings).scores
        if scores is not None:
            np.testing.assert_allclose(explanation, scores, atol=2e-5)
        else:
            assert explanation.sum() == pytest.approx(1, abs=1e-5) and explanation[4] == pytest.approx(0, abs=1e-6)


def test_a_network_without_known_layers_says_so(bag):
    with pytest.raises(ModelCannot, match="shows no hidden states"):
        explain_one(bag, (WORDS,), "integrated_gradients", layer=0)
    with pytest.raises(ModelCannot, match=r"grad_cam does not work with .* shows no hidden states"):
        explain_one(bag, (WORDS,), "grad_cam")


@pytest.mark.parametrize("method", ("integrated_gradients", "smooth_gradient", "gradient_shap"))
def test_passes_are_full_unpadded_and_no_larger_for_more_steps(method, bert, monkeypatch):
    """Memory is flat in the number of points; next to nothing is computed on padding."""
    passes = []
    trace = type(bert).trace

    def watched(self, rows, want=None, *rest):
        if want is not None and want.gradients:
            passes.append([len(row) for row in rows])
        return trace(self, rows, *(() if want is None else (want,)), *rest)

    monkeypatch.setattr(type(bert), "trace", watched)
    count = "n_steps" if method == "integrated_gradients" else "n_samples"
    texts = [
        "A fine film.",
        "A gripping, lovely film.",
        "A gripping, lovely film it was.",
        "It was a fine, good film.",
    ]
    ask(bert, texts, (method, {count: 30}), budget=300)
    padded = sum(max(rows) * len(rows) for rows in passes)
    real = sum(map(sum, passes))
    assert max(max(rows) * len(rows) for rows in passes) <= 300
    assert padded / real < 1.1
    assert len(passes) <= 2 + -(-padded // 220)


def test_settings_of_other_kinds_raise(bert):
    for method, settings in (
        ("smooth_gradient", {"form": "median"}),
        ("smooth_gradient", {"noise": -1.0}),
        ("gradient_shap", {"n_samples": 0}),
        ("integrated_gradients", {"rule": "simpson"}),
        ("integrated_gradients", {"baselines": "blue"}),
        ("discretised_integrated_gradients", {"strategy": "lazy"}),
    ):
        with pytest.raises(BadSetting):
            explain_one(bert, TEXT, method, **settings)
    assert attributions.get("gradient_shap").facts["random"]
