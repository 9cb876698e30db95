"""Saliency that attacks ask as questions: the scores are those of an explanation, texts share passes, and a question
that decides nothing is not asked.
"""

import numpy as np
import pytest

import pellucid
from pellucid.attacks.attack_case import AttackCase, Place
from pellucid.attacks.cases import scores_of
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.omission_scores import omission_scores, omissions_at, omissions_of, words_of
from pellucid.base.kinds import attack_goals
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import predictions, single_predictions
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_probabilities
from pellucid.text.example import Example
from tests.attacks.word_sums import sum_model

PAIR = Example(("Mary went to Paris.", "She's visited the old-town there!"))
TEXTS = ["A good film.", "One dull day after another."]


@pytest.mark.parametrize("example", [Example((TEXTS[0],)), PAIR])
def test_scores_are_those_of_an_explanation(bert, example):
    places = (*words_of(example), Place(0, 99, 100, "?"))  # the last one stands nowhere
    (answer,) = predictions(bert, [example])
    goal, start = attack_goals.calls(["flip"])[0](answer, None), np.array(answer.probabilities)
    batch = bert.encode([Example(("Another text.",)), example])
    omissions = omissions_of(batch, 1, places)
    case = AttackCase(example, places, answer, goal, Dictionaries(), omissions=omissions, start=start)
    rows = [one.row for one in omissions_at(case, range(len(places)))]
    logits = evaluate_rows(bert, scheduler_for(bert), rows).double()
    scores = omission_scores(case, range(len(places)), class_probabilities(logits, bert.problem).numpy())
    expected, _ = scores_of(bert, example, "occlusion", places, 0, goal.aim.target)
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    assert np.isneginf(scores[-1]) and np.abs(expected[:-1]).max() > 1e-5


def counting():
    """A model that notes each call, and the answer of the sums of words."""
    sums, calls = sum_model(), []

    def answer(some):
        calls.append(list(some))
        return sums.function(some)

    return pellucid.from_function(answer, sums.labels), calls


def test_texts_share_the_passes_of_their_saliency():
    model, calls = counting()
    pellucid.attack(model, TEXTS, "deepwordbug", progress=False)
    without = [{text.replace(word, "", 1).strip() for word in text[:-1].split()} for text in TEXTS]
    trimmed = [{" ".join(text.split()) for text in call} for call in calls]
    assert any(all(call & {" ".join(one.split()) for one in some} for some in without) for call in trimmed)


def test_pwws_asks_the_saliency_of_words_with_replacements_alone():
    model, calls = counting()
    plan = pellucid.AttackPlan("saliency_times_gain", ("typos",))
    pellucid.attack(model, TEXTS, plan, progress=False)  # how the model's rows are packed is tried out
    calls.clear()
    text = "A good film, so dull."  # typos are made of "good", "film" and "dull"
    (attempt,) = pellucid.attack(model, text, plan, progress=False)
    distinct = {one for call in calls for one in call} - {text}
    assert attempt.queries == len(distinct)
    assert all("so" in one and one.startswith("A ") for one in distinct)
    assert sum(word not in one for one in distinct for word in ("good", "film", "dull")) > 3


@pytest.mark.parametrize("attack", ["deepwordbug", pellucid.AttackPlan("saliency_times_gain", ("typos",))])
def test_saliency_is_within_the_budget(attack):
    for most in range(1, 12):
        (attempt,) = pellucid.attack(sum_model(), TEXTS[1], attack, max_queries=most, progress=False)
        assert attempt.queries <= most
        assert attempt.ending in ("budget", "success")


def test_a_text_with_nothing_to_edit_says_so():
    (attempt,) = pellucid.attack(sum_model(), "So it is.", "deepwordbug", progress=False)
    assert (attempt.ending, attempt.edits) == ("nothing to edit", ())


def test_a_text_in_windows_is_attacked_by_the_scores_of_its_explanation(bert):
    text = "A long and winding but in the end rather fine film, so they say. " * 12
    (attempt,) = pellucid.attack(bert, text, "deepwordbug", max_queries=400, progress=False)
    assert attempt.queries > 100 and attempt.ending != "not confirmed"


def test_single_predictions_are_those_of_single_calls(bert):
    examples = [PAIR, Example((TEXTS[0],)), Example(("A long and winding film. " * 80,))]
    assert bert.encode(examples).rows[2].windows
    assert single_predictions(bert, examples) == [predictions(bert, [one])[0] for one in examples]
