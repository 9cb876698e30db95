"""Published attacks against their literal re-writings, edit for edit, on a model whose answer is a sum over words."""

import numpy as np
import pytest

import pellucid
from pellucid.attacks.apertium.modes import installed_pivots
from pellucid.attacks.attack_case import AttackCase
from pellucid.attacks.cases import scores_of
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.omission_scores import words_of
from pellucid.base.kinds import attack_candidates, attack_goals, attack_guards
from pellucid.text.wordnet import wordnet_folder
from tests.attacks.word_sums import sum_model, texts
from tests.reference import attacks as reference

pytestmark = pytest.mark.skipif(
    not (wordnet_folder() / "data.noun").is_file() or "spanish" not in installed_pivots(),
    reason="WordNet or Debian's package apertium-eng-spa is not installed",
)
MODEL = sum_model()


@pytest.fixture(scope="module")
def dictionaries():
    return Dictionaries()


@pytest.mark.parametrize("count", [3, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["random", "text_order", "word_saliency", "pwws"])
def test_published_attacks_equal_their_literal_rewriting(name, count, dictionaries):
    """With the same synonyms and the same saliency."""
    some = texts(count)
    attempts = pellucid.attack(MODEL, some, name, progress=False)
    assert len(some) == count and sum(one.is_success for one in attempts) > count / 4
    for text, attempt in zip(some, attempts, strict=True):
        assert attempt.segments == (by_hand(name, text, attempt, dictionaries),)


def by_hand(name, text, attempt, dictionaries):
    """The text as the literal re-writing leaves it."""
    places = words_of(attempt.example)
    goal = attack_goals.calls(["flip"])[0](attempt.before, None)
    case = AttackCase(attempt.example, places, attempt.before, goal, dictionaries)
    synonyms, content = attack_candidates.get("synonyms").make, attack_guards.get("content_words").make

    def options(word):
        edits = (case.edit(word, one) for one in dict.fromkeys(synonyms(case, word)))
        return [edit.after for edit in edits if edit.after != edit.before and content(case, (), edit)]

    def ask(edited):
        return MODEL.function([edited])[0]

    words = [(place.start, place.end) for place in places]
    if name == "random":
        order = case.generator("random_order").permutation(len(places))
    elif name == "text_order":
        order = range(len(places))
    else:
        saliency, _ = scores_of(MODEL, attempt.example, "occlusion", places, 0)
        if name == "pwws":
            return reference.pwws(text, words, saliency, options, ask)
        order = np.argsort(-saliency, kind="stable")
    return reference.greedy_in_order(text, words, [int(number) for number in order], options, ask)
