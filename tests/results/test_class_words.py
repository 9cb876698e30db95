"""Words of classes: counted by hand they are the same, and what cannot be averaged is refused or said."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from weakref import ref

import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.results.explanation import Explained
from pellucid.results.results import Results
from pellucid.text.units import all_spans
from tests.shared.answered import answered
from tests.shared.explanations import word_units

FILMS = Results(
    (
        answered("Fine film, fine", [3, 1, 0, 1]),
        answered("a fine day", [0, 4, -1]),
        answered("FINE again", [5, 0.5]),
        answered("dull film", [2, 1], says="negative"),
    )
)


def word(words, form, label="positive"):
    (match,) = [one for one in words.words if (one.word, one.label) == (form, label)]
    return match


def test_a_word_is_the_mean_over_texts_of_its_mean_in_a_text():
    fine = word(pellucid.class_words(FILMS), "fine")
    assert (fine.count, fine.n_texts, fine.is_stop_word) == (4, 3, False)
    assert fine.mean == pytest.approx((2 + 4 + 5) / 3)
    half = 4.302652729911275 * statistics.stdev([2, 4, 5]) / math.sqrt(3)  # t of two degrees of freedom
    assert (fine.low, fine.high) == pytest.approx((fine.mean - half, fine.mean + half))
    assert fine.is_sure == (fine.mean - half > 0)


def test_words_of_few_texts_are_left_out_and_counted():
    counted = FILMS.words()
    assert [one.word for one in counted.words] == ["fine"]
    every = FILMS.words(min_texts=1)
    assert counted.n_rare == len(every.words) - 1 and every.n_rare == 0
    assert {one.word for one in every.words if one.label == "negative"} == {"dull", "film"}
    single = word(every, "dull", "negative")
    assert math.isnan(single.low) and math.isnan(single.high) and not single.is_sure
    with pytest.raises(BadSetting, match="min_texts=0"):
        FILMS.words(min_texts=0)


def test_function_words_and_punctuation_stay_and_are_marked():
    every = FILMS.words(min_texts=1)
    assert word(every, "a").is_stop_word and word(every, ",").is_stop_word


def test_a_class_of_function_words_alone_says_so():
    texts = (
        answered("it is dull", [1, 0, 2], says="negative"),
        answered("it was long", [3, 1, 1], says="negative"),
    )
    caution = "Of negative only function words and punctuation occur in 2 texts or more"
    assert any(caution in caveat for caveat in Results(texts).words(min_texts=2).caveats)
    assert not any(caution[:20] in caveat for caveat in Results(texts).words(min_texts=1).caveats)


def test_forms_are_counted_whatever_their_case_and_composition():
    forms = Results((answered("Café"), answered("CAFE\u0301"), answered("straße"), answered("STRASSE")))
    assert {one.word: one.n_texts for one in forms.words(min_texts=1).words} == {"café": 2, "strasse": 2}


def test_the_surest_word_comes_first_not_the_largest_mean():
    texts = [answered(f"loud calm awful {n}", [loud, 1 + n / 100, -1, 0]) for n, loud in enumerate((0, 9, 1))]
    words = Results(texts).words(min_texts=1)
    assert [one.word for one in words.strongest("positive", 2)] == ["calm", "loud"]
    assert [one.word for one in words.strongest("positive", 1, "against")] == ["awful"]
    assert not {one.word for one in words.strongest("positive", 99, "for")} & {"awful", "0", "1", "2"}
    with pytest.raises(UnknownName, match="positiv"):
        words.strongest("positiv", 1)
    with pytest.raises(BadSetting, match="sign"):
        words.strongest("positive", 1, "with")


def test_words_without_an_interval_come_after_those_with_one():
    texts = [answered("calm rare", [1, 9]), answered("calm", [1.1])]
    assert [one.word for one in Results(texts).words(min_texts=1).strongest("positive")] == ["calm", "rare"]


def test_equal_texts_count_once_and_it_says_so():
    again = [replace(FILMS[0], example=replace(FILMS[0].example, id=name)) for name in ("second", "third")]
    words = Results((*FILMS, *again)).words()
    assert word(words, "fine") == word(FILMS.words(), "fine")
    assert words.caveats == ("2 of 6 texts repeat others; equal texts count once.",)


def test_contrasts_are_counted_by_both_classes():
    contrast = Explained("positive", "negative", "logit", 1.0)
    words = Results((answered("fine", [1], target=contrast),)).words(min_texts=1)
    assert words.labels == ("positive against negative",) and words.words[0].label == words.labels[0]


def test_several_methods_are_refused_with_the_way_to_choose():
    mixed = Results((*FILMS, answered("fine", [1], method="gradient")))
    with pytest.raises(BadSetting, match=r"results\.where\(method='occlusion'\)"):
        mixed.words()
    assert mixed.summary().words is None
    assert mixed.where(method="occlusion").words() == FILMS.words()


def test_scores_without_a_sign_or_a_class_say_so():
    attention = [answered(f"fine {n}", [1, 2], method="attention") for n in range(3)]
    no_sign, no_class = Results(attention).words().caveats
    assert "no word can speak against" in no_sign and "whatever class" in no_class
    random = Results((answered("fine film", method="chance"),)).words().caveats
    assert random == ("These scores are random, so these words mean nothing.",)


def test_spans_are_shared_among_words():
    spans = all_spans(word_units(("fine film",)))
    whole = next(n for n in range(len(spans)) if spans.first[n] != spans.last[n])
    scores = [2.0 if n == whole else 0.0 for n in range(len(spans))]
    shared = answered("fine film", units=word_units(("fine film",)))
    words = Results((replace(shared, units=spans, scores=scores),)).words(min_texts=1)
    assert [(one.word, one.mean) for one in words.words] == [("film", 1.0), ("fine", 1.0)]


def test_of_several_layers_the_last_is_counted_and_it_says_so():
    rows = answered("fine", method="attention_heads")
    several = replace(rows, rows=(("layer", ("0", "1")),), scores=[[0, 1, 0], [0, 5, 0]])
    words = Results((several,)).words(min_texts=1)
    assert words.words[0].mean == 5.0 and "Counted is the last layer of 2: 1." in words.caveats


def test_a_record_and_a_data_frame_have_every_word():
    words = FILMS.words(min_texts=1)
    record = words.record()
    assert len(record["words"]) == len(words.words) == len(words.data_frame())
    single = next(one for one in record["words"] if one["word"] == "dull")
    assert single["low"] is None and single["mean"] == 2.0
    assert words.only("negative").labels == ("negative",) and len(words.only("negative").words) == 2


def test_no_results_have_no_words():
    assert Results(()).words().words == ()


def test_content_words_leave_function_words_out_where_there_are_others():
    words = Results((answered("the calm sea", [1, 2, 3]), answered("the calm sea", [1, 2, 3], name="b"))).words(
        min_texts=1
    )
    assert {one.word for one in words.content().words} == {"calm", "sea"}
    only = Results((answered("the", [1]),)).words(min_texts=1)
    assert only.content() == only and [one.word for one in only.words] == ["the"]


def test_explanations_are_counted_one_after_the_other():
    results = Results(FILMS.explanations * 20)
    alive, sizes = [], []

    class InTurn(Sequence):
        def __len__(self):
            return len(results)

        def __getitem__(self, place):
            explanation = replace(results[place])
            alive.append(ref(explanation))
            sizes.append(sum(each() is not None for each in alive))
            return explanation

    texts = ["a good day", "a film"]
    assert pellucid.class_words(InTurn(), idf=texts) == pellucid.class_words(results, idf=texts)
    assert max(sizes) <= 3
    with pytest.raises(BadInput, match="Member 1 of results came as str"):
        pellucid.class_words([results[0], "no explanation"])
