"""What goes wrong in other libraries when gradients are read, and does not here.

Each test names the pitfall, as it was reproduced in captum 0.9.0, transformers-interpret 0.10.0 or lxt 2.1.
"""

import numpy as np
import pytest
import torch

from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.attribution.watching import watched
from tests.shared.asking import FEW, ask
from tests.shared.tiny import tiny_composed

SHORT = "An unforgettable, lovely film."
LONG = (
    "The hotel was clean and the staff were friendly, but the room was small, the breakfast was cold, the music in the "
    "bar went on until three, and nobody at the desk knew when the last bus to the station would leave."
)
POSITIVE = Target("positive")
PATHS = {"integrated_gradients": {"n_steps": 64}, "gradient_shap": {"n_samples": 128}}
POINTS = {"integrated_gradients": "n_steps", "smooth_gradient": "n_samples", "gradient_shap": "n_samples"}


def rise_of(model, text):
    """What the target loses when every piece of the text becomes the pad token."""
    batch = model.encode(as_examples([text]))
    with torch.no_grad():
        logits = model.trace([batch.rows[0], batch.edited(0, batch.units[0].content, "pad")]).logits
    return float(logits[0, 2] - logits[1, 2])


def gradient_times_difference(model, text):
    """[piece]: what DeepLIFT becomes where no layer has a rule."""
    batch = model.encode(as_examples([text]))
    run = ForwardPass(model, batch, Scheduler(512))
    target = POSITIVE.resolve(batch.examples, run.logits, model.labels, model.problem)
    return ((run.embeddings - run.blank("pad")) * run.gradient(target)).sum(-1)[0].numpy()


def test_deep_lift_has_a_rule_for_every_layer(bert):
    """Captum's DeepLift on a BERT is gradient times difference: 58 % of the rise missing, and nothing is said."""
    explanation = ask(bert, [SHORT], ("deep_lift_shap", {"baselines": ("pad",)}), target=POSITIVE)[0]
    rise, plain = rise_of(bert, SHORT), gradient_times_difference(bert, SHORT)
    assert abs(plain.sum() - rise) > 0.1 * abs(rise)  # else this text could not tell the two apart
    assert abs(explanation.scores.sum() - rise) < 0.01 * abs(rise)
    assert np.corrcoef(explanation.scores, plain)[0, 1] < 0.999


@pytest.mark.parametrize("method", POINTS)
def test_a_padded_text_is_as_if_alone(method, bert):
    """Without an attention mask captum's IntegratedGradients are wrong by as much as the largest score; here no user
    can forget the mask."""
    choice = (method, FEW.get(method, {}))
    beside, alone = ask(bert, [SHORT, LONG], choice, budget=1000)[0], ask(bert, [SHORT], choice)[0]
    assert len(beside.scores) == len(alone.scores)
    np.testing.assert_allclose(beside.scores, alone.scores, rtol=0, atol=1e-4 * np.abs(alone.scores).max())


@pytest.mark.parametrize("method", PATHS)
def test_every_text_has_its_own_baseline(method, bert):
    """Captum's GradientShap draws each text's baseline from those of all texts: another text's [SEP] leaks in."""
    for text, explanation in zip(
        (SHORT, LONG),
        ask(bert, [SHORT, LONG], (method, PATHS[method]), target=POSITIVE, budget=1000),
        strict=True,
    ):
        rise = rise_of(bert, text)
        assert abs(explanation.scores.sum() - rise) < 0.05 * abs(rise)
        assert not explanation.scores[explanation.special].any()


def test_noise_is_measured_by_the_embeddings(bert):
    """Captum's NoiseTunnel adds noise sixteen times as large as the embeddings: its map of one text correlates -0.21
    with the gradient."""
    smooth = ask(bert, [SHORT, LONG], "smooth_gradient")
    plain = ask(bert, [SHORT, LONG], "gradient")
    for one, other in zip(smooth, plain, strict=True):
        words = ~one.special  # special tokens have the steepest gradients under any noise
        assert np.corrcoef(one.scores[words], other.scores[words])[0, 1] > 0.9


@pytest.mark.parametrize("name", ("gradient", "smooth_gradient", "gradient_x_input", "integrated_gradients"))
def test_a_lost_sign_is_declared(name, bert):
    """Captum's Saliency takes absolute values unless set otherwise; here the catalogue says which methods do."""
    scores = np.concatenate([one.scores for one in ask(bert, [SHORT, LONG], (name, FEW.get(name, {})))])
    assert (scores.min() < 0) == attributions.get(name).facts["signed"]


def test_the_two_embedding_layers_are_distinguished(bert):
    """In captum "the embedding layer" is whichever module was given; here the result says which, and they differ."""
    words, first = (
        ask(bert, [SHORT], ("integrated_gradients", {"n_steps": 16, "layer": layer}))[0] for layer in (None, 0)
    )
    assert (words.settings["layer"], first.settings["layer"]) == (None, 0)
    assert not np.allclose(words.scores, first.scores, atol=1e-3 * np.abs(words.scores).max())


@pytest.mark.parametrize("method", PATHS)
def test_scores_are_not_normalised(method, bert):
    """Transformers-interpret divides scores by their norm: they add up to nothing, and the raw ones are gone."""
    explanation = ask(bert, [SHORT], (method, PATHS[method]), target=POSITIVE)[0]
    rise = rise_of(bert, SHORT)
    assert abs(explanation.scores.sum() - rise) < 0.05 * abs(rise)
    assert abs(np.square(explanation.scores).sum() - 1) > 0.01


@pytest.mark.parametrize("method", POINTS)
def test_points_do_not_all_share_one_pass(method, bert):
    """Captum runs all 50 steps at once: 4 GB for one text of 480 tokens. Here a pass has its budget of tokens."""
    with watched() as passes:
        ask(bert, [LONG], (method, {POINTS[method]: 60}), budget=256)
    assert sum(map(len, passes)) >= 60
    assert all(len(rows) * max(map(len, rows)) <= 256 for rows in passes)


@pytest.mark.parametrize("method", ("relevance", "deep_lift_shap", "attention_gradient"))
def test_other_backward_rules_leave_gradients_alone(method, bert):
    """Lxt changes the modules of transformers for the whole process, ordinary gradients included."""
    before = ask(bert, [SHORT], "gradient")[0]
    assert ask(bert, [SHORT], method)[0].scores.any()
    assert ask(bert, [SHORT], "gradient")[0] == before


@pytest.mark.parametrize("method", ["integrated_gradients", "gradient_shap", "sequential_integrated_gradients"])
def test_where_the_answer_jumps_between_spans_no_number_of_points_is_advised(method):
    """Of all spans the rise is missed for want of points; of the two heaviest ones because the answer jumps."""
    few = {"n_samples": 1} if method == "gradient_shap" else {"n_steps": 1, "rule": "left"}
    for settings, advice in (({}, "raise n_s"), ({"n_heaviest": 2}, "answers by its 2 heaviest spans")):
        (explanation,) = ask(tiny_composed("span", **settings), [LONG], (method, few))
        assert explanation.diagnostics["completeness_gap"] > 0.05
        assert [advice in caveat for caveat in explanation.caveats] == [True]
