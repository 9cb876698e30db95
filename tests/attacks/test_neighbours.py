"""Near words by a model's own vectors, opposites kept out, and the attack that is made of both."""

import pytest
import torch

import pellucid
from pellucid.attacks.attack_case import AttackCase, Edit, Place
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.base.kinds import attack_candidates, attack_guards
from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.word_neighbours import FileNeighbours, WordNeighbours, word_neighbours
from pellucid.text.example import Example
from pellucid.text.wordnet import wordnet_folder

WORDNET = pytest.mark.skipif(not (wordnet_folder() / "data.noun").is_file(), reason="WordNet is not installed")


class Table:
    """MiniLM's word vectors as a model shows them."""

    device = torch.device("cpu")

    def __init__(self):
        self.encoder, tokenizer = load_encoder("minilm")
        self.backend = tokenizer.backend_tokenizer
        self.vocabulary = torch.arange(len(tokenizer))

    def embed(self, ids):
        return self.encoder.get_input_embeddings()(ids)


@pytest.fixture(scope="module")
def near():
    table = Table()
    return WordNeighbours(table, table.backend)


def case_of(text, word, words=None):
    start = text.index(word)
    return AttackCase(
        Example((text,)), (Place(0, start, start + len(word), word),), None, None, Dictionaries(words=words)
    )


def test_near_words_are_those_of_the_highest_cosine_by_hand(near):
    table = near.model
    words = near.near("film")
    assert len(words) == 100 and "movie" in [word for word, _ in words[:5]]
    assert [cosine for _, cosine in words] == sorted((cosine for _, cosine in words), reverse=True)
    ids = [table.backend.token_to_id(word) for word in ("film", words[0][0])]
    own, other = table.embed(torch.tensor(ids)).double()
    assert words[0][1] == pytest.approx(torch.cosine_similarity(own, other, dim=0).item(), abs=1e-5)
    assert all(word.isalpha() and word != "film" and not word.startswith("#") for word, _ in words)


def test_a_word_of_several_pieces_has_neighbours_too(near):
    assert near.near("unwatchable")


def test_candidates_have_the_case_of_the_word_and_are_few_and_near_enough(near):
    neighbours = attack_candidates.get("neighbours").make
    case = case_of("The Film was good.", "Film", near)
    assert neighbours(case, 0, most=3, least=0.0)[0] == "Films"
    assert len(neighbours(case, 0, most=3, least=0.0)) == 3 and not neighbours(case, 0, least=0.99)
    assert neighbours(case_of("It costs 300 now.", "300", near), 0) == []
    with pytest.raises(BadSetting, match="most=0"):
        neighbours(case, 0, most=0)


def test_a_model_without_word_vectors_says_what_else_there_is():
    model = pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"])
    assert word_neighbours(model) is None
    with pytest.raises(ModelCannot, match="synonyms or typos"):
        pellucid.attack(model, "A film.", pellucid.AttackPlan("text_order", ("neighbours",)), progress=False)


@WORDNET
@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    (
        ("Good", "bad", False),
        ("rich", "poor", False),
        ("increase", "decrease", False),
        ("film", "movie", True),
    ),
)
def test_no_word_becomes_its_opposite(old, new, allowed):
    guard = attack_guards.get("antonyms").make
    assert guard(case_of(f"It was {old}.", old), (), Edit(0, 7, 7 + len(old), old, new)) is allowed


@WORDNET
def test_textfooler_edits_by_near_words_that_say_about_the_same(bert):
    (attempt,) = pellucid.attack(bert, "A good film, and a lovely day.", "textfooler", least=0.5, progress=False)
    assert attempt.ending in ("success", "exhausted", "nothing to edit")
    assert not attempt.edits or attempt.similarity >= 0.5


def test_a_file_of_vectors_stands_for_the_models_own(tmp_path):
    lines = [
        "film 1 0 0",
        "movie 0.9 0.1 0",
        "Film 1 0.01 0",
        "dull 0 0 1",
        "good 0 1 0",
        "fine 0 0.9 0.1",
        "3 0 1 0",
    ]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    near = FileNeighbours(path)
    assert near.near("FILM")[0][0] == "movie" and near.near("music") == []
    assert dict(near.near("good"))["fine"] == pytest.approx(0.9 / 0.82**0.5, abs=1e-6)
    assert "3" not in near.words and near.vector("music") is None

    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    plan = pellucid.AttackPlan("text_order", ("neighbours",))
    (attempt,) = pellucid.attack(model, "A good film.", plan, vectors=path, progress=False)
    assert attempt.is_success and "fine" in attempt.segments[0]
    path.write_text("film 1 0 0\nmovie 1\n", encoding="utf-8")
    with pytest.raises(BadFile, match="line 2"):
        pellucid.attack(model, "A good film.", plan, vectors=path, progress=False)


@WORDNET  # which its guard of word classes reads
def test_textfooler_needs_no_gradients_beside_a_file_of_vectors(tmp_path):
    (tmp_path / "vectors.txt").write_text("good 1 0\ngreat 0.9 0.1\nbad 0 1\n")
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    (attempt,) = pellucid.attack(
        model, [("A good film.", "positive")], "textfooler", vectors=tmp_path / "vectors.txt", least=-1.0
    )
    assert attempt.is_success and attempt.edits[0].after == "great"
    with pytest.raises(ModelCannot, match="gradients"):
        pellucid.attack(model, [("A good film.", "positive")], "textfooler")


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"candidates": ()}, "without candidates has nothing to put in"),
        ({"candidates": "typos"}, r"candidates of a plan is 'typos'; give a tuple of names"),
        ({"candidates": ("typos",), "guards": "antonyms"}, "guards of a plan is 'antonyms'"),
    ],
)
def test_a_plan_with_parts_of_another_form_is_refused(parts, sentence):
    with pytest.raises(BadSetting, match=sentence):
        pellucid.AttackPlan("occlusion", **parts)
