"""A layer analysis: sums are kept, intervals are scipy's, words are compared beyond spread, and files give it back."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pellucid.base.errors import BadFile, BadInput, BadSetting, UnknownName
from pellucid.layers.layer_words import retained_words, words_changed
from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.results.bootstrap import NOT_NEGATIVE, difference_interval, inside, t_interval
from pellucid.results.table import Interval
from tests.shared.layer_samples import TEXTS, explanation, sample_analysis, trained


def test_words_and_sentences_keep_the_sum_of_the_pieces():
    analysis = sample_analysis()
    for name in analysis.names:
        for number, one in enumerate(analysis.model(name).seeds[0]):
            pieces = one.scores[:, ~one.special].astype(float).sum(-1)
            np.testing.assert_allclose(analysis.map(number, name).sums, pieces, rtol=1e-9)
            np.testing.assert_allclose(analysis.sentences(number, name).sums, pieces, rtol=1e-9)
            special = one.scores[:, one.special].astype(float).sum(-1)
            np.testing.assert_allclose(analysis.map(number, name).elsewhere, special, rtol=1e-9)
    assert len(analysis.sentences(0).words) == 2


def test_models_with_other_pieces_and_layers_meet_at_their_words():
    analysis = sample_analysis()
    first, second = (analysis.map(0, name) for name in analysis.names)
    assert first.words == second.words and first.scores.shape[0] == 3 and second.scores.shape[0] == 5
    both = analysis.across(0)
    np.testing.assert_array_equal(both.scores, [first.last, second.last])
    assert both.rows == ("first", "second")


def test_the_mean_of_trainings_is_mapped():
    analysis = LayerAnalysis((trained("some", seeds=(1, 2)),), "nats")
    of_each = [LayerAnalysis((trained("one", seeds=(seed,)),), "nats").map(0).scores for seed in (1, 2)]
    np.testing.assert_allclose(analysis.map(0).scores, np.mean(of_each, axis=0))


def test_sums_have_the_interval_of_scipy_above_zero():
    analysis = sample_analysis()
    totals = [analysis.map(text).sums[1] for text in range(len(TEXTS))]
    row = analysis.sums()[1]
    expected = stats.t.interval(0.95, len(totals) - 1, np.mean(totals), stats.sem(totals))
    bent = inside(Interval(row.total.mean, *expected), NOT_NEGATIVE)  # no score is below 0
    assert (row.total.low, row.total.high) == pytest.approx((bent.low, bent.high)) and bent.low > 0
    assert row.row == "1" and row.n_texts == len(TEXTS)


def test_intervals_of_differences_are_welchs():
    first, second = [1.0, 2.0, 4.0], [0.5, 0.25, 0.75, 0.1]
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    interval = difference_interval(first, second)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert math.isnan(t_interval([1.0]).low) and math.isnan(difference_interval([1.0], second).low)


def test_the_retained_words_most_are_those_with_the_highest_mean():
    analysis = sample_analysis()
    words = retained_words(analysis, row="0")
    film = next(word for word in words if word.word == "film")
    assert film.n_texts == film.count == 4
    means = []
    for text in range(4):
        one = analysis.map(text)
        means += [one.scores[0, column] for column, word in enumerate(one.words) if word.lower() == "film"]
    assert film.score.mean == pytest.approx(np.mean(means))
    assert [word.score.mean for word in words] == sorted((word.score.mean for word in words), reverse=True)
    assert any(word.n_texts == 1 for word in words)  # of few texts every word is listed
    assert all(word.n_texts >= 3 for word in retained_words(analysis, row="0", min_texts=3))
    with pytest.raises(BadSetting, match="no layer '9'"):
        retained_words(analysis, row="9")


def test_a_word_that_a_model_stopped_using_is_named():
    (changes,) = words_changed(sample_analysis())
    assert changes.words[0].word == "film" and changes.words[0].verdict == "stopped using"
    assert changes.words[0].second == 0.0 and changes.words[0].beyond == pytest.approx(math.hypot(0.05, 0.05))


def test_a_difference_within_the_spread_of_seeds_is_unclear():
    (changes,) = words_changed(sample_analysis(spread=5.0))
    assert changes.words and not changes.stopped


def test_trainings_are_compared_from_three_on():
    def compared(first, second):
        models = (
            trained("first", seeds=range(first)),
            trained("second", seeds=range(9, 9 + second), drop="film"),
        )
        return words_changed(LayerAnalysis(models, "nats"))[0]

    changes = compared(3, 4)
    assert changes.stopped[0].word == "film" and changes.words[0].beyond == 0.0
    for sizes in ((2, 3), (3, 1), (1, 3)):
        assert "needs 3 of each" in compared(*sizes).why_not and not compared(*sizes).words


def test_without_a_common_scale_or_a_spread_models_are_not_compared():
    assert "no scale that models share" in words_changed(sample_analysis(""))[0].why_not
    models = sample_analysis().models
    bare = [ModelLayers(one.name, (tuple(replace(e, diagnostics={}) for e in one.seeds[0]),)) for one in models]
    assert "seed_spread" in words_changed(LayerAnalysis(tuple(bare), "nats"))[0].why_not


@pytest.mark.parametrize(
    "models, message",
    [
        ((), "needs a model"),
        ((trained("one"), trained("one")), "one name"),
        ((ModelLayers("one", ()),), "at least one text"),
        ((trained("one"), trained("two", texts=TEXTS[:2])), "other texts"),
        ((trained("one"), trained("two", method="other")), "several methods"),
        ((trained("one"), trained("two", kind="step")), "steps"),
        ((trained("one", kind="head"),), "rows of head"),
        ((ModelLayers("one", ((explanation(TEXTS[0]), explanation(TEXTS[1], 4)),)),), "other layers"),
        ((ModelLayers("one", ((explanation(TEXTS[0]),), (explanation(TEXTS[0], 4),))),), "differ in layers"),
    ],
)
def test_what_cannot_be_compared_is_refused(models, message):
    with pytest.raises(BadInput, match=message):
        LayerAnalysis(models, "nats")


def test_steps_may_differ_in_number_from_text_to_text():
    steps = tuple(explanation(text, n, kind="step") for n, text in enumerate(TEXTS, 2))
    analysis = LayerAnalysis((ModelLayers("one", (steps,)),), "nats")
    assert [row.n_texts for row in analysis.sums()] == [4, 4, 3, 2, 1]


def test_saved_and_read_it_is_equal(tmp_path):
    analysis = sample_analysis()
    analysis.save(tmp_path / "layers.json")
    assert LayerAnalysis.read(tmp_path / "layers.json") == analysis
    assert sample_analysis("") != analysis
    with pytest.raises(UnknownName):
        analysis.map(0, "third")
    with pytest.raises(BadSetting, match="no text"):
        analysis.map(4)


VALUES = (None, True, -1, 0, 1e300, "", "\ud800", [], {}, [[]], "a" * 50)


def spoilt(value, draw):
    """The record with one value, somewhere in it, replaced or removed."""
    path, here = [], value
    while isinstance(here, dict | list) and here and (not path or draw.random() < 0.85):
        key = draw.choice(sorted(here)) if isinstance(here, dict) else int(draw.integers(len(here)))
        path.append((here, key))
        here = here[key]
    owner, key = path[-1]
    if draw.random() < 0.2:
        del owner[key]
    else:
        owner[key] = VALUES[int(draw.integers(len(VALUES)))]
    return value


def test_a_spoilt_file_is_read_and_drawn_or_refused_in_a_sentence(tmp_path):
    from pellucid.layers.page import layer_sections

    path, text = tmp_path / "layers.json", json.dumps(sample_analysis(texts=TEXTS[:2]).record())
    draw, refused = np.random.default_rng(5), 0
    for _ in range(150):
        path.write_text(json.dumps(spoilt(json.loads(text), draw)), encoding="utf-8")
        try:
            analysis = LayerAnalysis.read(path)
        except BadFile as error:
            refused += 1
            assert str(path) in str(error) and "\n" not in str(error)
        else:
            assert layer_sections(analysis) and str(analysis)
    assert 40 < refused < 150
