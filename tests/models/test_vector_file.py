"""Word vectors from a text file, and the tokenizer of whole words that goes with them."""

import shutil
from dataclasses import replace

import pytest
import torch

from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.processes import silent
from pellucid.models.composed.composed import compose, load_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.composed.vector_file import read_vectors
from pellucid.models.composed.word_vectors import word_tokenizer
from pellucid.text.example import as_examples
from pellucid.training.train import train_model
from tests.shared.tiny import LABELS
from tests.shared.tiny_training import parts, recipe

TEXTS = [
    ("A lovely film, and a film of 2001.",),
    ("It's a lovely film; don't miss it.",),
    ("Dull.", "A film!"),
]
VECTORS = "film 1 2 3 4\nlovely 0.5 -1 1e-3 2\na 0 0 0 1\n. 1 1 1 1\nqqq 9 9 9 9\nThe 7 7 7 7\n"


def written(folder, text=VECTORS):
    path = folder / "vectors.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def plan_on(path, **settings):
    settings = {"vectors": str(path), "width": 8, "min_texts": 1, **settings}
    return Plan("bilstm", "additive", {"unit": "piece"}, LABELS, encoder_settings=settings)


def shown(tokenizer, text):
    """Each token and the characters that it stands for."""
    columns = tokenizer(text, return_offsets_mapping=True)
    tokens = tokenizer.convert_ids_to_tokens(columns["input_ids"])
    return [(token, text[start:end]) for token, (start, end) in zip(tokens, columns["offset_mapping"], strict=True)]


def test_words_are_lower_case_and_those_with_digits_are_one_and_offsets_stay():
    tokenizer = word_tokenizer(TEXTS, 1)
    assert shown(tokenizer, "A FILM of 2001s: it’s b2b, 1,000.5 or 7!") == [
        ("<SOS>", ""),
        ("a", "A"),
        ("film", "FILM"),
        ("of", "of"),
        ("qqq", "2001s"),
        ("<UNK>", ":"),
        ("it", "it"),
        ("'s", "’s"),
        ("qqq", "b2b"),
        (",", ","),
        ("qqq", "1,000.5"),
        ("<UNK>", "or"),
        ("qqq", "7"),
        ("!", "!"),
        ("<EOS>", ""),
    ]
    assert [token for token, _ in shown(tokenizer, "Don't!")][1:-1] == ["do", "n't", "!"]


def test_rare_words_are_unknown():
    known = {least: set(word_tokenizer(TEXTS, least).get_vocab()) for least in (1, 2, 3)}
    assert {"dull", "qqq", "film"} <= known[1]
    assert {"film", "a", "lovely"} <= known[2] and not {"dull", "qqq"} & known[2]
    assert {"film", "a"} <= known[3] and "lovely" not in known[3]  # a text counts once


def test_a_model_begins_with_the_files_vectors_and_random_ones_for_other_words(tmp_path):
    network, tokenizer = compose(plan_on(written(tmp_path)), 0, TEXTS)
    table, ids = network.get_input_embeddings().weight, tokenizer.get_vocab()
    assert table[ids["film"]].tolist() == [1, 2, 3, 4] and table[ids["qqq"]].tolist() == [9, 9, 9, 9]
    assert len(table) == len(ids) == len(tokenizer) and "the" not in ids
    assert table[ids["dull"]].any() and table[ids["<UNK>"]].any()
    again, _ = compose(plan_on(written(tmp_path)), 0, TEXTS)
    assert torch.equal(again.get_input_embeddings().weight, table)
    assert network.config.settings["vector_width"] == 4


def test_as_in_the_paper_300_numbers_fit_two_directions_of_150(tmp_path):
    """A4.8: tying and residual need no projection then."""
    words = ("film", "lovely")
    text = "".join(f"{word} {' '.join(str(number / 7) for number in range(300))}\n" for word in words)
    plan = plan_on(written(tmp_path, "2 300\n" + text), width=300, retention="residual")
    network, _ = compose(plan, 0, TEXTS)
    assert network.encoder.blocks[0].lstm.hidden_size == 150
    assert network.config.hidden_size == network.get_input_embeddings().embedding_dim == 300


def test_start_and_end_are_outside_attention(tmp_path):
    model = trained_on(written(tmp_path), tmp_path / "model")
    example = as_examples([("A lovely film.", "It is dull.")])
    batch = model.encode(example)
    units = model.trace(batch.rows).units
    assert int((units.runs >= 0).sum()) == 8 == len(batch.units[0].content)
    assert len(batch.units[0]) == 11
    torch.testing.assert_close(units.weights.sum(1), torch.ones(1))


def trained_on(path, folder, **changes):
    how = recipe(penalties={"tying": 1.0}, epochs=1, **changes)
    plan = replace(plan_on(path), encoder_settings={"vectors": str(path), "width": 4})
    return train_model(parts(), plan, how, folder, "cpu", progress=silent)


@pytest.mark.whole
def test_a_trained_model_needs_the_file_no_more_and_another_file_is_another_training(tmp_path):
    path, folder = written(tmp_path), tmp_path / "model"
    model = trained_on(path, folder, freeze_vectors=True)
    ids = model.tokenizer.get_vocab()
    assert model.network.get_input_embeddings().weight[ids["a"]].tolist() == [0, 0, 0, 1]
    loaded, rows = load_composed(folder), model.encode(parts()["dev"]).rows
    assert loaded.encode(parts()["dev"]).rows == rows
    assert torch.equal(loaded.trace(rows).logits, model.trace(rows).logits)
    written(tmp_path, VECTORS.replace("a 0", "a 5"))
    with pytest.raises(BadFile, match="files of the encoder bilstm are not what they were"):
        trained_on(path, folder, freeze_vectors=True)
    path.unlink()
    assert load_composed(folder).trace(rows).logits.isfinite().all()
    shutil.rmtree(folder)
    with pytest.raises(BadSetting, match=r"there is no such file; give minilm, random, or the path"):
        trained_on(path, folder, freeze_vectors=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("film 1 2\nlovely 1\n", r"line 2: it has 1 numbers and 2 are due"),
        ("film 1 2\nlovely 1 2 3\n", r"line 2: it has more than the 2 numbers that are due"),
        ("film 1 2\nnobody 1 x\n", r"line 2: .*x.* is no number; a line is a word and its numbers"),
        ("3 2\nfilm 1 2\na 1 nan\n", r"line 3: one of its numbers is not finite"),
        ("film 1 2\n\na 1 2\n", r"line 2: it has 0 numbers"),
        (b"film 1 2\n\xff\xfe 1 2\n", r"line 2: it is not in UTF-8"),
        ("film\n", r"line 1: it has 0 numbers and 1 are due"),
        ("", "is empty"),
        ("Zug 1 2\nBahn 1 2\n", r"none of the .* words of the train texts"),
    ],
)
def test_a_broken_file_is_refused_with_the_number_of_the_line(text, message, tmp_path):
    with pytest.raises(BadFile, match=message):
        read_vectors(written(tmp_path, text), {"film", "a", "lovely"} if "Zug" not in str(text) else {"film"})


def test_a_word_may_have_blanks_and_the_first_of_two_counts(tmp_path):
    path = written(tmp_path, ". . . 1 2 \nfilm 3 4 \nfilm 5 6 \n")
    with pytest.raises(BadFile, match=r"line 1: '.' is no number"):  # the first line says how many
        read_vectors(path, {"film"})
    vectors = read_vectors(written(tmp_path, "film 3 4 \n. . . 1 2 \nfilm 5 6 \n"), {"film", ". . ."})
    assert {word: vector.tolist() for word, vector in vectors.items()} == {"film": [3, 4], ". . .": [1, 2]}


def test_settings_that_do_not_fit_the_file_are_refused(tmp_path):
    path = written(tmp_path)
    with pytest.raises(BadSetting, match=r"vector_width=9 is not possible: the vectors of .* have 4 numbers"):
        compose(plan_on(path, vector_width=9), 0, TEXTS)
    with pytest.raises(BadSetting, match=r"min_texts=0"):
        compose(plan_on(path, min_texts=0), 0, TEXTS)
