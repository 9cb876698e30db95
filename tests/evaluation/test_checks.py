"""Each check against a slow literal rewriting, and on scores whose outcome is known."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.evaluation.checking.agreement import TAU
from tests.evaluation.check_cases import case, explained, outcome, twin
from tests.reference import checks as literal

A, B = "gradient", "integrated_gradients"


def changed(form):
    """The case with scores changed under the twin: the twin's texts are those of the model in another form."""
    whole = case()
    texts = {
        method: [replace(text, scores=form(text.scores)) for text in of]
        for method, of in whole.explained.items()
    }
    return _SecondExplanations(**{**vars(whole), "again": texts})


class _SecondExplanations(type(case())):
    """A case whose second explanations are fixed."""

    def __init__(self, again, **fields):
        super().__init__(**fields)
        object.__setattr__(self, "again", again)

    def explain(self, *_, **__):
        return self.again


def shuffled(scores):
    return np.random.default_rng(len(scores)).permutation(scores)


FORMS = {"same": lambda scores: scores, "negated": lambda scores: -scores, "shuffled": shuffled}


@pytest.mark.parametrize("k", (1, 2, 3))
def test_method_agreement_is_the_literal_loop(k):
    lines, texts = outcome("method_agreement", k=k), explained()
    assert lines.line(A, TAU, B).value.mean == pytest.approx(literal.mean_tau(texts[A], texts[B], abs))
    assert lines.line(
        A, beside=B, measure=f"overlap of the top {k}" if k > 1 else "same top word"
    ).value.mean == (pytest.approx(literal.mean_top(texts[A], texts[B], k, abs)))


def test_equal_methods_agree_fully():
    whole = case()
    same = replace(whole, explained=dict.fromkeys(whole.methods, whole.explained[B]))
    values = [line.value for line in outcome("method_agreement", same).lines]
    assert np.allclose([[one.mean, one.low, one.high] for one in values], 1, atol=1e-12)


@pytest.mark.parametrize("over", ("type", "token"))
def test_seed_agreement_is_the_literal_loop(over):
    one, again = outcome("seed_agreement", over=over), case().explain(twin())
    for method in (A, B):
        pairs = [
            pair
            for pair in zip(explained()[method], again[method], strict=True)
            if pair[0].label == pair[1].label
        ]
        expected = literal.seed_agreement([a for a, _ in pairs], [b for _, b in pairs], over)
        assert one.line(method, beside="twin").value.mean == pytest.approx(expected, abs=1e-9)
        assert 0 < len(pairs) <= len(explained()[method])


@pytest.mark.parametrize("over", ("type", "token"))
def test_seed_agreement_moves_the_right_way(over):
    values = {
        name: outcome("seed_agreement", changed(form), over=over).line(B).value.mean
        for name, form in FORMS.items()
    }
    assert values["same"] == pytest.approx(1) and values["negated"] == pytest.approx(-1)
    assert -0.9 < values["shuffled"] < 0.9


def test_texts_that_a_twin_answers_otherwise_are_left_out():
    whole = case()
    texts = {method: [replace(of[0], label="other"), *of[1:]] for method, of in whole.explained.items()}
    one = outcome("seed_agreement", _SecondExplanations(**{**vars(whole), "again": texts}))
    assert one.notes == ("1 of 6 texts are left out: twin answers them otherwise.",)


def test_dead_token_is_the_literal_loop():
    whole = case()
    blind, texts = whole.changes.without_first_word(whole.model, whole.examples)
    again = whole.explain(blind, texts)
    for method in whole.methods:
        expected = literal.dead_weight(again[method])
        assert outcome("dead_token").line(method).value.mean == pytest.approx(expected, abs=1e-9)


def test_integrated_gradients_pass_dead_token_and_chance_fails():
    one = outcome("dead_token")
    assert one.line(B).passed is True and one.line(B).value.high == 0
    assert one.line("chance(n_draws=2)").passed is False
