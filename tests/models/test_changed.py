"""Changed copies of models: what is changed, what stays, and what has no such copy."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import ModelCannot
from pellucid.models.changed_networks import (
    WORD,
    parts_from_the_head,
    with_random_weights,
    with_shifted_vectors,
    without_first_word,
)
from pellucid.run.explaining import method_calls
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_classifier, tiny_composed

TEXTS = ("A gripping, lovely film.", "Dull and long.", ("The soup was warm.", "Nobody could eat there."))
POOLERS = ("first_token", "mean", "maximum", "additive", "dot", "span")
EXACT = ("gradient", "occlusion", "integrated_gradients")


def answers(model, examples):
    return [model.plain_logits(example) for example in examples]


@pytest.mark.parametrize("family", ("bert", "roberta", "distilbert", "gpt2", "llama"))
def test_a_network_cannot_read_the_word_and_its_exact_score_is_0(family):
    """For networks that count positions among the pieces the word's place is still there, as for the operator
    "absent".
    """
    model = tiny_classifier(family)
    blind, texts = without_first_word(model, as_examples(TEXTS))
    assert all(one.segments[0].startswith(f"{WORD} ") for one in texts)
    for method in EXACT:
        for one in (
            pellucid.explain(blind, texts, method, n_steps=4)
            if method == EXACT[2]
            else pellucid.explain(blind, texts, method)
        ):
            word, score = next(iter(one))
            assert word == WORD and score == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("pooler", POOLERS)
def test_composed_models_pool_without_the_word(pooler):
    model = tiny_composed(pooler)
    blind, texts = without_first_word(model, as_examples(TEXTS))
    for one in pellucid.explain(blind, texts, "occlusion"):
        word, score = next(iter(one))
        assert word == WORD and score == pytest.approx(0, abs=1e-5)


def test_a_function_sees_the_text_without_the_word():
    seen = []

    def answer(texts):
        seen.extend(texts)
        return [[0.2, 0.8] for _ in texts]

    blind, texts = without_first_word(pellucid.from_function(answer, ["a", "b"]), as_examples(TEXTS))
    answers(blind, texts)
    assert seen[-3:] == [TEXTS[0], TEXTS[1], TEXTS[2]]


def test_shifted_vectors_give_the_same_answers_and_leave_the_model_alone():
    model, examples = tiny_classifier("bert"), as_examples(TEXTS)
    before, digest = answers(model, examples), model.hash
    shifted = with_shifted_vectors(model, 1.0, 0)
    for one, other in zip(before, answers(shifted, examples), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    moved = shifted.embedding.weight - model.embedding.weight
    assert model.hash == digest != shifted.hash
    np.testing.assert_allclose(moved.detach().numpy(), np.broadcast_to(moved[0].detach(), moved.shape), atol=1e-5)
    assert float(moved.detach().abs().mean()) > 0.1 * float(model.embedding.weight.detach().std())


def test_networks_without_such_a_table_and_functions_are_refused():
    function = pellucid.from_function(lambda texts: [[0.2, 0.8] for _ in texts], ["a", "b"])
    with pytest.raises(ModelCannot, match="adds no table of positions or token types to its word vectors"):
        with_shifted_vectors(tiny_classifier("llama"), 1.0, 0)
    for change in (
        lambda: with_shifted_vectors(function, 1.0, 0),
        lambda: with_random_weights(function, 0, 1, 0),
    ):
        with pytest.raises(ModelCannot, match="function is a function of texts; it has no weights to"):
            change()


@pytest.mark.parametrize("family", ("bert", "albert", "llama"))
def test_parts_are_the_head_the_blocks_and_the_vectors_in_this_order(family):
    model = tiny_classifier(family)
    parts = parts_from_the_head(model)
    names = [name for part in parts for name in part]
    assert sorted(names) == sorted(name for name, _ in model.network.named_parameters())
    n_blocks = 1 if family == "albert" else 3
    assert len(parts) == n_blocks + 2
    assert any("embed" in name for name in parts[-1]) and not any("embed" in name for name in parts[0])
    assert method_calls(["gradient"], with_random_weights(model, 0, 1, 0))


def test_in_a_text_of_several_windows_the_word_stands_in_the_first():
    long = " ".join(["A gripping, lovely film."] * 40)
    blind, texts = without_first_word(tiny_classifier("bert"), as_examples([long, "Dull."]))
    assert len(blind.encode(texts).rows[0].windows) > 1
    for one in pellucid.explain(blind, texts, "gradient"):
        assert next(iter(one)) == (WORD, 0)
