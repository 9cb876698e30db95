"""What a model can read of a text: by each kind of tokenizer, and by the vocabulary of a scikit-learn pipeline."""

import re

import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import pellucid
from pellucid.models.classifiers.tokens import encode
from pellucid.models.composed.word_vectors import word_tokenizer
from pellucid.run.batch import SpecialIds
from pellucid.text.example import as_examples
from pellucid.text.reading import NOTHING_READ, read_words
from tests.shared.tiny import (
    byte_pairs,
    byte_pairs_alone,
    sentence_piece,
    sentence_piece_after_start,
    tiny_classifier,
    word_piece,
)

TEXT = "I like 好 კი 👩‍👩‍👧 ok."  # one word each, with a dictionary of the languages and without
FOREIGN = ("好", "კი")


def fast(backend, unknown=None):
    return PreTrainedTokenizerFast(tokenizer_object=backend, **({"unk_token": unknown} if unknown else {}))


def with_bytes():
    """A SentencePiece-like tokenizer that spells what it does not know by bytes, as Llama's does."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"Ilikeok.", "👩", "👧", "\u200d"]
    backend = Tokenizer(models.Unigram([(piece, -1.0) for piece in dict.fromkeys(pieces)], 0, byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return fast(backend, "<unk>")


def of_characters():
    """A tokenizer that reads characters, and knows the Chinese ones of the text."""
    vocabulary = {character: index for index, character in enumerate(["?", *dict.fromkeys("Ilikeok. 好👩👧\u200d")])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    return fast(backend, "?")


def without_unknown():
    """A tokenizer that drops characters which it does not know."""
    backend = Tokenizer(models.BPE({character: index for index, character in enumerate("Ilikeo.👩👧\u200d")}, []))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return fast(backend)


def read(tokenizer, text):
    (example,) = as_examples([text])
    (units,) = encode(tokenizer, [example], 1000, SpecialIds(None, None)).units
    return read_words(units, example)


@pytest.mark.parametrize(
    ("tokenizer", "unread", "as_bytes"),
    (
        (word_piece, FOREIGN, ()),
        (sentence_piece, FOREIGN, ()),
        (sentence_piece_after_start, FOREIGN, ()),
        (with_bytes, (), FOREIGN),
        (byte_pairs, (), (*FOREIGN, "👩‍👩‍👧")),
        (byte_pairs_alone, (), (*FOREIGN, "👩‍👩‍👧")),
        (of_characters, FOREIGN[1:], ()),
        (lambda: word_tokenizer([("I like it, ok.",)], 1), (*FOREIGN, "👩‍👩‍👧"), ()),
        (without_unknown, FOREIGN, ()),
    ),
    ids=("WordPiece", "Unigram", "Llama", "byte fallback", "RoBERTa", "GPT-2", "characters", "words", "dropping"),
)
def test_words_that_a_tokenizer_does_not_know_are_counted(tokenizer, unread, as_bytes):
    of_text = read(tokenizer(), TEXT)
    assert (of_text.unread, of_text.as_bytes, of_text.in_part) == (unread, as_bytes, ())
    assert of_text.n_words == 6  # the full stop is no word


def test_a_word_with_a_letter_that_is_not_known_is_read_in_part():
    of_text = read(sentence_piece(), "A very goოd film")
    assert (of_text.unread, of_text.in_part) == ((), ("goოd",))
    assert of_text.cautions() == ("The model reads only a part of 1 of 4 words: “goოd”.",)
    assert read(word_piece(), "A very goოd film").unread == ("goოd",)  # one piece for the whole word


def test_the_mark_before_a_word_is_no_part_of_it():
    """Such as SentencePiece's for a blank, which has the place of the first character."""
    assert read(sentence_piece(), "好 film").unread == ("好",)


def test_the_unknown_token_need_not_be_declared():
    """A tokenizer that is loaded from one file may not say what its special tokens are for."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=word_piece().backend_tokenizer)
    assert tokenizer.unk_token is None and read(tokenizer, "好 film").unread == ("好",)


def test_what_ends_a_text_is_not_unknown_where_one_token_stands_for_both():
    """GPT-2's unknown token is the one that ends texts: it stands for a word only where the text spells it."""
    assert byte_pairs_alone().unk_token_id == byte_pairs_alone().eos_token_id
    assert not read(byte_pairs_alone(), "A film <|endoftext|> good").unread
    assert not read(word_piece(), "A film [UNK] good").unread  # the user wrote it


def test_a_text_in_another_script_comes_with_a_strong_caution():
    model = tiny_classifier("bert")
    explanation = pellucid.explain(model, "ภาษาไทยดีมาก.", "occlusion", progress=False)[0]
    assert explanation.caveats[0] == NOTHING_READ and explanation.is_unread
    assert explanation.diagnostics["unread_words"] == 1.0 and explanation.unread() == ["ภาษาไทยดีมาก"]


def test_edits_are_not_counted_and_windows_are_one_text():
    """Masked and removed words are the method's, not the text's; a word in two windows counts once."""
    text = "I liked the soup 好 and the film. " * 24
    model = tiny_classifier("bert")
    explanation = pellucid.explain(model, text, "occlusion", operator="mask", progress=False)[0]
    assert explanation.diagnostics["windows"] > 1
    assert explanation.caveats[0] == "The model cannot read 24 of 192 words: “好”."
    assert len(explanation.unread()) == 24
    known = pellucid.explain(model, "A good film.", "occlusion", operator="mask", progress=False)[0]
    assert "unread_words" not in known.diagnostics and known.units.readings == ()


TRAIN = ["good film", "good book", "dull film", "dull book the"]
LABELS = ["+", "+", "-", "-"]


@pytest.mark.parametrize(
    ("vectorizer", "unread"),
    (
        (CountVectorizer(), {"A good evening": ["evening"], "Xyzq!": ["Xyzq", "!"], "GOOD-film": []}),
        (TfidfVectorizer(stop_words="english"), {"the good evening": ["evening"], "the": ["the"]}),
        (CountVectorizer(ngram_range=(2, 2)), {"dull good film": ["dull"]}),
        (CountVectorizer(analyzer="char"), {"food qqq": ["qqq"], "a": ["a"]}),
        (CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)), {"goody qqq": ["qqq"]}),
        (CountVectorizer(analyzer=str.split), {"good evening": ["evening"]}),
        (HashingVectorizer(), {"A good evening": [], "xyzq": []}),
        (make_union(CountVectorizer(), HashingVectorizer()), {"xyzq": []}),
        (make_union(CountVectorizer(), CountVectorizer(analyzer="char")), {"food qqq": ["qqq"]}),
    ),
    ids=("words", "stop words", "pairs", "characters", "inside words", "own", "hashes", "with hashes", "union"),
)
def test_words_outside_a_vocabulary_are_counted(vectorizer, unread):
    model = make_pipeline(vectorizer, LogisticRegression()).fit(TRAIN, LABELS)
    results = pellucid.explain(model, list(unread), "occlusion", progress=False)
    assert {shown.example.text: shown.unread() for shown in results} == unread


def test_a_pipeline_inside_a_search_is_read_too():
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    model = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2).fit(TRAIN, LABELS)
    explanation = pellucid.explain(pellucid.from_pipeline(model), "good evening", "occlusion", progress=False)[0]
    assert explanation.unread() == ["evening"]


def test_a_network_of_ones_own_says_which_id_is_unknown():
    embedding, head = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)
    known = {"good": 1, "film": 2}
    model = pellucid.from_network(
        torch.nn.ModuleList([embedding, head]),
        tokenize=lambda text: [(known.get(word[0], 8), *word.span()) for word in re.finditer(r"\w+", text)],
        logits=lambda ids, attended: head((embedding(ids) * attended[..., None]).sum(1)),
        embedding=embedding,
        labels=["negative", "positive"],
        unknown=8,
    )
    assert pellucid.explain(model, "good evening", "gradient", progress=False)[0].unread() == ["evening"]
