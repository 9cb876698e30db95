"""What a language head writes in the place of a word."""

import pytest

import pellucid
from pellucid.attacks.cases import masked_fillers
from pellucid.attacks.omission_scores import words_of
from pellucid.base.errors import ModelCannot
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_masked_lm

TEXT = "A good film and a lovely day."


def test_they_are_the_likeliest_words_of_the_masked_text_by_hand(bert):
    (example,) = as_examples([TEXT])
    words = words_of(example)
    fillers = masked_fillers(bert, example, words)
    masked_lm = tiny_masked_lm()
    inputs = bert.tokenizer(TEXT, return_tensors="pt")
    piece = inputs.word_ids().index(2)
    if inputs.word_ids().count(2) == 1:
        ids = inputs["input_ids"].clone()
        ids[0, piece] = bert.tokenizer.mask_token_id
        states = bert.network(
            input_ids=ids, attention_mask=inputs["attention_mask"], output_hidden_states=True
        ).hidden_states[-1]
        order = masked_lm.cls(states)[0, piece].argsort(descending=True).tolist()
        tokens = [bert.tokenizer.decode([one]).strip() for one in order]
        expected = [token for token in tokens if token in set(fillers[2])]
        assert fillers[2][:10] == expected[:10]
    assert all(len(one) > 0 for one in fillers) and all(word.isalpha() for one in fillers for word in one)


def test_an_attack_takes_them_as_candidates(bert):
    plan = pellucid.AttackPlan("text_order", (("masked_words", {"most": 3}),))
    (attempt,) = pellucid.attack(bert, TEXT, plan, progress=False)
    assert attempt.ending in ("success", "exhausted") and attempt.queries >= len(words_of(attempt.example))


def test_without_a_language_head_it_says_what_is_missing():
    model = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"])
    plan = pellucid.AttackPlan("text_order", ("masked_words",))
    with pytest.raises(ModelCannot, match="masked_words do not work"):
        pellucid.attack(model, TEXT, plan, progress=False)
