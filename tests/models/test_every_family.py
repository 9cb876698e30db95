"""Every family of the library's mapping of sequence classifiers: it works, or it ends in one sentence.

All methods on all families stand in docs/capabilities.md, which a longer test compares; here are a few on each.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from pellucid.base.errors import ModelCannot, ParityBroken
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.asking import ask, works
from tests.shared.families import MAPPING, TOKENIZERS, family_classifier, family_network

TEXTS = ("A gripping, lovely film.", ("Good.", "Nobody saw it."))
METHODS = ("gradient", "occlusion", ("shapley_sampling", {"n_permutations": 4}))
NOT_BUILT = {"layoutlmv2": "detectron2"}  # what they need is no part of the library
RANDOM = ("reformer",)  # hashes its pieces by chance, unless its configuration has a seed
BUILT = [family for family in MAPPING if family not in NOT_BUILT]
WORKING = [family for family in BUILT if family not in RANDOM]


@cache
def classifier(family):
    return family_classifier(family)


def own_logits(family, text):
    """What the user's own call of the model gives."""
    segments = (text,) if isinstance(text, str) else text
    columns = TOKENIZERS[family]()(*segments, return_tensors="pt")
    with torch.no_grad():
        return classifier(family).network(**columns).logits[0].tolist()


# Without its CUDA kernel its attention is 0: the first token, which the head reads, reads no word, and what is left is
# rounding.
BLIND = {"mra"}


@pytest.mark.whole
@pytest.mark.parametrize("family", WORKING)
def test_the_right_answer_is_explained_and_a_text_alone_has_the_scores_that_it_has_in_a_batch(family):
    model, own = classifier(family), own_logits(family, TEXTS[0])
    for method in METHODS:
        if not works(method if isinstance(method, str) else method[0], model):
            continue
        alone = [ask(model, [text], method)[0] for text in TEXTS]
        assert alone[0].prediction.logits == pytest.approx(own, abs=2e-5)
        for explanation in alone:
            says_so = family in BLIND and any("All scores are 0" in caveat for caveat in explanation.caveats)
            assert explanation.scores.any() or says_so
        together = ask(model, list(TEXTS), method)
        for one, other in zip(together, alone, strict=True):
            size = max(np.abs(other.scores).max(), 1e-3 * abs(other.target.value))
            assert np.abs(one.scores - other.scores).max() <= 2e-3 * size


@pytest.mark.parametrize("family", RANDOM)
def test_a_family_that_answers_by_chance_is_refused(family):
    with pytest.raises(ParityBroken, match="random state"):
        for _ in range(3):
            ask(classifier(family), TEXTS, "gradient")


@pytest.mark.parametrize("family", NOT_BUILT)
def test_a_family_that_cannot_be_built_says_what_it_needs(family):
    with pytest.raises(ImportError, match=NOT_BUILT[family]):
        family_network(family)


@pytest.mark.parametrize("family", ("bart", "t5"))
def test_pairs_and_single_texts_run_together_though_they_hold_different_numbers_of_end_tokens(family):
    texts = [*TEXTS, "One more </s> here."]
    explanations = ask(classifier(family), texts, "gradient")
    for text, explanation in zip(texts, explanations, strict=True):
        assert explanation.prediction.logits == pytest.approx(own_logits(family, text), abs=2e-5)


@pytest.mark.parametrize("family", ("bart", "mbart"))
def test_a_path_moves_the_words_of_the_encoder_and_of_the_decoder(family):
    """Both read the words from one table: without a word in either the answer is that to the masked text."""
    model = classifier(family)
    explanations = ask(model, TEXTS, ("integrated_gradients", {"tolerance": 0.01}))
    assert max(explanation.diagnostics["completeness_gap"] for explanation in explanations) < 0.01
    (row,) = model.encode(as_examples([TEXTS[0]])).rows
    other = replace(row, ids=(row.ids[0], *reversed(row.ids[1:-1]), row.ids[-1]))
    with torch.no_grad():
        moved = model.trace([row], embeddings=model.trace([other]).embeddings).logits
        own = model.trace([other]).logits
    torch.testing.assert_close(moved, own)


@pytest.mark.parametrize("family", ("bart", "mbart", "t5"))
def test_relevance_reaches_the_words_through_encoder_and_decoder(family):
    relevance = ask(classifier(family), TEXTS, "relevance")
    assert max(explanation.diagnostics["conservation_gap"] for explanation in relevance) < 1e-3


def test_hidden_states_are_those_of_the_encoder():
    network = classifier("bart").network
    tokenizer = classifier("bart").tokenizer
    with torch.no_grad():
        own = network.model.encoder(**tokenizer(TEXTS[0], return_tensors="pt"), output_hidden_states=True)
    trace = classifier("bart").trace(classifier("bart").encode(as_examples([TEXTS[0]])).rows, want=Want(hidden=True))
    assert len(trace.hidden) == len(own.hidden_states)
    for ours, theirs in zip(trace.hidden, own.hidden_states, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("family", ("rembert", "megatron-bert", "big_bird", "xlm", "falcon", "longformer"))
def test_relevance_goes_through_networks_that_change_their_states_in_place(family):
    explanations = ask(classifier(family), TEXTS, "relevance")
    assert max(explanation.diagnostics["conservation_gap"] for explanation in explanations) < 1e-3


def test_relevance_that_is_not_possible_does_not_blame_the_tokenizer():
    with pytest.raises(ModelCannot, match=r"relevance .* integrated_gradients") as raised:
        ask(classifier("bloom"), TEXTS, "relevance")
    assert "tokenizer" not in str(raised.value)


@pytest.mark.parametrize("family", ("mixtral", "qwen2_moe", "gpt_oss"))
def test_deep_lift_refuses_experts_that_differ_from_piece_to_piece(family):
    with pytest.raises(ModelCannot, match="experts"):
        ask(classifier(family), TEXTS, "deep_lift_shap")


@pytest.mark.parametrize("family", ("bert", "roberta"))
def test_a_configuration_without_named_outputs_is_read(family):
    plain = family_classifier(family, return_dict=False)
    explanations = ask(plain, TEXTS, "gradient")
    assert explanations[0].prediction.logits == pytest.approx(own_logits(family, TEXTS[0]), abs=2e-5)


def test_a_network_that_looks_segments_up_among_its_words_is_explained_by_its_words():
    explanations = ask(classifier("xlm"), TEXTS, ("integrated_gradients", {"tolerance": 0.01}))
    assert max(explanation.diagnostics["completeness_gap"] for explanation in explanations) < 0.01


@pytest.mark.parametrize(("family", "first"), (("bert", 0), ("roberta", 2), ("yoso", 2), ("llama", 0), ("esm", 1)))
def test_the_first_position_is_seen(family, first):
    assert classifier(family).structure.first_position == first


@pytest.mark.parametrize(
    ("family", "lacking"),
    (
        ("bert", set()),
        ("t5", {"attention"}),
        ("xlm", {"attention", "hidden_states"}),
        ("funnel", {"attention", "hidden_states"}),
        ("canine", {"attention", "hidden_states", "gradient"}),
    ),
)
def test_a_missing_part_is_a_missing_capability(family, lacking):
    assert {"attention", "hidden_states", "gradient"} - classifier(family).capabilities == lacking
    assert classifier(family).structure.lacks.keys() >= lacking


def test_where_a_part_is_missing_the_sentence_says_what_works():
    with pytest.raises(ModelCannot, match=r"attention does not work with .*Methods that work with it: .*gradient"):
        ask(classifier("t5"), TEXTS, "attention")
