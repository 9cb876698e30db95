"""What goes wrong in other libraries between the caller and the method, and does not here.

Each test names the pitfall, as it was reproduced in shap 0.51.0, transformers-interpret 0.10.0 or ferret 0.4.2.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.kinds import attributions
from tests.shared.asking import FEW, ask, ask_all, reads_states, works

TEXT = "An unforgettable, lovely film."
LONGER_THAN_THE_MODEL = "The hotel was clean and the staff were friendly, but the breakfast was cold. " * 12
COSTLY = {
    "shapley_sampling": {"unit": "sentence"},
    "kernel_shap": {"n_samples": 16},
    "lime": {"n_samples": 16},
}
SOME = (
    "gradient",
    "integrated_gradients",
    "smooth_gradient",
    "occlusion",
    "kernel_shap",
    "lime",
    "relevance",
)
STEPPED = {
    "integrated_gradients": ("n_steps", 5),
    "lime": ("n_samples", 25),
    "kernel_shap": ("n_samples", 20),
}


@pytest.mark.parametrize("method", (*SOME, "shapley_sampling"))
def test_a_text_longer_than_the_model_is_explained_whole(method, bert):
    """Shap's pipeline and transformers-interpret die with a size of tensors; here every piece gets its score."""
    settings = FEW.get(method, {}) | COSTLY.get(method, {})
    explanation = ask(bert, [LONGER_THAN_THE_MODEL], (method, settings))[0]
    pieces = bert.encode([explanation.example]).units[0]
    assert len(pieces) > bert.max_length
    assert explanation.units.end[explanation.units.content[-1]] == pieces.end[pieces.content[-1]]
    assert np.isfinite(explanation.scores).all()


@pytest.mark.parametrize("method", SOME)
def test_a_map_of_zeros_is_zero_and_says_so(method, bert):
    """Transformers-interpret divides by the scores' norm, which is 0 where nothing matters."""
    network = copy.deepcopy(bert.network)
    with torch.no_grad():
        network.classifier.weight.zero_()
    explanation = ask(replace(bert, network=network), [TEXT], (method, FEW.get(method, {})))[0]
    assert not explanation.scores.any()
    assert any("All scores are 0" in caveat for caveat in explanation.caveats)


@pytest.mark.parametrize("method", STEPPED)
def test_settings_do_not_stick(method, bert):
    """Transformers-interpret keeps `n_steps=5` of one call for all later ones."""
    setting, few = STEPPED[method]
    assert pellucid.explain(bert, TEXT, method, progress=False, **{setting: few})[0].settings[setting] == few
    later = pellucid.explain(bert, TEXT, method, progress=False)[0]
    assert later.settings == attributions.get(method).defaults
    assert later.settings[setting] != few


@pytest.mark.parametrize("method", STEPPED)
def test_the_callers_settings_are_not_emptied(method, bert):
    """Ferret pops options out of the caller's dictionary: the second text runs with thousands of samples, not 25."""
    setting, few = STEPPED[method]
    settings = {setting: few}
    ask(bert, [TEXT, TEXT + " Fine."], (method, settings))
    assert settings == {setting: few}


def test_views_leave_the_scores_alone(bert):
    """Ferret's normalising divides the caller's own scores in place."""
    explanation = ask(bert, [TEXT], "gradient_x_input")[0]
    before = explanation.scores.copy()
    assert abs(np.abs(explanation.normalised()).sum() - 1) < 1e-6
    explanation.words().normalised()
    explanation.top(3)
    np.testing.assert_array_equal(explanation.scores, before)
    with pytest.raises(ValueError, match="read-only"):
        explanation.scores /= 2


def test_all_methods_explain_the_same_number(bert):
    """In ferret LIME and SHAP explain probabilities and gradients logits, of class 1 unless it is given."""
    names = [name for name in attributions.names() if works(name, bert) and not reads_states(name)]
    by_method = ask_all(bert, [TEXT], [(name, FEW.get(name, {})) for name in names])
    targets = {str(explanation[0].target) for explanation in by_method.values()}
    explanation = next(iter(by_method.values()))[0]
    assert len(names) > 5
    assert len(targets) == 1
    assert (explanation.target.output, explanation.target.label) == ("logit", explanation.prediction.label)
