"""The gradient chooses what is asked; the model's answers decide."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.attacks.cases import first_order_gains
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.omission_scores import words_of
from pellucid.base.errors import ModelCannot
from pellucid.models.word_neighbours import word_neighbours
from pellucid.text.example import as_examples
from pellucid.text.wordnet import wordnet_folder

pytestmark = pytest.mark.skipif(not (wordnet_folder() / "data.noun").is_file(), reason="WordNet is not installed")

TEXT = "A good film and a lovely day."


def test_a_gain_is_the_gradient_times_the_change_of_the_words_vector_by_hand(bert):
    (example,) = as_examples([TEXT])
    words, dictionaries = words_of(example), Dictionaries(words=word_neighbours(bert))
    gain = first_order_gains(bert, example, bert.labels[1], words, dictionaries)
    inputs = bert.tokenizer(TEXT, return_tensors="pt")
    table = bert.network.get_input_embeddings()
    vectors = table(inputs["input_ids"]).detach().requires_grad_()
    logits = bert.network(inputs_embeds=vectors, attention_mask=inputs["attention_mask"]).logits
    (gradient,) = torch.autograd.grad(logits[0, 1], vectors)
    pieces = [n for n, word in enumerate(inputs.word_ids()) if word == 1]
    new = table(torch.tensor(bert.tokenizer("dull", add_special_tokens=False)["input_ids"])).mean(0)
    expected = (new - vectors[0, pieces].mean(0)) @ gradient[0, pieces].sum(0)
    assert gain(1, "dull") == pytest.approx(expected.item(), rel=1e-3, abs=1e-6)


def test_fewer_replacements_of_a_word_take_fewer_queries(bert):
    queries = {}
    for per_unit in (1, 3):
        (attempt,) = pellucid.attack(bert, TEXT, "screened", per_unit=per_unit, progress=False)
        assert attempt.ending in ("success", "exhausted")
        queries[per_unit] = attempt.queries
    (pwws,) = pellucid.attack(bert, TEXT, "pwws", progress=False)
    assert queries[1] <= queries[3] and queries[1] < pwws.queries


def test_a_text_in_windows_has_gains_for_all_of_its_words(bert):
    (example,) = as_examples([" ".join([TEXT] * 120)])
    words = words_of(example)
    gain = first_order_gains(bert, example, bert.labels[0], words, Dictionaries(words=word_neighbours(bert)))
    assert np.isfinite([gain(0, "dull"), gain(len(words) - 2, "dull")]).all()


def test_a_black_box_has_no_gradient():
    model = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"])
    with pytest.raises(ModelCannot, match="screened does not work"):
        pellucid.attack(model, TEXT, "screened", progress=False)
    plan = pellucid.AttackPlan("text_order", ("typos",), search="screened")
    with pytest.raises(ModelCannot, match="use greedy"):
        pellucid.attack(model, TEXT, plan, progress=False)
