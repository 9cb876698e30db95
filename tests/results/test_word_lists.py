"""Lists of words: sums and idf counted by hand, overlap by a slow literal formula, controls that can be foreseen."""

import math
from itertools import combinations

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.results.results import Results
from pellucid.results.word_lists import document_frequencies, overlap, overlap_curve, shared_words
from tests.shared.answered import answered

TEXTS = Results(
    (
        answered("Fine film, fine", [3, 1, 0, 1]),
        answered("a fine day", [0, 4, -1]),
        answered("dull film", [2, 1], says="negative"),
    )
)
OTHERS = ["A film.", "A day at sea, a fine day.", "Nothing."]


@pytest.fixture(scope="module")
def lists():
    return pellucid.class_words(TEXTS, idf=OTHERS).lists


def word(lists, form, label="positive"):
    (match,) = [one for one in lists.words if (one.word, one.label) == (form, label)]
    return match


def test_sums_shares_counts_and_idf_by_hand(lists):
    fine = word(lists, "fine")
    assert fine.raw == pytest.approx((3 + 1) / 2 + 4)
    assert fine.normalised == pytest.approx((3 + 1) / 2 / 5 + 4 / 5)
    assert (fine.count, fine.n_texts, fine.idf_texts) == (3, 2, 1)
    assert fine.idf == pytest.approx(math.log((1 + 3) / (1 + 1)) + 1)
    assert fine.score() == pytest.approx(fine.idf * 6) and fine.score("normalised") < fine.score()
    assert word(lists, "a").idf_texts == 2 and word(lists, "dull", "negative").idf_texts == 0
    assert lists.n_texts == {"positive": 2, "negative": 1} and lists.n_idf_texts == 3


def test_a_word_of_every_text_weighs_1_and_a_rarer_one_more():
    frequencies = document_frequencies([["a", "a"], ["a", "b"]])
    assert frequencies.idf("a") == 1.0 < frequencies.idf("b") < frequencies.idf("never")


def test_the_lists_hold_what_speaks_for_a_class_highest_first(lists):
    assert [one.word for one in lists.top("positive")] == ["fine", "film"]
    assert [one.word for one in lists.top("negative", 1)] == ["dull"]
    assert lists.shared("positive", "negative") == ("film",) and lists.shared("positive", "negative", 1) == ()
    assert lists.overlap(2) == 0.5
    with pytest.raises(UnknownName, match="positiv"):
        lists.top("positiv")
    with pytest.raises(BadSetting, match="sums"):
        lists.top("positive", sums="mean")


def test_the_means_are_as_without_idf_and_the_record_has_both(lists):
    plain, both = pellucid.class_words(TEXTS), pellucid.class_words(TEXTS, idf=OTHERS)
    assert plain.words == both.words and plain.lists is None and "lists" not in plain.record()
    record = both.record()["lists"]
    assert record["n_idf_texts"] == 3 and record["words"] == lists.rows()
    assert len(lists.data_frame()) == len(lists.words)


def test_equal_texts_count_once():
    twice = pellucid.class_words([*TEXTS, TEXTS[0]], idf=OTHERS).lists
    assert word(twice, "fine").raw == pytest.approx(6) and twice.n_texts["positive"] == 2


def literal(lists, k):
    """A1.11 as written: shared / (C(C,2)·k)."""
    pairs = list(combinations(lists, 2))
    return sum(len(set(a[:k]) & set(b[:k])) for a, b in pairs) / (len(pairs) * k)


@pytest.mark.parametrize("classes", (2, 3, 5))
def test_identical_lists_overlap_whole_and_disjoint_ones_not_at_all(classes):
    same = [[f"w{number}" for number in range(50)]] * classes
    apart = [[f"{label}-{number}" for number in range(50)] for label in range(classes)]
    for k in (1, 7, 50):
        assert overlap(same, k) == 1.0 and overlap(apart, k) == 0.0


def test_the_overlap_is_the_literal_formula_for_any_lists():
    rng = np.random.default_rng(0)
    for _ in range(20):
        lists = [[f"w{one}" for one in rng.permutation(30)[:20]] for _ in range(rng.integers(2, 6))]
        for k in (1, 5, 20):
            assert overlap(lists, k) == pytest.approx(literal(lists, k))
        assert (np.diff(shared_words(lists, 20)) >= 0).all()


def test_the_order_of_equal_words_changes_nothing():
    assert overlap([["a", "b"], ["b", "a"]], 2) == 1.0 and overlap([["a", "b"], ["b", "a"]], 1) == 0.0


def test_the_controls_lie_where_they_must():
    common = [f"w{number}" for number in range(200)]
    own = [[f"{label}-{number}" for number in range(60)] for label in range(3)]
    curve = overlap_curve([common[:50]] * 3, [[*words, *common] for words in own], 50)
    assert curve.k == tuple(range(1, 51)) and curve.lists == (1.0,) * 50
    assert curve.rarest == (0.0,) * 50  # the first words of each vocabulary are its own
    chance = 50 * (200 / 260) ** 2 / 200  # of 50 drawn from 260, how many another 50 draw too, over 50
    assert curve.random_mean[-1] == pytest.approx(chance, rel=0.15)
    assert curve.random_low[-1] < curve.random_mean[-1] < curve.random_high[-1]


def test_draws_follow_from_words_and_seed_alone():
    vocabularies = [[f"w{one}" for one in range(40)]] * 2
    lists = [one[:9] for one in vocabularies]
    first, again = (overlap_curve(lists, vocabularies, 50, 20) for _ in range(2))
    np.random.seed(1)
    assert first == again == overlap_curve(lists, vocabularies, 50, 20) and len(first.k) == 9
    assert first != overlap_curve(lists, vocabularies, 50, 20, seed=1)


def test_one_class_has_no_overlap(lists):
    single = pellucid.class_words(TEXTS[:2], idf=OTHERS).lists
    assert math.isnan(single.overlap(2)) and single.overlap_curve().k == ()


@pytest.mark.parametrize("none", ([], ()))
def test_no_texts_for_idf_are_refused(none):
    with pytest.raises(BadInput, match="no texts to count how rare"):
        pellucid.class_words(TEXTS, idf=none)


def test_pieces_are_counted_as_the_model_writes_them(bert):
    results = pellucid.explain(bert, ["A fine film.", "A dull film, unbelievable."], "gradient")
    lists = pellucid.class_words(results, idf=["A film.", "Fine."], unit="piece", model=bert).lists
    units = results[0].units
    pieces = {units.labels[index] for index in units.content}
    assert pieces <= {one.word for one in lists.words} and lists.unit == "piece"
    for options in ({"unit": "piece"}, {"model": bert}):
        with pytest.raises(BadSetting, match="give both or none"):
            pellucid.class_words(results, idf=["A film."], **options)
    with pytest.raises(BadSetting, match="give idf"):
        pellucid.class_words(results, unit="piece", model=bert)
    with pytest.raises(BadSetting, match="belong to words"):
        pellucid.class_words([one.words() for one in results], idf=["A film."], unit="piece", model=bert)
