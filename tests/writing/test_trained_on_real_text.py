"""A language model that has learnt real text: what holds of its explanations, and not only of random weights.

Trained in the test on paragraphs of wikitext-2 (two blocks, 128 wide), for about four minutes of a core.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers.processors import ByteLevel
from transformers import GPT2Config, GPT2LMHeadModel

import pellucid
from pellucid.data.load import load_examples
from pellucid.models.load import wrap_writing
from pellucid.models.translation.untrained_network import learn_pieces

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("PELLUCID_DATA" not in os.environ, reason="PELLUCID_DATA is not set"),
]
LENGTH, BATCH, STEPS = 64, 32, 700  # pieces, sequences, steps
N_PIECES, N_LINES = 4000, 12000
NEAREST = 3  # words or pieces before a written one


def paragraphs(part):
    """Lines of full sentences."""
    articles = load_examples(Path(os.environ["PELLUCID_DATA"]) / "wikitext2", part)
    lines = [line.strip() for article in articles for line in article.segments[0].splitlines()]
    return [line for line in lines if len(line.split()) > 30 and "<unk>" not in line]


@pytest.fixture(scope="module")
def tokenizer():
    pieces = learn_pieces(paragraphs("train")[:2000], N_PIECES)
    pieces.backend_tokenizer.post_processor = ByteLevel(trim_offsets=True)  # a language model's text goes on
    return pieces


@pytest.fixture(scope="module")
def model(tokenizer):
    ids = [id for line in paragraphs("train")[:N_LINES] for id in tokenizer(line)["input_ids"]]
    rows = torch.tensor(ids[: len(ids) // LENGTH * LENGTH]).view(-1, LENGTH)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"n_positions": 2 * LENGTH, "n_embd": 128, "n_layer": 2, "n_head": 4}
        ids_of = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
        config = GPT2Config(vocab_size=len(tokenizer), **sizes, **ids_of)
        network = GPT2LMHeadModel(config)
        optimizer = torch.optim.AdamW(network.parameters(), 1e-3)
        for _ in range(STEPS):
            batch = rows[torch.randint(len(rows), (BATCH,))]
            network(input_ids=batch, labels=batch).loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    return wrap_writing(network.eval(), tokenizer, "wikitext")


@pytest.fixture(scope="module")
def pairs():
    """The first 20 words of dev paragraphs, and the 4 after them."""
    words = [line.split() for line in paragraphs("dev")[:40]]
    return [(" ".join(line[:20]), " ".join(line[20:24])) for line in words]


def test_it_has_learnt_more_than_how_frequent_pieces_are(model, tokenizer):
    counts = np.ones(len(tokenizer))
    for line in paragraphs("train")[:2000]:
        np.add.at(counts, tokenizer(line)["input_ids"], 1)
    frequent = np.log(counts / counts.sum())
    gains = []
    for line in paragraphs("dev")[:50]:
        ids = torch.tensor([tokenizer(line)["input_ids"][:LENGTH]])
        with torch.no_grad():
            loss = float(model.network(input_ids=ids, labels=ids).loss)
        gains.append(-loss - frequent[ids[0, 1:]].mean())
    assert np.mean(gains) > 1.0  # nats a piece


@pytest.mark.parametrize("method", ["occlusion", "integrated_gradients"])
def test_the_units_just_before_a_word_have_more_of_its_score_than_their_number(model, pairs, method):
    shares, by_number = [], []
    for one in pellucid.explain(model, pairs, method, target=pellucid.Word(1), progress=False):
        read = np.abs(one.scores[np.array(one.units.segment) == 0])
        shares.append(read[-NEAREST:].sum() / read.sum())
        by_number.append(NEAREST / len(read))
    assert np.mean(shares) > 2 * np.mean(by_number)


def test_scores_of_paths_add_up_on_a_trained_model(model, pairs):
    explanations = pellucid.explain(
        model, pairs[:10], "integrated_gradients", target=pellucid.Word("text"), n_steps=64, progress=False
    )
    assert np.median([one.diagnostics["completeness_gap"] for one in explanations]) < 0.05
