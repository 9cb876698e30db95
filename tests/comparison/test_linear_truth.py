"""On a model that adds up its words' weights the true scores are known: every metric prefers them, and agreement is 1
with oneself.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case
from pellucid.results.bootstrap import combined
from pellucid.run.packing import scheduler_for
from pellucid.text.example import Example, Rationale
from tests.shared.cases import model as tiny_model
from tests.shared.check_cases import case as check_case
from tests.shared.check_cases import explained, outcome

VOCABULARY = [first + second for first in "bdfgklm" for second in ("an", "el", "it", "on", "ur", "ash")]
NAMES = [name for name in metrics.names() if not metrics.get(name).facts["capabilities"]]
N_TEXTS, N_WORDS = 40, 14


@cache
def weights():
    """Each word's share of the probability of "yes"; the sum of a text is far below one half."""
    drawn = np.random.default_rng(4).normal(scale=0.05, size=len(VOCABULARY))
    return dict(zip(VOCABULARY, drawn.clip(-0.1, 0.1).tolist(), strict=True))


def answer(texts):
    sums = [np.clip(sum(weights().get(word, 0.0) for word in text.split()), -0.49, 0.49) for text in texts]
    return [[0.5 - one, 0.5 + one] for one in sums]


@cache
def linear():
    return pellucid.from_function(answer, ["no", "yes"])


@cache
def texts():
    """Labelled as the model answers; the three words that matter most are marked, the one that matters least is a
    decoy.
    """
    random = np.random.default_rng(7)
    labelled = []
    for number in range(N_TEXTS):
        words = random.choice(VOCABULARY, N_WORDS, replace=False).tolist()
        total = sum(weights()[word] for word in words)
        sign = 1 if total > 0 else -1
        ranked = sorted(words, key=lambda word, sign=sign: -sign * weights()[word])
        text = " ".join(words)
        spans = {word: [0, text.index(word), text.index(word) + len(word)] for word in words}
        marks = tuple(Rationale(*spans[word]) for word in ranked[:3])
        meta = {"distractors": [spans[ranked[-1]]]}
        labelled.append(Example((text,), "yes" if total > 0 else "no", marks, str(number), meta))
    return labelled


@cache
def explanations():
    return pellucid.explain(linear(), texts(), "occlusion")


def true_scores():
    """[example][word], for the class that is explained."""
    return [
        np.array([weights()[word] for word in one.example.text.split()]) * (1 if one.target.label == "yes" else -1)
        for one in explanations()
    ]


def case_with(scores):
    views = [replace(one.words(), scores=row) for one, row in zip(explanations(), scores, strict=True)]
    return Case(linear(), linear().encode(texts()), views, scheduler_for(linear()), 3 / N_WORDS)


def number(name, scores):
    judged = metrics.get(name).make(case_with(scores))
    return combined(judged.columns, judged.combine)


def shuffled():
    random = np.random.default_rng(0)
    return [random.permutation(scores) for scores in true_scores()]


@pytest.mark.parametrize("name", NAMES)
def test_true_scores_beat_shuffled_ones_which_beat_negated_ones(name):
    sign = 1 if metrics.get(name).facts["better"] == "higher" else -1
    negated = [-scores for scores in true_scores()]
    true, middle, worst = (sign * number(name, scores) for scores in (true_scores(), shuffled(), negated))
    assert true > middle > worst or (name == "infidelity" and true > middle >= worst)


def test_where_truth_is_exact_values_are_exact():
    true, negated = true_scores(), [-scores for scores in true_scores()]
    assert number("infidelity", true) == pytest.approx(0, abs=1e-9)
    assert number("infidelity", negated) == pytest.approx(1)
    assert number("sensitivity_n", true) == pytest.approx(1)
    assert number("sensitivity_n", negated) == pytest.approx(-1)
    for name in ("reason_found", "reason_precision_at_k", "token_f1", "auprc"):
        assert number(name, true) == pytest.approx(1)
    by_hand = np.mean([np.sort(scores)[-1] for scores in true])  # one word of fourteen is taken out
    one = metrics.get("comprehensiveness").make(case_with(true), fractions=(0.05,))
    assert one.columns.mean() == pytest.approx(by_hand, abs=1e-6)


def test_equal_explanations_agree_to_1():
    """Methods with each other, a model with itself as a twin, and a data set with itself."""
    own = explained()
    same = check_case(dict.fromkeys(own, own["gradient"]), twins={"itself": tiny_model()})
    for check in ("method_agreement", "corpus_agreement", "seed_agreement"):
        whole = same if check == "method_agreement" else check_case(twins={"itself": tiny_model()})
        lines = [line for line in outcome(check, whole).lines if line.n and line.value.mean == line.value.mean]
        assert lines
        for line in lines:
            assert line.value.mean == pytest.approx(1, abs=1e-5), (check, line)


def test_method_agreement_falls_from_equal_to_shuffled_to_negated_scores():
    own = explained()["gradient"]
    random = np.random.default_rng(1)

    def agreement(change):
        others = [replace(text, scores=change(text.scores)) for text in own]
        scores = {"gradient": own, "integrated_gradients": others, explained_chance(): own}
        line = outcome("method_agreement", check_case(scores)).line("gradient", beside="integrated_gradients")
        return line.value.mean

    equal, other, least = map(agreement, (lambda one: one, random.permutation, lambda one: one.max() - one))
    assert equal == pytest.approx(1) and least == pytest.approx(-1)
    assert equal > other > least


def explained_chance():
    return next(title for title in explained() if title.startswith("chance"))
