"""Decoded saliency: its formula, its properties, and what its results say of the language head."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from pellucid.attribution.decoded_saliency import READABLE, best_recovery, recovery
from pellucid.base.errors import BadSetting, ModelCannot, UnknownName
from pellucid.models.language_heads.masked_head import MaskedLMHead
from pellucid.run.target import NamedTokens, Target
from pellucid.text.example import as_examples
from tests.reference.decoded_saliency import chances, decoded
from tests.reference.gradients import state_and_gradient
from tests.shared.asking import ask
from tests.shared.tiny import TOKENIZERS, tiny_classifier, tiny_masked_lm

TEXTS = ("A film, a good film.", "fine", ("The cat and the dog.", "A dog it is."))
OF = Target(1)


class StandIn:
    """A head that names tokens by a rule: (ids of each place, in order) -> log-probabilities [place token]."""

    digest, description, trained_on, vocabulary = "0" * 32, "a rule", "the classifier", ""
    width, n_tokens = 32, 600

    def __init__(self, rows):
        self.places = [number for row in rows for number in row.ids]

    def name_tokens(self, states, layer, ids):
        own = torch.tensor(self.places)
        log_chances = torch.where(own[:, None] == torch.tensor(ids)[None], 0.0, -torch.inf)
        return NamedTokens(log_chances, own)


def decode(model, texts=TEXTS, target=OF, **settings):
    return ask(model, list(texts), ("decoded_saliency", settings), target=target, budget=1000)


@pytest.mark.parametrize("tau", (None, 1, 2))
@pytest.mark.parametrize("layer", (0, 2, 3))
def test_the_formula(bert, layer, tau):
    masked_lm = tiny_masked_lm()
    for text, explanation in zip(TEXTS, decode(bert, layer=layer, tau=tau), strict=True):
        segments = (text,) if isinstance(text, str) else text
        state, gradient = state_and_gradient(bert, segments, 1, layer)
        alpha = (state * gradient).sum(-1).clamp_min(0.0)
        ids = bert.tokenizer(*segments)["input_ids"]
        content = list(explanation.units.content)
        expected = decoded(chances(masked_lm, state), alpha, ids, content, tau)
        scale = max(map(abs, expected))
        assert scale > 0
        np.testing.assert_allclose(explanation.scores, expected, atol=1e-5 * scale)


@pytest.mark.parametrize("score", ("grad_cam", "gradient_x_input"))
def test_an_identity_head_leaves_the_scores_of_different_words_as_they_were(bert, score):
    """Property 7: D is the identity where no word stands twice; a word's places together otherwise."""
    texts = ["a good film is.", "fine"]
    order = sorted(bert.encode(as_examples(texts)).rows, key=len, reverse=True)
    model = replace(bert, language_head=StandIn(order))
    for text, explanation in zip(texts, decode(model, texts, layer=2, score=score), strict=True):
        plain = ask(bert, [text], (score, {"layer": 2}), target=OF)[0]
        expected = np.where(plain.special, 0.0, plain.scores)
        ids = bert.tokenizer(text)["input_ids"]
        assert len(set(ids)) == len(ids)
        np.testing.assert_allclose(explanation.scores, expected, atol=1e-6)
        assert explanation.diagnostics["recovery"] == 1.0
        assert not explanation.caveats


def test_more_words_a_position_never_lower_a_score(bert):
    by_tau = [np.concatenate([e.scores for e in decode(bert, layer=2, tau=tau)]) for tau in (1, 2, 3, 5, 9, 99)]
    everything = np.concatenate([e.scores for e in decode(bert, layer=2)])
    for fewer, more in pairwise(by_tau):
        assert (more >= fewer - 1e-9).all()
    assert (by_tau[0] < everything - 1e-9).any()
    np.testing.assert_array_equal(by_tau[-1], everything)


def test_at_the_top_of_a_first_token_reader_all_signal_sits_on_its_first_piece(bert):
    """Then a word's score is the chance of that word there, times one number."""
    masked_lm = tiny_masked_lm()
    for text, explanation in zip(TEXTS, decode(bert, layer=3), strict=True):
        segments = (text,) if isinstance(text, str) else text
        state, gradient = state_and_gradient(bert, segments, 1, 3)
        alpha = (state * gradient).sum(-1)
        assert not alpha[1:].any()
        ids = torch.tensor(bert.tokenizer(*segments)["input_ids"])
        expected = float(alpha[0].clamp_min(0)) * chances(masked_lm, state)[0, ids].numpy()
        content = list(explanation.units.content)
        np.testing.assert_allclose(explanation.scores[content], expected[content], atol=1e-6)


def test_equal_pieces_have_equal_scores_and_types_shows_them_once(bert):
    explanation = decode(bert, layer="all")[0]
    labels = [label.lower() for label in explanation.units.labels]
    first, second = (n for n, label in enumerate(labels) if label == "a")
    assert (explanation.scores[:, first] == explanation.scores[:, second]).all()
    types = explanation.types()
    assert [label.lower() for label in types.units.labels] == ["a", "film", ",", "good", "."]
    np.testing.assert_array_equal(types.scores[:, 0], explanation.scores[:, first])
    assert types.row("2").top(5)


def test_special_tokens_get_no_score_but_give_theirs(bert):
    for explanation in decode(bert, layer=3):
        assert not explanation.scores[explanation.special].any()
        assert explanation.scores.any()  # all of it came from the first special token


def test_all_layers_are_the_layers_one_by_one_and_batch_is_single(bert):
    together = decode(bert, layer="all")
    for number, explanation in enumerate(together):
        for layer in range(4):
            alone = decode(bert, [TEXTS[number]], layer=layer)[0]
            np.testing.assert_allclose(explanation.row(str(layer)).scores, alone.scores, atol=1e-6)
        recoveries = [decode(bert, layer=layer)[number].diagnostics["recovery"] for layer in range(4)]
        assert explanation.diagnostics["recovery"] == min(recoveries)
        assert explanation.diagnostics["best_recovery"] == max(recoveries)


def test_the_sentences_of_both_recoveries():
    assert recovery(0.83) == "The language head names 83% of the text's pieces."
    assert "In the layer that it reads best, the language head names 100%" in best_recovery(1.0)


@pytest.mark.parametrize("score", ("gradient", "integrated_gradients", "allennlp_smooth", "relevance"))
def test_any_score_of_a_layer_can_be_decoded(bert, score):
    masked_lm = tiny_masked_lm()
    explanation = decode(bert, TEXTS[:1], layer=1, score=score)[0]
    alpha = ask(bert, [TEXTS[0]], (score, {"layer": 1}), target=OF)[0].scores
    state, _ = state_and_gradient(bert, (TEXTS[0],), 1, 1)
    expected = decoded(
        chances(masked_lm, state),
        alpha,
        bert.tokenizer(TEXTS[0])["input_ids"],
        list(explanation.units.content),
        None,
    )
    np.testing.assert_allclose(explanation.scores, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"tau": 0}, BadSetting, "tau=0"),
        ({"tau": 1.5}, BadSetting, "tau=1.5"),
        ({"layer": 4}, BadSetting, "layer=4"),
        ({"layer": "top"}, BadSetting, "late or all"),
        ({"score": "occlusion"}, BadSetting, "does not score a layer's states"),
        ({"score": "decoded_saliency"}, BadSetting, "Give one of: .*grad_cam"),
        ({"score": "grad_camm"}, UnknownName, "Did you mean 'grad_cam'"),
    ],
)
def test_bad_settings_end_in_a_sentence(bert, settings, error, words):
    with pytest.raises(error, match=words):
        decode(bert, **settings)


def test_a_model_without_a_head_says_how_to_get_one():
    with pytest.raises(ModelCannot, match="language_head="):
        decode(tiny_classifier())


def test_a_result_says_which_head_and_cautions_where_it_reads_little(bert):
    explanation = decode(bert, layer=2)[0]
    assert explanation.settings["language_head_digest"] == bert.language_head.digest
    assert explanation.settings["language_head"].startswith("masked-language-model head of tiny bert")
    assert "the encoder before fine-tuning" in explanation.settings["language_head"]
    assert explanation.diagnostics["recovery"] < READABLE
    assert any("language head names" in caveat for caveat in explanation.caveats)
    assert "language_head" not in ask(bert, [TEXTS[0]], "gradient")[0].settings


def test_the_head_of_the_base_recovers_the_tokens_it_reads():
    """A base that was trained to name its own pieces: then its head names them from the last layer of a classifier on
    it.
    """
    masked_lm = copying_masked_lm()
    classifier = tiny_classifier()
    classifier.network.bert.load_state_dict(masked_lm.bert.state_dict(), strict=False)
    head = MaskedLMHead(masked_lm, TOKENIZERS["bert"](), "copying")
    explanations = decode(replace(classifier, language_head=head), layer=3)
    assert np.mean([explanation.diagnostics["recovery"] for explanation in explanations]) >= 0.8
    with torch.no_grad():
        masked_lm.cls.predictions.decoder.weight.neg_()  # the head's own: it has lost its encoder
    opposite = decode(replace(classifier, language_head=head), layer=3)
    assert np.mean([explanation.diagnostics["recovery"] for explanation in opposite]) < 0.2


def copying_masked_lm():
    masked_lm, tokenizer = tiny_masked_lm(), TOKENIZERS["bert"]()
    with torch.random.fork_rng(), torch.enable_grad():
        torch.manual_seed(3)
        optimizer = torch.optim.Adam(masked_lm.parameters(), lr=3e-3)
        words = tokenizer(
            ["A film, a good film.", "fine", "The cat and the dog. A dog it is."],
            padding=True,
            return_tensors="pt",
        )
        labels = words["input_ids"].masked_fill(words["attention_mask"] == 0, -100)
        for _ in range(60):
            optimizer.zero_grad()
            masked_lm(**words, labels=labels).loss.backward()
            optimizer.step()
    return masked_lm.eval()
