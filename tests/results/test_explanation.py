"""An explanation never changes; its views rank, cut, normalise and merge without touching it."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.base.errors import BadSetting
from pellucid.results.explanation import Explained, Prediction
from pellucid.text.example import Example
from pellucid.text.units import Units, all_spans
from tests.shared.explanations import explanation, word_units

TEXT = "A fine, fine film."  # [CLS] A fine , fine film . [SEP]
SCORES = [9.0, 0.5, 2.0, -1.0, 2.0, 3.0, 0.0, -9.0]


@pytest.fixture
def plain():
    return explanation(TEXT, scores=SCORES)


@pytest.fixture
def by_span():
    units = all_spans(word_units((TEXT,)))
    scores = [
        -(first + last) / 10 + 5 * ((first, last) in ((2, 4), (4, 5)))
        for first, last in zip(units.first, units.last, strict=True)
    ]
    return explanation(TEXT, scores=scores, units=units)


@pytest.fixture
def layered():
    return explanation(TEXT, rows=(("layer", ("0", "1")), ("head", ("a", "b", "c"))))


VIEWS = {
    "words": lambda e: e.words(),
    "sentences": lambda e: e.sentences(),
    "paragraphs": lambda e: e.paragraphs(),
    "ranking": lambda e: e.ranking(),
    "top": lambda e: e.top(3),
    "normalised": lambda e: e.normalised(),
    "hidden_sum": lambda e: e.hidden_sum,
    "scored": lambda e: e.scored(2),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", ("plain", "by_span"))
def test_views_change_nothing(view, kind, request):
    one = request.getfixturevalue(kind)
    before = one.scores.copy()
    VIEWS[view](one)
    assert one.scores.tobytes() == before.tobytes()


def test_scores_cannot_be_written(plain):
    with pytest.raises(ValueError, match="read-only"):
        plain.scores[0] = 1
    with pytest.raises(AttributeError):
        plain.method = "other"


def test_the_callers_array_stays_the_callers():
    scores = np.array(SCORES, dtype=np.float32)
    one = explanation(TEXT, scores=scores)
    scores[0] = 100
    assert one.scores[0] == 9


def test_scores_that_do_not_fit_raise():
    with pytest.raises(BadSetting, match=r"shape \(3,\) do not fit rows and units of shape \(8,\)"):
        explanation(TEXT, scores=[1, 2, 3])
    with pytest.raises(BadSetting, match=r"\(2, 8\)"):
        explanation(TEXT, scores=SCORES, rows=(("layer", ("0", "1")),))


def test_ranking_leaves_special_tokens_out_and_keeps_reading_order(plain):
    assert plain.ranking() == [5, 2, 4, 1, 6, 3]


def test_top_lists_text_score_and_place(plain):
    top = plain.top(2)
    assert [(scored.text, scored.score) for scored in top] == [("film", 3.0), ("fine", 2.0)]
    assert (top[1].segment, top[1].start, top[1].end) == (0, 2, 6)
    assert len(plain.top(100)) == 6
    with pytest.raises(BadSetting, match="k=0"):
        plain.top(0)


def test_spans_do_not_overlap(by_span):
    heaviest = by_span.spans(3)
    assert [scored.text for scored in heaviest] == ["fine, fine", "A", "film"]
    assert len(by_span.spans(100)) == 4  # [fine , fine] A film .
    ranges = [set(range(scored.start, scored.end)) for scored in by_span.spans(100)]
    assert all(not one & other for n, one in enumerate(ranges) for other in ranges[:n])
    assert by_span.spans(1)[0] == by_span.top(1)[0]


def test_spans_of_pieces_raise(plain):
    with pytest.raises(BadSetting, match=r"scores pieces, not spans; use .words\(\).top\(k\)"):
        plain.spans()


def test_span_scores_are_shared_among_their_words(by_span):
    words = by_span.words()
    assert (words.units.kind, words.units.labels) == ("word", by_span.units.parts.labels)
    literal = np.zeros(8)
    for score, first, last in zip(by_span.scores, by_span.units.first, by_span.units.last, strict=True):
        literal[first : last + 1] += score / (last - first + 1)
    np.testing.assert_allclose(words.scores, literal, atol=1e-5)


def test_words_are_sums_of_their_pieces():
    pieces = Units("piece", ("[CLS]", "un", "like", "ly", "!"), (-1, 0, 0, 0, 0), (0, 0, 2, 6, 8), (0, 2, 6, 8, 9))
    words = explanation("unlikely!", scores=[1, 2, 3, 4, 5], units=pieces).words()
    assert words.units == Units("word", ("[CLS]", "unlikely", "!"), (-1, 0, 0), (0, 0, 8), (0, 8, 9))
    assert words.scores.tolist() == [1, 9, 5]
    assert words.words() == words


def test_pairs_keep_their_texts_apart():
    one = explanation(("One. Two.", "Three."))
    assert one.sentences().units.segment == (-1, 0, 0, -1, 1, -1)
    assert one.paragraphs().units.segment == (-1, 0, -1, 1, -1)
    np.testing.assert_allclose(one.paragraphs().scores.sum(), one.scores.sum(), rtol=1e-5)


def test_normalised_divides_by_the_sum_of_sizes(plain):
    assert np.abs(plain.normalised()).sum() == pytest.approx(1)
    np.testing.assert_allclose(plain.normalised() * 26.5, SCORES, rtol=1e-6)
    assert not explanation(TEXT, scores=[0] * 8).normalised().any()


def test_normalised_is_a_row_at_a_time(layered):
    np.testing.assert_allclose(np.abs(layered.normalised()).sum(-1), 1, rtol=1e-5)


def test_labels_select_a_row(layered):
    one = layered.row("1", "b")
    assert one.rows == ()
    np.testing.assert_array_equal(one.scores, layered.scores[1, 1])
    part = layered.row("0")
    assert part.rows == (("head", ("a", "b", "c")),)
    np.testing.assert_array_equal(part.scores, layered.scores[0])
    assert layered.row() == layered


def test_a_row_that_is_not_there_raises(layered):
    with pytest.raises(BadSetting, match="There is no layer '7'; there are: 0, 1"):
        layered.row("7")
    with pytest.raises(BadSetting, match="There is no head 'z'"):
        layered.row("0", "z")
    with pytest.raises(BadSetting):
        layered.row("0", "a", "more")


@pytest.mark.parametrize("view", ("ranking", "top"))
def test_several_rows_have_no_one_ranking(layered, view):
    with pytest.raises(BadSetting, match=r"layer \(0, 1\), head \(a, b, c\). Choose one with .row"):
        VIEWS[view](layered)


def test_words_of_several_rows_keep_the_rows(layered):
    assert layered.words().rows == layered.rows
    np.testing.assert_allclose(layered.sentences().scores.sum(-1), layered.scores.sum(-1), atol=1e-5)


def test_the_sum_that_a_picture_hides_is_known(plain, by_span):
    assert plain.hidden_sum == 0.0
    assert explanation(TEXT, scores=[1, 0, 0, 0, 0, 0, 0, 2]).hidden_sum == 3.0
    assert by_span.hidden_sum == 0.0


def test_the_prediction_and_the_target_read_well():
    prediction = Prediction("b", ("a", "b"), (0.0, 1.0), (0.3, 0.7))
    assert prediction.probability == 0.7
    assert np.isnan(Prediction("a", ("a",), (2.0,), ()).probability)
    assert str(Explained("b", None, "loss", 0.1)) == "loss of b"
    assert str(Explained("b", "a", "logit", 0.1)) == "logit of b against a"


def test_it_is_right_wrong_or_neither():
    for label, expected in (("positive", True), ("negative", False), ("5 stars", None), (None, None)):
        assert explanation(example=Example(("A film.",), label), text="A film.").is_correct is expected


def test_it_is_the_words_of_the_text_with_their_scores():
    one = explanation("A fine, fine film.")
    pairs = list(one)
    assert [word for word, _ in pairs] == ["A", "fine", ",", "fine", "film", "."] and len(one) == 6
    assert [score for _, score in pairs] == one.words().scores[~one.words().special].tolist()
    spans = explanation("A fine film.", units=all_spans(word_units(("A fine film.",))))
    assert len(spans) == len(list(spans)) == 4 and sum(score for _, score in spans) == pytest.approx(spans.scores.sum())
    sentences = explanation("One. Two three.").sentences()
    assert [text for text, _ in sentences] == ["One.", "Two three."] and len(sentences) == 2
    with pytest.raises(BadSetting, match="several rows"):
        list(explanation(rows=(("draw", ("1", "2")),)))


def test_five_units_are_the_top_by_default():
    assert len(explanation("one two three four five six seven").top()) == 5


def test_short_forms_fit_a_line():
    one = explanation("A gripping, lovely film, and long.")
    assert repr(one) == "<Explanation 'A gripping, lov…' positive 0.75 by occlusion>"
    assert repr(one.prediction) == "<Prediction positive 0.75>"
    assert repr(replace(one.prediction, probabilities=())) == "<Prediction positive>"


def test_unsure_is_less_than_a_fifth_apart():
    def prediction(*chances):
        return Prediction("a", tuple("abcdef"[: len(chances)]), (0.0,) * len(chances), chances)

    assert prediction(0.59, 0.41).is_unsure and not prediction(0.61, 0.39).is_unsure
    assert prediction(0.4, 0.3, 0.3).is_unsure and not prediction(0.5, 0.25, 0.25).is_unsure
    assert not Prediction("a", ("a",), (1.0,), ()).is_unsure


def test_it_draws_itself_as_html_and_svg():
    one = explanation("A <b>fine</b> film.")
    assert one.to_html() == one._repr_html_() and "<b>fine" not in one.to_html()
    assert one.to_svg().startswith("<svg") and "<b>" not in one.to_svg()
