"""What is emphasised: scores that stand out of the method's error and are large for this text; nothing else."""

from dataclasses import replace

import pytest

from pellucid.drawing.emphasis import (
    MATTERS,
    answer_lead,
    by_luck,
    clear,
    full_colour,
    least_that_stands_out,
    method_error,
    plain_caution,
)
from pellucid.drawing.heat_map import drawable_view, heat_map
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.explanation import Explained, Prediction
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation

TEXT = "the best film of the year"


def scored(scores, method="occlusion", logits=(-0.7, 0.7), **more):
    """A text with these scores of its six words; the answer leads by the difference of the logits."""
    prediction = Prediction("positive", ("negative", "positive"), logits, (0.2, 0.8))
    more.setdefault("target", Explained("positive", None, "logit", logits[1]))
    drawn = sample_explanation(TEXT, method, scores=[0, *scores, 0], prediction=prediction, **more)
    return drawable_view(drawn)


def words(view):
    return [unit.text for unit in clear(view)]


def test_scores_that_are_tiny_beside_the_answers_lead_are_not_emphasised():
    tiny, large = scored([0, 0.0046, 0.004, 0, 0, 0.001]), scored([0, 0.46, 0.4, 0, 0, 0.001])
    assert words(tiny) == [] and words(large) == ["best", "film"]
    assert answer_lead(tiny) == pytest.approx(1.4) and least_that_stands_out(tiny) == pytest.approx(MATTERS * 1.4)
    [caution] = plain_caution(tiny)
    assert caution == (
        "No word mattered by itself: the largest score, 0.0046, is less than 5 % of the answer's lead, 1.40."
    )
    assert plain_caution(large) == [] and full_colour(large) == pytest.approx(0.46)
    assert full_colour(tiny) == pytest.approx(MATTERS * 1.4)  # so its colours are pale


def test_the_same_on_page_and_terminal():
    tiny = scored([0, 0.0046, 0.004, 0, 0, 0.001])
    root = parsed(heat_map(tiny).text)
    assert not list(root.every(css_class="pl-for")) and "No word mattered by itself" in root.text
    text = terminal_text(tiny, colour=False, width=300)
    assert "[+" not in text.split("Strongest")[0] and "No word mattered by itself" in text


@pytest.mark.parametrize(
    ("diagnostics", "error"),
    [
        ({"standard_error": 0.3}, 0.6),
        ({"relative_error": 0.4}, 0.4),
        ({"completeness_gap": 1.0}, 0.501),
        ({"resolution": 0.45}, 0.45),
        ({"standard_error": float("nan")}, 0.0),
    ],
)
def test_scores_within_what_the_method_may_err_by_are_not_emphasised(diagnostics, error):
    view = scored([0, 0.5, 0, 0, 0, 0.001], diagnostics=diagnostics)
    assert method_error(view) == pytest.approx(error, abs=1e-6)
    assert words(view) == (["best"] if error < 0.5 else [])
    if error > 0.5:
        assert "within what the method may err by" in plain_caution(view)[0]


def test_scores_of_another_unit_must_exceed_what_luck_reaches():
    even, peaked = (scored(weights, "attention") for weights in ([5, 6, 5, 5, 6, 5], [0.1, 6, 0.1, 0.2, 0.1, 0.1]))
    assert answer_lead(even) is None and words(even) == [] and words(peaked) == ["best"]
    assert "scores of about one size" in plain_caution(even)[0]
    assert by_luck(even) == pytest.approx(5 / 0.6745 * (2 * 2.4849066497880004) ** 0.5)  # sqrt(2 log 12)


def test_random_scores_are_never_emphasised_and_say_so():
    view = scored([9, 0, 0, 0, 0, 0.1], "chance")
    assert clear(view) == [] and plain_caution(view) == []
    assert "Random scores" in parsed(heat_map(view).text).text


def test_the_lead_is_that_of_the_explained_class():
    view = scored([0, 1, 0, 0, 0, 0])
    against = replace(view, target=Explained("positive", "negative", "logit", -2.5))
    assert answer_lead(against) == 2.5
    assert answer_lead(replace(view, target=Explained("positive", None, "probability", 0.8))) == pytest.approx(0.6)
    assert answer_lead(replace(view, target=Explained("positive", None, "loss", 0.2))) is None
    value = Prediction("LABEL_0", ("LABEL_0",), (3.2,), ())
    assert answer_lead(replace(view, prediction=value, target=Explained("LABEL_0", None, "logit", 3.2))) is None
