"""Goals beside another class: a value that moves, a label that is switched, an explanation of the same answer by other
words.
"""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

import pellucid
from pellucid.attacks.attack_case import Edit, Place
from pellucid.attacks.omission_scores import moved_places, words_of
from pellucid.attacks.views import row_of
from pellucid.base.errors import BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import attack_goals
from pellucid.results.explanation import Prediction
from pellucid.run.predicting import predictions
from pellucid.text.example import Example
from pellucid.text.units import text_units
from tests.shared.tiny import tiny_classifier

PLAN = pellucid.AttackPlan("occlusion", ("typos",))
TEXT = "The music was lovely, though a dreadful ending spoilt the evening."


@pytest.fixture(scope="module")
def regression():
    tiny = tiny_classifier("bert", ("stars",))
    return pellucid.load(tiny.network, tiny.tokenizer, problem="regression")


@pytest.fixture(scope="module")
def labels():
    """Three labels, each a smooth function of its own words."""

    def answer(texts):
        counts = [
            (
                2.0 * ("dreadful" in text) + 1.0 * ("spoilt" in text) - 1.2,
                2.2 * ("lovely" in text) - 1.0,
                1.0 * ("spoilt" not in text) + 0.4 * ("ending" not in text) - 0.9,
            )
            for text in texts
        ]
        return 1 / (1 + np.exp(-np.array(counts)))

    return pellucid.from_function(answer, ["angry", "happy", "calm"], problem="multi_label")


@pytest.fixture(scope="module")
def sums():
    """Two classes; the answer is sure, and the words behind it have weights of their own, spelt as they are."""
    weights = {"music": 0.6, "lovely": 0.9, "evening": 0.5, "though": 0.3, "ending": 0.2, "The": 0.1}

    def answer(texts):
        values = [1.0 + sum(weights.get(word, 0.0) for word in words(text)) for text in texts]
        return [[1 / (1 + np.exp(value)), 1 / (1 + np.exp(-value))] for value in values]

    return pellucid.from_function(answer, ["negative", "positive"])


def words(text):
    return [text[start:end] for start, end in text_units(text, "word")]


def attacked(model, goal, texts=TEXT, plan=PLAN, **settings):
    return pellucid.attack(model, texts, plan, goal=goal, progress=False, **settings)


def test_a_value_moves_as_far_as_the_goal_says(regression):
    (farthest,) = attacked(regression, ("value", {"distance": 1e9}))
    reachable = abs(farthest.after.logits[0] - farthest.before.logits[0])
    assert farthest.ending == "exhausted" and reachable > 0
    (attempt,) = attacked(regression, ("value", {"distance": 0.5 * reachable}))
    (alone,) = predictions(regression, [Example(attempt.segments)])
    assert attempt.is_success and attempt.after == alone
    assert abs(alone.logits[0] - attempt.before.logits[0]) >= 0.5 * reachable
    assert len(attempt.edits) <= len(farthest.edits)


def test_an_order_brings_the_words_that_move_a_value_most_first_whichever_way(regression):
    plan = pellucid.AttackPlan("occlusion", ("typos",), guards=(), search="one_unit")
    (attempt,) = attacked(regression, ("value", {"distance": 1e-9}), plan=plan)
    (explanation,) = pellucid.explain(regression, TEXT, "occlusion", progress=False)
    long_enough = [(abs(score), word) for word, score in explanation.words() if len(word) >= 4]
    assert attempt.edits[0].before == max(long_enough)[1]


def test_a_regression_has_tables_pages_and_files_without_right_and_wrong(regression, tmp_path):
    texts = [Example((TEXT,), "4.5", id="one"), Example(("Dull.",), "1.0")]
    attempts = attacked(regression, ("value", {"distance": 1e-6}), texts)
    (summary,) = attempts.table()
    assert summary.n_attacked == 2 and math.isnan(summary.accuracy_before)
    shown = " ".join(str(attempts).split())
    assert " nan" not in shown and "goal value(distance=1e-06)" in row_of(summary)[0]
    page = pellucid.report(attempts, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "value moved" in page and "stars nan" not in page and ">nan<" not in page
    for form in ("json", "parquet"):
        attempts.save(tmp_path / f"attempts.{form}")
        assert list(pellucid.read(tmp_path / f"attempts.{form}")) == list(attempts)
    assert attempts.record()["attempts"][0]["logits_after"] == list(attempts[0].after.logits)


def test_one_logit_is_a_value_too():
    model = pellucid.from_function(
        lambda texts: [2.0 if "lovely" in text else 1.0 for text in texts],
        ["no", "yes"],
        problem="one_logit",
        gives="logits",
    )
    (attempt,) = attacked(model, ("value", {"distance": 0.5}))
    assert attempt.is_success and attempt.after.label == attempt.before.label and attempt.keeps_answer


@pytest.mark.parametrize(("label", "edited"), (("angry", {"dreadful", "spoilt"}), ("calm", {"spoilt"})))
def test_a_label_is_switched_off_or_on_by_the_words_behind_it(labels, label, edited):
    (attempt,) = attacked(labels, ("label", {"label": label}))
    number = labels.labels.index(label)
    before, after = attempt.before.probabilities[number], attempt.after.probabilities[number]
    assert attempt.is_success and (before >= 0.5) != (after >= 0.5)
    assert {edit.before for edit in attempt.edits} <= edited
    assert not attempt.keeps_answer and f"{label} {before:.2f} → {after:.2f}" in str(attempt_text(attempt))


def attempt_text(attempt):
    return pellucid.Attempts([attempt])


def test_of_several_labels_the_one_that_the_goal_names_decides_what_is_wrong_before(labels):
    gold = ["angry,happy", "happy", "angry", "angry,calm", None, "angry,sad"]
    attempts = attacked(labels, ("label", {"label": "angry"}), [Example((TEXT,), one) for one in gold])
    assert [one.is_attacked for one in attempts] == [True, False, True, True, True, True]
    (summary,) = attempts.table()
    assert (summary.n_attacked, summary.n_labelled) == (
        5,
        4,
    )  # without that of None, and of a label that is none
    assert summary.accuracy_before == pytest.approx(3 / 4)
    assert summary.accuracy_after == 0


def test_a_text_that_is_what_the_goal_wants_is_not_edited(sums):
    (attempt,) = attacked(sums, "positive")
    assert (attempt.ending, attempt.edits, attempt.queries) == ("reached before", (), 0)
    (summary,) = pellucid.Attempts([attempt]).table()
    assert (summary.n_attacked, summary.n_labelled) == (0, 0)
    assert math.isnan(summary.accuracy_before) and math.isnan(summary.accuracy_after)


def test_an_explanation_moves_while_the_answer_stays_by_hand(sums):
    """Edits of single words leave words at their numbers, so both texts can be compared word by word."""
    (attempt,) = attacked(sums, ("explanation", {"k": 2, "most_overlap": 0.5}))
    assert attempt.is_success and attempt.after.label == attempt.before.label
    one, other = (
        dict(enumerate(pellucid.explain(sums, text, "occlusion", target="positive", progress=False)[0]))
        for text in (TEXT, attempt.segments[0])
    )
    before, after = ([score for _, (_, score) in sorted(scores.items())] for scores in (one, other))
    assert len(before) == len(after)
    top = lambda scores: sorted(range(len(scores)), key=lambda n: (-scores[n], n))[:2]  # noqa: E731
    assert attempt.shift.tau == pytest.approx(kendalltau(before, after).statistic)
    assert attempt.shift.overlap == len(set(top(before)) & set(top(after))) / 2 <= 0.5
    assert attempt.shift.before == tuple(one[n][0] for n in top(before))
    assert attempt.shift.after == tuple(other[n][0] for n in top(after))


def test_explanations_are_paid_for_and_the_budget_is_hard(sums):
    n_words = len(words(TEXT))
    plan = pellucid.AttackPlan("text_order", ("typos",))
    (attempt,) = attacked(sums, "explanation", plan=plan, max_queries=3 * (n_words + 1))
    assert attempt.queries <= 3 * (n_words + 1)
    read = []

    def answer(texts):
        read.extend(texts)
        return sums.function(texts)

    counting = pellucid.from_function(answer, sums.labels)
    (whole,) = attacked(counting, "explanation", plan=plan)
    total = whole.queries
    assert len(set(read)) <= total <= len(read)
    for most in (n_words + 1, n_words + 2, 2 * n_words + 2, total - 1, total):
        (limited,) = attacked(sums, "explanation", plan=plan, max_queries=most)
        assert limited.queries <= most
    assert limited.edits == whole.edits
    for most in (1, n_words):  # not enough for the text as it is
        (limited,) = attacked(sums, "explanation", plan=plan, max_queries=most)
        assert (limited.queries <= most, limited.edits, limited.ending) == (True, (), "budget")


def test_an_explanation_goal_has_a_page_and_comes_back_from_a_file(sums, tmp_path):
    attempts = attacked(sums, ("explanation", {"k": 2}), [Example((TEXT,), "positive"), Example(("Dull.",))])
    assert attempts[0].shift is not None and "top words lovely, music" in " ".join(str(attempts).split())
    page = pellucid.report(attempts, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Top words that moved" in page and "A changed answer is a fault" not in page
    (summary,) = attempts.table()
    assert summary.accuracy_before == summary.accuracy_after == 1
    attempts.save(tmp_path / "attempts.parquet")
    assert list(pellucid.read(tmp_path / "attempts.parquet")) == list(attempts)


def test_one_text_alone_is_attacked_as_among_others(sums, bert):
    texts = [TEXT, "A lovely evening with music.", "Dull."]
    for model, method in ((sums, "occlusion"), (bert, "integrated_gradients")):
        goal = ("explanation", {"k": 2, "method": method})
        together = attacked(model, goal, texts, max_queries=200)
        alone = [attacked(model, goal, text, max_queries=200)[0] for text in texts]
        assert [(one.edits, one.queries) for one in together] == [(one.edits, one.queries) for one in alone]
        assert all(one.ending != "not confirmed" for one in together)


@pytest.mark.parametrize(
    ("edit", "expected"),
    (
        (Edit(0, 2, 5, "bcd", "BIGGER"), ["a", "BIGGER", "ef"]),
        (Edit(0, 0, 1, "a", ""), [None, "bcd", "ef"]),
        (Edit(0, 0, 5, "a bcd", "x y z"), [None, None, "ef"]),
        (Edit(0, 3, 4, "c", "CC"), ["a", None, "ef"]),
        (Edit(1, 0, 1, "a", "b"), ["a", "bcd", "ef"]),
    ),
)
def test_places_are_followed_by_their_characters(edit, expected):
    example = Example(("a bcd ef", "a"))
    moved = moved_places(words_of(example)[:3], [edit])
    text = Example(tuple(example.segments))
    from pellucid.attacks.attack_case import edited_segments

    after = edited_segments(text.segments, [edit])
    assert [one and after[one.segment][one.start : one.end] for one in moved] == expected
    assert [one and one.text for one in moved] == expected
    assert all(one is None or isinstance(one, Place) for one in moved)


def test_goals_that_do_not_fit_are_refused_in_one_sentence(regression, labels, sums):
    refused = (
        (regression, "flip", ModelCannot, "answers with a value; give goal=..value., {.distance.: 0.5}."),
        (regression, "value", BadSetting, "needs distance"),
        (regression, ("value", {"distance": 0}), BadSetting, "above 0"),
        (regression, ("value", {"distance": "far"}), BadSetting, "distance='far'"),
        (labels, "flip", ModelCannot, "several labels; give goal=..label., {.label.: .angry.}."),
        (labels, "angry", ModelCannot, "several labels"),
        (labels, "label", BadSetting, "needs label"),
        (labels, ("label", {"label": "sad"}), UnknownName, "angry, happy"),
        (sums, ("label", {"label": "positive"}), ModelCannot, "chooses one class"),
        (sums, ("value", {"distance": 1}), ModelCannot, "chooses one class"),
        (sums, ("explanation", {"method": "nothing"}), UnknownName, "attribution method"),
        (sums, ("explanation", {"method": "gradient"}), ModelCannot, "gradient"),
        (sums, ("explanation", {"k": 0}), BadSetting, "k=0"),
        (sums, ("explanation", {"most_overlap": 1}), BadSetting, "most_overlap=1"),
        (sums, "nothing", UnknownName, "explanation, flip"),
    )
    for model, goal, kind, message in refused:
        with pytest.raises(kind, match=message):
            attacked(model, goal)


@pytest.mark.parametrize("name", attack_goals.names())
def test_every_goal_says_the_same_of_a_text_alone_and_among_others(name):
    """Rows of random numbers: reached answers are never farther than others, whatever stands beside them."""
    draw = np.random.default_rng(3)
    chances = draw.dirichlet(np.ones(2), size=40)
    explained = attack_goals.get(name).facts["reads"] == "explanation"
    rows = np.c_[chances, draw.normal(size=(40, 6))] if explained else chances
    settings = {"class": {"label": "b"}, "value": {"distance": 0.3}, "label": {"label": "b"}}.get(name, {})
    best = int(rows[0, :2].argmax())
    answer = Prediction("ab"[best], ("a", "b"), tuple(rows[0, :2]), tuple(rows[0, :2]))
    goal = attack_goals.calls([(name, settings)])[0](answer, rows[0])
    nearness, reached = goal.nearness(rows), goal.reached(rows)
    assert nearness.shape == reached.shape == (40,) and reached.dtype == bool and reached.any()
    assert [goal.nearness(row[None])[0] for row in rows] == nearness.tolist()
    assert [goal.reached(row[None])[0] for row in rows] == reached.tolist()
    assert nearness[reached].min() >= nearness[~reached].max() - 1e-12
    assert name == "class" or not reached[0]
