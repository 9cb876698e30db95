"""The baselines of Guan et al. and the information bottleneck: against their formulas written out, and on known
answers.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.run.blank import generator_for
from pellucid.run.hidden_target import HiddenState
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import SOME_TEXTS, ask
from tests.shared.tiny import tiny_classifier

TEXT, OTHER = "A gripping, lovely film.", "fine, it seems"
VECTORS = ("guan_gradient", "guan_relevance", "guan_perturbation")
SETTINGS = {
    "guan_gradient": {"n_entries": 8},
    "guan_relevance": {},
    "guan_perturbation": {"n_steps": 3, "reference": SOME_TEXTS},
    "information_bottleneck": {"n_steps": 3, "n_samples": 2, "reference": SOME_TEXTS},
}


@pytest.fixture(scope="module")
def model():
    """A BERT in float64 whose norms have weights, as a trained one's do; a fresh one's states add up to 0."""
    classifier = tiny_classifier("bert")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(2)
        for name, parameter in classifier.network.named_parameters():
            if "LayerNorm" in name:
                parameter.add_(torch.rand_like(parameter))
    classifier.network.double()
    return replace(classifier, network=classifier.network)


def states_of(model, points, layer):
    """[unit width]: Transformers' own states of one layer."""
    return model.network(inputs_embeds=points[None], output_hidden_states=True).hidden_states[layer][0]


def points_of(model, text=TEXT):
    """[unit width]: the word embeddings of one text."""
    ids = torch.tensor(model.encode(as_examples([text])).rows[0].ids)
    return model.network.get_input_embeddings()(ids).detach()


@pytest.mark.parametrize("positions", ("all", "first", (1, 2)))
def test_the_gradient_is_the_mean_over_the_whole_jacobian(model, positions):
    (explanation,) = ask(model, [TEXT], ("guan_gradient", {"n_entries": 10_000}), target=HiddenState(2, positions))
    read = {"all": slice(None), "first": slice(0, 1), (1, 2): slice(1, 3)}[positions]
    jacobian = torch.autograd.functional.jacobian(lambda x: states_of(model, x, 2)[read], points_of(model))
    expected = jacobian.flatten(0, 1).abs().mean((0, 2))
    np.testing.assert_allclose(explanation.scores, expected, rtol=1e-5)
    assert explanation.diagnostics["exact"] == 1 and explanation.diagnostics["relative_error"] == 0


def test_drawn_entries_are_right_on_average_and_say_how_far_off_they_are(model):
    (exact,) = ask(model, [TEXT], ("guan_gradient", {"n_entries": 10_000}), target=HiddenState(2, "all"))
    draws = [
        ask(model, [TEXT], ("guan_gradient", {"n_entries": 40}), target=HiddenState(2, "all"), seed=n)[0]
        for n in range(60)
    ]
    scores = np.stack([one.scores for one in draws]).astype(float)
    error = scores.std(0, ddof=1)
    assert (np.abs(scores.mean(0) - exact.scores) <= 4 * error / np.sqrt(60)).all()
    stated = np.mean([one.diagnostics["relative_error"] * one.scores.max() for one in draws])
    assert stated == pytest.approx(np.sqrt((error**2).mean()), rel=0.3)


def test_relevance_is_the_gradient_of_the_summed_state_where_no_rule_changes_it(model):
    """Under cp, softmax and norms are constants: here they are held by hand, one text, states of layer 0."""
    (explanation,) = ask(model, [TEXT], "guan_relevance", target=HiddenState(0, "all"))
    points = points_of(model)
    embeddings = model.network.base_model.embeddings
    added = states_before_norm(model, points)
    deviation = (added.var(-1, unbiased=False, keepdim=True) + embeddings.LayerNorm.eps).sqrt()
    weight = embeddings.LayerNorm.weight
    down = (weight - weight.mean()) / deviation  # of the sum of the normed state, by what is normed
    np.testing.assert_allclose(explanation.scores, (down * points).abs().sum(-1).detach(), rtol=1e-5)
    assert explanation.diagnostics["state_conservation_gap"] <= 1e-6


def states_before_norm(model, points):
    """[unit width]: what the first norm of BERT reads."""
    embeddings = model.network.base_model.embeddings
    positions = embeddings.position_embeddings.weight[: len(points)]
    return points + positions + embeddings.token_type_embeddings.weight[0]


def test_relevance_of_a_state_under_a_plain_norm_cancels_and_says_so():
    (explanation,) = ask(tiny_classifier("bert"), [TEXT], "guan_relevance", target=HiddenState(2))
    assert any("add up to 0 by construction" in caveat for caveat in explanation.caveats)


@pytest.mark.parametrize("positions", ("all", "pooled"))
def test_the_perturbation_is_the_best_mask_that_adam_visits(model, positions):
    settings = {"n_steps": 5, "tolerance": 0.0, "penalty": 0.3, "reference": SOME_TEXTS}
    (explanation,) = ask(model, [TEXT], ("guan_perturbation", settings), target=HiddenState(2, positions))
    points, special = points_of(model), explanation.special
    every = [points_of(model, text) for text in SOME_TEXTS]
    blank = torch.cat([one[1:-1] for one in every]).mean(0)  # without [CLS] and [SEP], which are no words
    deviation = torch.cat([states_of(model, one, 2) for one in every]).detach().std(0, unbiased=False)
    inside = torch.tensor(~special)

    def read(x):
        states = states_of(model, x, 2)
        return states if positions == "all" else states[inside].mean(0, keepdim=True)

    state = read(points).detach()
    mask = torch.ones(int(inside.sum()), dtype=torch.float64, requires_grad=True)
    adam, best = torch.optim.Adam([mask], 0.05, (0.9, 0.99)), (np.inf, None)
    for _ in range(5):
        full = torch.ones(len(points), dtype=torch.float64)
        full[inside] = mask
        mixed = full[:, None] * points + (1 - full[:, None]) * blank
        loss = ((read(mixed) - state) / deviation).square().mean() + 0.3 * mask.mean()
        best = min(best, (loss.item(), mask.detach().clone()), key=lambda pair: pair[0])
        adam.zero_grad()
        loss.backward()
        adam.step()
        with torch.no_grad():
            mask.clamp_(0, 1)
    np.testing.assert_allclose(explanation.scores[~special], best[1], atol=1e-4)
    assert not explanation.scores[special].any()


@pytest.mark.parametrize("output", ("logit", "loss"))
def test_the_bottleneck_is_adam_on_the_loss_of_the_paper(model, output):
    settings = {"n_steps": 3, "n_samples": 2, "n_seeds": 1, "layer": 2, "beta": 4.0, "reference": SOME_TEXTS}
    (explanation,) = ask(model, [TEXT], ("information_bottleneck", settings), target=Target("neutral", output))
    points, batch = points_of(model), model.encode(as_examples([TEXT]))
    every = torch.cat([states_of(model, points_of(model, text), 2) for text in SOME_TEXTS]).detach()
    mean, deviation = every.mean(0), every.std(0, unbiased=False)
    state = states_of(model, points, 2).detach()
    alpha = torch.full_like(state, 5.0, requires_grad=True)
    generator = generator_for(batch.rows[0], "information_bottleneck 0", 0)
    adam = torch.optim.Adam([alpha], 1.0)
    block = model.network.base_model.encoder.layer[2]

    def information():
        share = alpha.sigmoid()
        passing = torch.distributions.Normal(share * (state - mean) / deviation, 1 - share)
        return torch.distributions.kl_divergence(passing, torch.distributions.Normal(0.0, 1.0))

    for _ in range(3):
        losses = []
        for _ in range(2):
            noise = mean + deviation * torch.randn(*state.shape, generator=generator, dtype=torch.float64)
            mixed = alpha.sigmoid() * state + (1 - alpha.sigmoid()) * noise
            handle = block.register_forward_pre_hook(lambda _, inputs, mixed=mixed: (mixed[None], *inputs[1:]))
            logits = model.network(inputs_embeds=points[None]).logits
            handle.remove()
            losses.append(torch.nn.functional.cross_entropy(logits, torch.tensor([1])))
        adam.zero_grad()
        (torch.stack(losses).mean() + 4.0 * information().mean()).backward()
        adam.step()
    np.testing.assert_allclose(explanation.scores, information().sum(-1).detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", VECTORS)
def test_a_row_of_all_layers_is_the_layer_alone(model, method):
    choice = (method, SETTINGS[method])
    (every,) = ask(model, [TEXT], choice, target=HiddenState("all", "all"))
    assert every.rows == (("layer", ("0", "1", "2", "3")),)
    for layer in range(4):
        (one,) = ask(model, [TEXT], choice, target=HiddenState(layer, "all"))
        np.testing.assert_allclose(every.scores[layer], one.scores, atol=1e-6)


@pytest.mark.parametrize("method", SETTINGS)
def test_a_neighbour_changes_nothing(model, method):
    target = HiddenState(1, "all") if method in VECTORS else Target()
    choice = (method, SETTINGS[method])
    together = ask(model, [TEXT, OTHER, TEXT + " " + TEXT], choice, target=target)
    alone = [ask(model, [text], choice, target=target)[0] for text in (TEXT, OTHER)]
    for one, other in zip(together, alone, strict=False):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
        for name, value in other.diagnostics.items():
            if not name.startswith("parity"):
                assert one.diagnostics[name] == pytest.approx(value, abs=1e-6), name


def test_a_class_and_a_state_are_each_refused_where_they_do_not_fit(model):
    for method in VECTORS:
        with pytest.raises(BadSetting, match="explains hidden states"):
            ask(model, [TEXT], (method, SETTINGS[method]), target=Target("neutral"))
    with pytest.raises(BadSetting, match="explains a class"):
        ask(model, [TEXT], "information_bottleneck", target=HiddenState(1))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("guan_gradient", {"n_entries": 0}),
        ("guan_relevance", {"policy": "deep_lift"}),
        ("guan_perturbation", {"penalty": -1.0}),
        ("information_bottleneck", {"beta": 0.0}),
        ("information_bottleneck", {"layer": 9}),
    ],
)
def test_settings_out_of_range_are_refused(model, method, settings):
    target = HiddenState(1) if method in VECTORS else Target()
    with pytest.raises((BadSetting, LookupError)):
        ask(model, [TEXT], (method, settings), target=target)
