"""The studies of layers and concepts: claims are signed, a rescaled layer changes no answer, what was not run is
said.
"""

import numpy as np
import pytest
import torch

from pellucid.base.processes import no_report
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from studies.quoted_blocks.s3_layers_blocks import s3_concepts_claims, s3_layers_claims
from studies.s3_concepts import numbers as of_concepts
from studies.s3_layers import study
from studies.s3_layers.models import MODELS, PRETRAINED, rows_of
from studies.s3_layers.numbers import falls, most_informative_words, runs_of_used_words, segments, stop_words
from studies.s3_layers.rescaling import rescaled
from studies.s3_layers.scores import HEAD, RIVALS, layer_sums, retained
from tests.shared.asking import FEW, SOME_TEXTS
from tests.shared.tiny import tiny_on_vectors

WORDS = [["the", "film", "is", "good", "."], ["a", "dull", "plot"]]
METHODS = ("retained_information", *RIVALS)


def unit(model, seed, by_row, head):
    """One model and seed: row -> information of each text, and what the head holds of every word."""
    rows = {row: [[value] * len(words) for words in WORDS] for row, value in by_row.items()}
    return {
        "model": model,
        "seed": seed,
        "words": WORDS,
        "rows": rows | {HEAD: head},
        "settled": dict.fromkeys((*by_row, HEAD), 0.5),
        "per_piece": {row: [value + 0.01 * seed, value] for row, value in by_row.items()},
    }


@pytest.fixture(scope="module")
def by_model():
    content, function = (
        [[0.0, 3.0, 0.0, 2.0, 9.0], [0.0, 2.0, 1.0]],
        [[3.0, 0.0, 2.0, 0.0, 9.0], [2.0, 0.0, 0.0]],
    )
    return {
        PRETRAINED: [unit(PRETRAINED, seed, {"1": 4.0, "2": 3.0}, content) for seed in range(3)],
        "BiLSTM": [unit("BiLSTM", seed, {"1": 3.0, "2": 4.0}, function) for seed in range(3)],
        "CNN": [unit("CNN", seed, {"K1": 3.0, "K7": 4.0}, function) for seed in range(2)],
    }


def test_information_that_falls_is_a_claim_above_0_and_of_the_cnn_one_that_does_not(by_model):
    measured = {claim.words.partition(":")[0]: claim for claim in falls(by_model)}
    assert measured[PRETRAINED].measured.mean == pytest.approx(1.0)
    assert measured["BiLSTM"].measured.mean == pytest.approx(-1.0)
    assert measured["CNN"].measured.mean == pytest.approx(1.0)
    assert measured["CNN"].verdict == "no verdict: 2 seeds"


def test_function_words_are_ranked_within_their_sentence_and_punctuation_is_neither(by_model):
    claims = stop_words(by_model)
    assert [claim.measured.mean for claim in claims] == [100.0, 100.0]
    assert (claims[0].verdict, claims[1].seeds) == ("reproduced", 2)
    assert stop_words({"CNN": by_model["CNN"]}) == []


def test_the_most_informative_words_are_counted_over_texts_and_seeds(by_model):
    (first, *others) = most_informative_words(by_model[PRETRAINED])
    assert first == ("a", 3, False) and ("film", 3, True) in others
    assert "." not in [word for word, _, _ in others]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    return tiny_on_vectors("bilstm", "maximum", layers=3)


def test_a_rescaled_layer_changes_its_states_and_no_answer(model):
    other = rescaled(model, 2)
    rows = model.encode(as_examples(list(SOME_TEXTS))).rows
    before, after = (one.trace(rows, Want(hidden=True)) for one in (model, other))
    torch.testing.assert_close(after.logits, before.logits, rtol=1e-4, atol=1e-6)
    for layer, factor in enumerate((1, 1, 10, 1)):
        torch.testing.assert_close(after.hidden[layer], factor * before.hidden[layer], rtol=1e-4, atol=1e-5)
    assert other.hash != model.hash and model.network.encoder.blocks[1] is not other.network.encoder.blocks[1]


@pytest.mark.parametrize("method", METHODS)
def test_whose_scores_move_with_a_rescaled_layer(model, method):
    """Those that measure states in sigma_S stay, those by gradients and relevance grow with the factor; no other layer
    moves.
    """
    rows = rows_of(model, "BiLSTM")
    before, after = (
        layer_sums(one, as_examples(list(SOME_TEXTS[:2])), method, rows, FEW.get(method, {}))["sums"]
        for one in (model, rescaled(model, 2))
    )
    times = [np.mean(np.array(after[row]) / before[row]) for row in rows]
    moves = 1.0 if method in ("retained_information", "guan_perturbation") else 10.0
    np.testing.assert_allclose(times, [1.0, moves, 1.0], rtol=1e-3)


def test_words_of_several_pieces_have_the_mean_of_their_pieces(model):
    numbers = retained(
        model, as_examples(list(SOME_TEXTS)), {"1": rows_of(model, "BiLSTM")["1"]}, FEW[METHODS[0]], no_report
    )
    assert [len(one) for one in numbers["rows"]["1"]] == [len(words) for words in numbers["words"]]
    assert numbers["words"][0] == ["A", "good", "film", "."]
    assert numbers["evaluations"]["1"] == 4 + 2 * (2 + 2 * 2)


def test_the_layers_of_the_cnn_are_its_widths():
    rows = rows_of(tiny_on_vectors("cnn", "maximum", widths=[1, 3, 5, 7]), "CNN")
    assert {row: target.part for row, target in rows.items()} == {"K1": "1", "K3": "3", "K5": "5", "K7": "7"}
    assert set(study.SMALL.models) == set(MODELS)


def test_a_method_that_cannot_run_is_missing_with_its_reason(model):
    rows = rows_of(model, "BiLSTM")
    assert (
        "n_entries" in layer_sums(model, as_examples(["A film."]), "guan_gradient", rows, {"n_entries": 0})["missing"]
    )


def concepts_of(seed):
    remaining = [[5.0, 5.0], [4.0, 2.0], [2.0, 1.0]]
    of = {"remaining": remaining, "contrast": [1.0, 2.0, 2.0 + 0.01 * seed]}
    densities = {"gaussian": of, "substitution": of | {"contrast": [1.0, 2.0, None]}}
    return {
        "model": "BiLSTM",
        "seed": seed,
        "layers": [0, 1, 2],
        "concepts": ["a", "b"],
        "densities": densities,
        "settled": 1.0,
    }


def test_r_falls_from_layer_1_in_percent_and_contrast_is_that_of_the_last_layer():
    units = [concepts_of(seed) for seed in range(3)]
    for claim in of_concepts.falls({"BiLSTM": units}):
        assert claim.measured.mean == pytest.approx(50.0) and claim.verdict == "reproduced"
    gaussian, substitution = of_concepts.contrasts({"BiLSTM": units})
    assert gaussian.measured.mean == pytest.approx(0.81) and gaussian.verdict == "reproduced"
    assert substitution.seeds == 0 and substitution.verdict == "no verdict: 0 seeds"


def test_negative_emotion_has_the_smallest_r_by_percent_and_of_the_transformer_not():
    units = [concepts_of(seed) | {"concepts": ["a", "negative emotion"]} for seed in range(3)]
    for name, mean in {"BiLSTM": 100.0, "Transformer": -100.0}.items():  # r of 2 and 1 in the last layer
        for claim in of_concepts.used_most({name: units}):
            assert claim.measured.mean == pytest.approx(mean)
    assert of_concepts.used_most({"BiLSTM": [concepts_of(seed) for seed in range(3)]}) == []


def test_used_words_that_stand_together_form_few_runs(by_model):
    together, apart = np.array([9.0, 8, 7, 6, 1, 1, 1, 1]), np.array([9.0, 1, 8, 1, 7, 1, 6, 1])
    assert runs_of_used_words(together) < 70 < 130 < runs_of_used_words(apart)
    draws = np.random.default_rng(0).random((4_000, 12))
    assert np.mean([runs_of_used_words(one) for one in draws]) == pytest.approx(100, abs=1.5)
    lstm, *_ = segments(by_model)
    assert lstm.words == "BiLSTM uses words in fewer runs than MiniLM" and lstm.seeds == 3


def test_blocks_of_studies_that_have_not_run_say_so(tmp_path):
    assert s3_layers_claims(tmp_path) == s3_concepts_claims(tmp_path) == "Not run yet."
