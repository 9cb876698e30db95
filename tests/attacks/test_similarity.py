"""How alike two texts are: measured for each success, and asked for by a guard."""

import math

import pytest

import pellucid
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.base.errors import BadSetting
from pellucid.models.word_neighbours import SentenceVectors

TEXT = "The film was good."


@pytest.fixture(scope="module")
def vectors():
    return SentenceVectors()


@pytest.fixture(scope="module")
def model():
    answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]  # noqa: E731
    return pellucid.from_function(answer, ["negative", "positive"])


def test_texts_that_say_the_same_are_more_alike_than_others(vectors):
    same = vectors.similarity(TEXT, "The movie was good.")
    other = vectors.similarity(TEXT, "Stocks fell again on Tuesday.")
    assert vectors.similarity(TEXT, TEXT) == 1.0
    assert -1 <= other < 0.4 < 0.8 < same <= 1


def test_it_is_that_of_the_sentence_encoders_own_library_by_hand(vectors):
    """Mean over all states, special tokens too, as the encoder was trained."""
    import torch

    from pellucid.models.classifiers.hugging_face import load_encoder

    encoder, tokenizer = load_encoder("minilm")
    texts = [TEXT, "A dull day, without any sun."]
    columns = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = encoder(**columns).last_hidden_state
    mask = columns["attention_mask"][..., None]
    means = (states * mask).sum(1) / mask.sum(1)
    expected = torch.nn.functional.cosine_similarity(means[0], means[1], dim=0)
    assert vectors.similarity(*texts) == pytest.approx(float(expected), abs=1e-5)


def test_many_pairs_at_once_are_as_alike_as_each_by_itself(vectors):
    long = " ".join([TEXT] * 400)
    pairs = [
        (TEXT, "The movie was good."),
        (TEXT, TEXT),
        (long, "Stocks fell."),
        ("", "A dull day, without sun."),
    ]
    assert vectors.similarities(pairs) == pytest.approx([vectors.similarity(*pair) for pair in pairs], abs=1e-6)
    assert vectors.similarities([]) == []


def test_nothing_of_a_long_text_is_cut(vectors):
    long = " ".join([TEXT] * 400)
    assert vectors.similarity(long, f"{long} Stocks fell again on Tuesday, and nobody knew why.") < 1


def test_of_a_pair_the_lower_one_counts(vectors):
    dictionaries = Dictionaries(meaning=vectors)
    pair, edited = (TEXT, TEXT), (TEXT, "Stocks fell again on Tuesday.")
    assert dictionaries.similarity(pair, edited) == vectors.similarity(TEXT, edited[1])
    assert math.isnan(Dictionaries().similarity(pair, edited))


def test_a_success_says_how_alike_both_texts_are(model, vectors):
    (attempt,) = pellucid.attack(model, TEXT, "deepwordbug", progress=False)
    assert attempt.is_success
    assert attempt.similarity == pytest.approx(vectors.similarity(TEXT, attempt.segments[0]))
    two = pellucid.attack(model, [TEXT, TEXT], "deepwordbug", progress=False)
    assert f"{attempt.similarity:.2f}" in str(two)


@pytest.mark.parametrize(("least", "ending"), ((-1.0, "success"), (1.0, "nothing to edit")))
def test_the_guard_lets_pass_what_is_alike_enough(model, least, ending):
    plan = pellucid.AttackPlan("text_order", ("typos",), guards=(("similarity", {"least": least}),))
    (attempt,) = pellucid.attack(model, TEXT, plan, progress=False)
    assert attempt.ending == ending


def test_a_bound_beyond_1_is_refused(model):
    plan = pellucid.AttackPlan("text_order", ("typos",), guards=(("similarity", {"least": 2.0}),))
    with pytest.raises(BadSetting, match="least=2"):
        pellucid.attack(model, TEXT, plan, progress=False)
