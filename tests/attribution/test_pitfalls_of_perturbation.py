"""What goes wrong in other libraries when texts are perturbed, and does not here.

Each test names the pitfall, as it was reproduced in captum 0.9.0, shap 0.51.0, lime 0.2.0.1 or ferret 0.4.2.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attribution.watching import watched
from tests.shared.asking import FEW, ask

SHORT, TWO = "An unforgettable, lovely film.", "Fine film."
LONG = (
    "The hotel was clean and the staff were friendly, but the room was small, the breakfast was cold, the music in the "
    "bar went on until three, and nobody at the desk knew when the last bus to the station would leave."
)
TAKING_AWAY = (
    "occlusion",
    "leave_one_out",
    "lime",
    "kernel_shap",
    "gaussian_process_shapley",
    "shapley_sampling",
    "thermostat_lime",
    "thermostat_occlusion",
    "thermostat_shapley_sampling",
)
DRAWING = tuple(name for name in TAKING_AWAY if "occlusion" not in name and name != "leave_one_out")


def explanations_of(model, texts, method, **how):
    return ask(model, texts, (method, FEW.get(method, {})), **how)


def louder(model, factor):
    """The model with every logit times the factor."""
    network = copy.deepcopy(model.network)
    with torch.no_grad():
        for parameter in network.classifier.parameters():
            parameter.mul_(factor)
    return replace(model, network=network)


@pytest.mark.parametrize("method", TAKING_AWAY)
@pytest.mark.parametrize("factor", (1e-3, 30.0))
def test_scores_do_not_depend_on_the_unit_of_the_output(method, factor, bert):
    """Captum's Lime answers zero for all words where the logits move by a hundredth: a penalty with a unit of its
    own.
    """
    plain = explanations_of(bert, [SHORT], method)[0].scores
    scaled = explanations_of(louder(bert, factor), [SHORT], method)[0].scores / factor
    assert np.count_nonzero(plain) > 3
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-3 * np.abs(plain).max())


@pytest.mark.parametrize("method", TAKING_AWAY)
def test_padding_gets_no_score(method, bert):
    """Captum's KernelShap and Lime score the padding of a batch; here a text beside a longer one is as if alone."""
    beside = explanations_of(bert, [TWO, LONG], method, budget=1000)[0]
    alone = explanations_of(bert, [TWO], method)[0]
    assert len(beside.scores) == len(beside.units) == len(alone.units)
    np.testing.assert_allclose(beside.scores, alone.scores, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", TAKING_AWAY)
def test_special_tokens_are_never_removed(method, bert):
    """Captum's Occlusion and ShapleyValueSampling replace [CLS] and [SEP] too, unless set otherwise."""
    with watched() as passes:
        explanation = explanations_of(bert, [SHORT], method)[0]
    row = bert.encode([explanation.example]).rows[0]
    rows = [other for rows in passes for other in rows]
    assert len(rows) > 3
    assert {(other.ids[0], other.ids[-1]) for other in rows} == {(row.ids[0], row.ids[-1])}
    assert not explanation.scores[..., explanation.special].any()


@pytest.mark.parametrize("unit", ("word", "piece"))
def test_wide_windows_do_not_feel_the_padding(unit, bert):
    """Captum's Occlusion with window 3 gives the last token of a padded text another score than in the text alone."""
    choice = ("occlusion", {"window": 3, "unit": unit, "operator": "pad"})
    beside = ask(bert, [SHORT, LONG], choice, budget=1000)[0]
    np.testing.assert_allclose(beside.scores, ask(bert, [SHORT], choice)[0].scores, rtol=0, atol=1e-5)


def test_a_text_shorter_than_the_window_is_removed_whole(bert):
    """Captum's Occlusion fails: "Sliding window dimensions (3,) cannot exceed input dimensions (2,)"."""
    explanation = ask(bert, [TWO], ("occlusion", {"window": 9}))[0]
    scores = explanation.scores[~explanation.special]
    assert len(scores) > 1
    assert scores.any()
    np.testing.assert_allclose(scores, scores[0])


AT_THEIR_SIZES = {
    "kernel_shap": {"n_samples": 100},
    "gaussian_process_shapley": {"n_samples": 100},
    "lime": {"n_samples": 25},
    "thermostat_lime": {"n_samples": 25},
    "shapley_sampling": {"n_permutations": 8},
}


@pytest.mark.parametrize("method", AT_THEIR_SIZES)
def test_seeds_agree_or_a_caveat_says_so(method, bert):
    """Captum's KernelShap with 100 samples of 63 tokens, and LIME with ThermoStat's 25: two seeds correlate 0.25 and
    0.48, and nothing is said."""
    for text in (SHORT, LONG):
        one, other = (ask(bert, [text], (method, AT_THEIR_SIZES[method]), seed=seed)[0] for seed in (0, 1))
        agreement = np.corrcoef(one.scores[~one.special], other.scores[~other.special])[0, 1]
        assert agreement > 0.9 or (one.caveats and other.caveats)


@pytest.mark.parametrize("method", AT_THEIR_SIZES)
def test_many_samples_agree_and_need_no_caveat(method, bert):
    """The other half of the promise: what is said depends on the draws, and more of them help."""
    setting = "n_permutations" if method == "shapley_sampling" else "n_samples"
    few, many = (ask(bert, [SHORT], (method, {setting: n}))[0].diagnostics for n in (8, 1024))
    assert many["relative_error"] <= few["relative_error"]
    assert many["relative_error"] < 0.1


@pytest.mark.parametrize("method", DRAWING)
def test_few_samples_tie_no_words_together(method, bert):
    """Shap's default merges tokens when `max_evals` runs short: 73 tokens, 16 different scores, and nothing is said."""
    explanation = explanations_of(bert, [LONG], method)[0]
    scores = explanation.scores[~explanation.special]
    assert len(np.unique(scores)) == len(scores) or explanation.caveats


@pytest.mark.parametrize("method", TAKING_AWAY)
def test_perturbed_texts_are_never_tokenized_again(method, bert):
    """Shap and ferret write the rest as text and tokenise that, which gives other ids; here ids stay at their
    positions.
    """
    with watched() as passes:
        explanation = explanations_of(bert, [SHORT], method)[0]
    row = bert.encode([explanation.example]).rows[0]
    assert len(row) > len(SHORT.split()) + 3  # words of several pieces are what goes wrong
    blank = {id for id in bert.blank_ids().values() if id is not None}
    at_home = dict(zip(row.positions, row.ids, strict=True))
    for other in (other for rows in passes for other in rows):
        for position, id in zip(other.positions, other.ids, strict=True):
            assert id == at_home[position] or id in blank


@pytest.mark.parametrize("method", TAKING_AWAY)
def test_perturbed_texts_share_passes(method, bert):
    """Shap's way through a pipeline, and captum's default, run one perturbed text a pass."""
    with watched() as passes:
        explanations_of(bert, [SHORT], method)
    assert sum(map(len, passes)) > 3 * (len(passes) - 1)


@pytest.mark.parametrize("method", TAKING_AWAY)
def test_passes_stay_within_the_budget_of_tokens(method, bert):
    """Lime runs all samples in one batch (2.1 GB for 200 of a long text); here memory does not grow with their
    number.
    """
    with watched() as passes:
        explanations_of(bert, [LONG], method, budget=256)
    assert len(passes) > 2
    assert all(len(rows) * max(map(len, rows)) <= 256 for rows in passes)


REPEATING = "good film, good story, bad end, good music"


@pytest.mark.parametrize("method", DRAWING)
def test_a_repeated_word_has_a_score_at_each_position(method, bert):
    """Lime takes a repeated word out everywhere at once and gives it one score: 6 scores for these 8 words."""
    explanation = explanations_of(bert, [REPEATING], method)[0].words()
    good = [index for index, label in enumerate(explanation.units.labels) if label == "good"]
    assert len(good) == 3
    assert len(np.unique(explanation.scores[good])) == 3


@pytest.mark.parametrize("method", DRAWING)
def test_the_predicted_class_is_explained_and_the_seed_is_recorded(method, bert):
    """Lime explains label 1 whatever was predicted, ten words at most, with a seed that nobody knows."""
    explanation = explanations_of(bert, [LONG], method)[0]
    assert explanation.target.label == explanation.prediction.label
    assert len(explanation.words().units) >= len(LONG.split())
    assert explanation == explanations_of(bert, [LONG], method, seed=explanation.seed)[0]
