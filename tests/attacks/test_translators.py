"""Back-translation by two models: small ones that learn four sentences here, and go through a folder."""

import pytest
import torch
from transformers import MarianConfig, MarianMTModel

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.load import wrap_writing
from pellucid.models.writing.continuing import ModelPivot
from tests.shared.tiny import sentence_piece_before_end, tiny_classifier
from tests.shared.tiny_writing import tiny_writing

THERE = {
    "a good film": "the story was long",
    "a dull film": "the music was loud",
    "a good day": "the day was long",
}
BACK = {
    "the story was long": "a fine film",
    "the music was loud": "a dull film",
    "the day was long": "a good day",
}
WIDE = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 32,
    "dropout": 0.0,
}


def learnt(pairs, folder):
    """A Marian network that has learnt these pairs by heart, as `save_pretrained` leaves it."""
    tokenizer = sentence_piece_before_end()
    config = MarianConfig(
        vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id, forced_eos_token_id=None, scale_embedding=True, **WIDE,
    )  # fmt: skip
    source = tokenizer(list(pairs), padding=True, return_tensors="pt")
    labels = tokenizer(list(pairs.values()), padding=True, return_tensors="pt")["input_ids"]
    labels[labels == tokenizer.pad_token_id] = -100
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = MarianMTModel(config).train()
        adam = torch.optim.Adam(network.parameters(), 5e-3)
        for _ in range(150):
            adam.zero_grad()
            inputs = {name: source[name] for name in ("input_ids", "attention_mask")}
            network(**inputs, labels=labels).loss.backward()
            adam.step()
    network.eval().save_pretrained(folder)
    return wrap_writing(MarianMTModel.from_pretrained(folder), tokenizer, folder.name)


@pytest.fixture(scope="module")
def translators(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translators")
    return learnt(THERE, folder / "there"), learnt(BACK, folder / "back")


@pytest.fixture(scope="module")
def victim():
    def answer(texts):
        return [[0.1, 0.9] if "good" in text.lower() else [0.8, 0.2] for text in texts]

    return pellucid.from_function(answer, ["negative", "positive"])


def test_what_comes_back_is_a_paraphrase(translators):
    pivot = ModelPivot(*translators)
    assert pivot.paraphrases("a good film") == ["a fine film"]
    assert pivot.paraphrases(" a dull film ") == ["a dull film"] and pivot.paraphrases("  ") == []
    assert pivot.paraphrases("a good film " * 20) == []  # longer than the models read
    several = ModelPivot(*translators, n_best=3).paraphrases("a good film")
    assert several[0] == "a fine film" and len(several) == len(set(several)) <= 3


def test_an_attack_puts_it_in_a_spans_place_without_apertium(translators, victim):
    text = "a good film, I say."
    spans = pellucid.extract(victim, text, "occlusion", budget=3, progress=False)
    (attempt,) = pellucid.attack(
        victim, text, "span_paraphrase", spans_from=spans, translators=translators, progress=False
    )
    assert attempt.ending == "success" and attempt.segments == ("a fine film, I say.",)
    assert [(edit.before, edit.after) for edit in attempt.edits] == [("a good film", "a fine film")]


def test_two_translators_are_needed(translators, victim):
    with pytest.raises(BadSetting, match="needs two models"):
        pellucid.attack(victim, "A good film.", "span_paraphrase", translators=translators[:1], progress=False)
    with pytest.raises(BadSetting, match="n_best=0"):
        pellucid.attack(victim, "A good film.", "span_paraphrase", n_best=0, progress=False)
    refused = {"does not translate": tiny_writing("gpt2"), "translates nothing": tiny_classifier()}
    for why, other in refused.items():
        with pytest.raises(ModelCannot, match=why):
            pellucid.attack(
                victim, "A good film.", "span_paraphrase", translators=(translators[0], other), progress=False
            )
