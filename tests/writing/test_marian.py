"""Marian's own tokenizer: two languages' pieces with their places, by SentencePiece."""

import io
import json

import numpy as np
import pytest
import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel
from transformers import MarianTokenizer as LibraryTokenizer

import pellucid
from pellucid.base.errors import BadFile, MissingPackage
from pellucid.text.example import as_examples
from tests.shared.tiny import corpus
from tests.shared.tiny_writing import BOTH_PARTS

PAIR = ("A good film, about a dog.", "Ein Hund rennt am Strand.")


def pieces_learnt_from(texts, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the hub has them: two lists of pieces, one vocabulary, weights in safetensors."""
    folder = tmp_path_factory.mktemp("marian")
    models = {
        "source.spm": pieces_learnt_from(corpus(), 200),
        "target.spm": pieces_learnt_from([PAIR[1]] * 50, 40),
    }
    pieces = ["</s>", "<unk>"]
    for name, model in models.items():
        (folder / name).write_bytes(model)
        of_model = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces += [of_model.id_to_piece(id) for id in range(len(of_model))]
    names = [*dict.fromkeys(pieces), ">>deu<<", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: id for id, piece in enumerate(names)}), encoding="utf-8")
    config = MarianConfig(
        vocab_size=len(names), pad_token_id=len(names) - 1, decoder_start_token_id=len(names) - 1, eos_token_id=0,
        forced_eos_token_id=None, scale_embedding=True, **BOTH_PARTS,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(5)
        MarianMTModel(config).save_pretrained(folder)
    return folder


def test_the_pieces_are_the_librarys_and_stand_in_the_text(folder):
    model = pellucid.load(folder)
    batch = model.encode(as_examples([(f">>deu<< {PAIR[0]}", PAIR[1])]))
    library = LibraryTokenizer.from_pretrained(folder)
    source, target = library(f">>deu<< {PAIR[0]}").input_ids, library(text_target=PAIR[1]).input_ids
    assert list(batch.rows[0].ids) == [*source, model.network.config.decoder_start_token_id, *target[:-1]]
    units = batch.units[0]
    words = [PAIR[1][units.start[n] : units.end[n]] for n in units.content if units.segment[n] == 1]
    assert "".join(words).replace(" ", "") == PAIR[1].replace(" ", "")
    assert units.labels[0] == ">>deu<<"


def test_the_explained_number_is_that_of_the_users_own_call(folder):
    model, library = pellucid.load(folder), LibraryTokenizer.from_pretrained(folder)
    (one,) = pellucid.explain(model, PAIR, "gradient_x_input", target="rennt", progress=False)
    labels = torch.tensor([library(text_target=PAIR[1]).input_ids])
    read = torch.tensor([library(PAIR[0]).input_ids])
    logits = model.network(input_ids=read, labels=labels).logits[0].log_softmax(-1)
    begins = [n for n, piece in enumerate(library.convert_ids_to_tokens(labels[0].tolist())) if piece.startswith("▁")]
    place = range(begins[2], begins[3])
    assert one.target.value == pytest.approx(sum(float(logits[n, labels[0, n]].detach()) for n in place), rel=1e-4)
    in_memory = pellucid.load(model.network, library)
    other = pellucid.explain(in_memory, PAIR, "gradient_x_input", target="rennt", progress=False)[0]
    np.testing.assert_array_equal(one.scores, other.scores)
    assert in_memory.hash == model.hash


def test_without_sentencepiece_the_message_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentencepiece", None)
    with pytest.raises(MissingPackage, match="pip install sentencepiece"):
        pellucid.load(folder)


def test_a_spoilt_list_of_pieces_is_refused(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "source.spm").write_bytes(b"no model")
    with pytest.raises(BadFile, match="Cannot load a tokenizer from"):
        pellucid.load(tmp_path)
