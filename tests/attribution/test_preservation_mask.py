"""The preservation mask: torch's own Adam on the written-out loss, and models whose best mask is known."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from pellucid.run.target import Target
from tests.attribution.test_perturbations import LONG, PAIR, words_model
from tests.reference import coalitions as literal
from tests.reference.attributions import blanked, content_of
from tests.shared.asking import ask
from tests.shared.small_networks import words
from tests.shared.tiny import FAMILIES, tiny_classifier

LABEL = 1


def explain_one(model, text, **settings):
    return ask(model, [text], ("preservation_mask", settings), target=Target(LABEL))[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_mask_is_the_best_that_adam_visits(family):
    classifier = tiny_classifier(family)
    classifier.network.double()
    positions = sorted(position for inside in content_of(classifier, PAIR) for position in inside)
    for n_steps in (1, 6, 12):
        blank = blanked(classifier, PAIR, "zero")
        expected = literal.preservation_mask(
            classifier, PAIR, positions, LABEL, penalty=0.2, n_steps=n_steps, blank=blank
        )
        explanation = explain_one(classifier, PAIR, penalty=0.2, n_steps=n_steps, baselines="zero", tolerance=0.0)
        np.testing.assert_allclose(explanation.scores[positions], expected, atol=1e-5)
        assert not explanation.scores[explanation.special].any()


@pytest.mark.parametrize("penalty", (0.02, 0.5))
def test_on_a_linear_model_the_loss_is_the_lowest_there_is(penalty):
    model = words_model(linear=True)
    ids = torch.tensor([number for number, _, _ in words(LONG)])
    parts = (model.network.embedding(ids) @ model.network.out.weight[LABEL]).detach().numpy()
    parts = parts / parts.sum()

    def loss(mask):
        return (parts @ (mask - 1)) ** 2 + penalty * mask.mean()

    best = min(
        (minimize(loss, start, bounds=[(0, 1)] * 14) for start in (np.ones(14), np.full(14, 0.5))),
        key=lambda explanation: explanation.fun,
    )
    explanation = explain_one(model, LONG, penalty=penalty, baselines="zero", tolerance=1e-5)
    assert loss(explanation.scores.astype(float)) <= best.fun + 1e-3
    assert explanation.diagnostics["kept"] == pytest.approx(explanation.scores.mean(), abs=1e-6)
    gap = abs(parts @ (explanation.scores - 1))
    assert explanation.diagnostics["preservation_gap"] == pytest.approx(gap, abs=1e-5)
    assert any("lower the penalty" in caveat for caveat in explanation.caveats) == (gap > 0.2)


def test_without_a_penalty_everything_stays():
    explanation = explain_one(words_model(), LONG, penalty=0.0, baselines="zero")
    np.testing.assert_array_equal(explanation.scores, np.ones(14))
    assert explanation.diagnostics["n_steps"] == 31  # thirty steps without a gain
    assert not explanation.caveats


def test_a_word_that_does_nothing_gets_no_mask():
    model = words_model()
    with torch.no_grad():
        model.network.embedding.weight[words(LONG)[2][0]] = 0
    explanation = explain_one(model, LONG, baselines="zero", tolerance=0.0)
    assert explanation.scores[2] == 0 < explanation.scores.max()
    assert any("not settled after 200 steps" in caveat for caveat in explanation.caveats)


def test_texts_stop_each_at_its_own_time():
    model = words_model()
    texts = [LONG, "one two", " ".join(LONG.split()[3:9])]
    choice = ("preservation_mask", {"baselines": "zero"})
    together = ask(model, texts, choice, target=Target(LABEL))
    assert len({explanation.diagnostics["n_steps"] for explanation in together}) > 1
    for text, explanation in zip(texts, together, strict=True):
        alone = ask(model, [text], choice, target=Target(LABEL))[0]
        np.testing.assert_allclose(explanation.scores, alone.scores, atol=1e-5)
        assert explanation.diagnostics["n_steps"] == alone.diagnostics["n_steps"]
