"""Spans in the words that ERASER counts: scores of words put together, equal lengths, and texts cut at their end."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.evidence.eraser_scores import eraser_scores
from pellucid.text.example import Example, Rationale
from studies.s0_eraser import cuts as eraser_cuts
from studies.s0_eraser.texts import last_sentences
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed

TEXTS = [
    Example(("A fine, if long film. It ends well.", "Good."), None, (Rationale(0, 2, 7), Rationale(1, 0, 5))),
    Example(("It is not good .", "Nobody left it."), None, (Rationale(0, 6, 14),)),
]


@pytest.fixture(scope="module")
def explanations():
    return ask(tiny_composed("span"), [one.segments for one in TEXTS], "span_attention")


def test_a_token_has_the_scores_of_its_words(explanations):
    for explanation in explanations:
        words = explanation.view("word")
        for segment, text in enumerate(explanation.example.segments):
            scores = eraser_cuts.token_scores(explanation, segment)
            assert len(scores) == len(text.split())
            inside = [n for n, of in enumerate(words.units.segment) if of == segment]
            assert scores.sum() == pytest.approx(sum(words.scores[n] for n in inside))
    (well,) = (n for n, label in enumerate(explanations[0].view("word").units.labels) if label == "well")
    words = explanations[0].view("word").scores
    assert eraser_cuts.token_scores(explanations[0], 0)[-1] == pytest.approx(words[well] + words[well + 1])


def test_every_cut_of_a_length_takes_as_many_tokens():
    model = tiny_composed("span")
    share = eraser_cuts.marked_tokens(TEXTS)
    assert share == pytest.approx((2 / 9 + 2 / 8) / 2)  # "fine," and "Good."; "not good"
    lengths = eraser_cuts.lengths_of(TEXTS, share)
    assert lengths == [[2, 1], [1, 1]]
    explanations = eraser_cuts.explanations_of(model, TEXTS, "span_attention", 0)
    cuts = eraser_cuts.cut_by_scores(explanations, "span_attention", lengths, 0)
    random = eraser_cuts.cut_at_random(model, TEXTS, lengths, 0)
    for cut in ("budget", "words"):
        budgets = [eraser_scores(one[cut], resamples=1).budget for one in (cuts, random)]
        assert budgets == pytest.approx([(3 / 9 + 2 / 8) / 2] * 2)
    assert eraser_cuts.cut_at_random(model, TEXTS, lengths, 0) == random
    whole = cuts["one span"][0]
    assert [span.segment for span in whole.spans] == [0, 1]
    first = [score for n, score in enumerate(explanations[0].scores) if explanations[0].units.characters(n)[0] == 0]
    assert whole.spans[0].score == pytest.approx(max(first))


def test_a_token_that_is_not_read_scores_lowest(explanations):
    view = explanations[1].view("word")
    read = [n for n, label in enumerate(view.units.labels) if label != "."]
    stripped = replace(view, units=view.units.take(read), scores=view.scores[read])
    scores = eraser_cuts.token_scores(stripped, 0)
    assert scores[-1] == 0 == scores.min()
    assert np.isfinite(eraser_cuts.token_scores(stripped, 0, np.maximum)).all()


def test_a_review_is_cut_to_its_last_whole_sentences_with_their_marks():
    text = "one two three .\nfour five .\nsix seven eight ."
    marks = (Rationale(0, 4, 7), Rationale(0, 8, 20), Rationale(0, 32, 37))
    example = Example((text,), "x", marks)
    cut = last_sentences(example, 8)
    assert cut.segments == ("four five .\nsix seven eight .",)
    assert [text[16:][mark.start : mark.end] for mark in cut.rationales] == ["four", "seven"]
    assert last_sentences(example, 100) == example
    assert last_sentences(example, 1).segments == ("six seven eight .",)
