"""Error analysis: cue words by their formula, patterns on texts made for them, counts on both sides."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.drawing.method_facts import readable
from pellucid.errors.door import (
    contrast_outside,
    cue_of_another_class,
    evidence_of,
    grouped,
    negation_cut_off,
    no_cue,
)
from pellucid.errors.record import HALVES, TOO_FEW, cue_words, cues_from, cues_of
from pellucid.errors.views import error_analysis_sections
from pellucid.results.bootstrap import difference, share
from pellucid.results.heaviest_spans import evidence_parts
from pellucid.text.example import Example, text_digest
from tests.shared.sample_results import sample_explanation as explanation_of
from tests.shared.tiny import tiny_classifier, tiny_composed

CUES = {"negative": {"dull"}, "positive": {"lovely"}, "neutral": {"open"}}
LABELS = ("negative", "neutral", "positive")


def seen(text, span, label="positive", predicted="positive"):
    """An explanation with all its weight on one stretch of the text."""
    explanation = explanation_of(
        text,
        "span_attention",
        label=label,
        labels=LABELS,
        predicted=predicted,
        spans=True,
        probabilities=(0.1, 0.1, 0.8),
    )
    start = text.index(span)
    places = [explanation.units.characters(index)[1:] for index in range(len(explanation.units))]
    scores = np.array([float(place == (start, start + len(span))) for place in places])
    assert scores.sum() == 1
    return replace(explanation, scores=scores)


@pytest.mark.parametrize(
    ("pattern", "text", "span", "shown"),
    [
        (contrast_outside, "a lovely film, but dull", "a lovely film", True),
        (contrast_outside, "However, a lovely film", "lovely film", True),
        (contrast_outside, "a lovely film, but dull", "lovely film, but", False),
        (contrast_outside, "a lovely butler", "lovely", False),
        (negation_cut_off, "it is not lovely", "lovely", True),
        (negation_cut_off, "it isn’t a lovely film", "lovely film", True),
        (negation_cut_off, "they do n't like it", "like it", True),
        (negation_cut_off, "it is not lovely", "not lovely", False),
        (negation_cut_off, "not that it is lovely", "lovely", False),
        (cue_of_another_class, "a dull film", "dull", True),
        (cue_of_another_class, "a dull, lovely film", "dull, lovely", False),
        (cue_of_another_class, "a lovely film", "lovely", False),
        (no_cue, "a fine film", "fine film", True),
        (no_cue, "an Open door", "Open door", False),
    ],
)
def test_a_pattern_is_seen_where_it_is(pattern, text, span, shown):
    assert pattern(evidence_of(seen(text, span), CUES)) == shown


def test_a_span_of_the_second_text_is_judged_by_its_own_text():
    explanation = explanation_of(
        ("but no", "a lovely film"),
        "span_attention",
        label="positive",
        labels=LABELS,
        spans=True,
        probabilities=(0.1, 0.1, 0.8),
    )
    scores = np.array([float(explanation.units.characters(n) == (1, 2, 8)) for n in range(len(explanation.units))])
    evidence = evidence_of(replace(explanation, scores=scores), CUES)
    assert evidence.words == ("a", "lovely", "film") and evidence.inside == ("lovely",)
    assert not contrast_outside(evidence) and not negation_cut_off(evidence)


def test_texts_count_for_every_pattern_and_are_listed_under_the_first():
    texts = [
        seen("a lovely film, but dull", "dull", "positive", "negative"),  # contrast outside, cue of another class
        seen("a dull film", "dull", "positive", "negative"),
        seen("a dull film", "dull", "negative", "negative"),
        seen("a fine film, but long", "fine", "positive", "positive"),
        seen("a lovely film", "lovely", "positive", "positive"),
        seen("lovely and dull", "lovely and dull", "positive", "neutral"),  # none
    ]
    analysis = grouped(texts, cues_of(cue_lists()))
    counts = {pattern.name: (pattern.among_wrong, pattern.among_right) for pattern in analysis.patterns}
    assert (analysis.wrong, analysis.right) == (3, 3)
    assert counts == {
        "contrast_outside": (1, 1),
        "negation_cut_off": (0, 0),
        "cue_of_another_class": (2, 0),
        "no_cue": (0, 1),
        "none_of_these": (1, 2),
    }
    listed = {
        name: [texts.index(one) for one in of_pattern] for name, of_pattern in analysis.texts.items() if of_pattern
    }
    assert listed == {"contrast_outside": [0], "cue_of_another_class": [1], "none_of_these": [5]}
    assert analysis.patterns[2].share_wrong.mean == pytest.approx(2 / 3)
    assert analysis.record()["texts"]["contrast_outside"][0]["spans"] == ["dull"]


def test_the_surest_mistakes_come_first():
    """By the probability of the wrong class; texts without probabilities come last, in the order of the file."""
    shares = (0.5, math.nan, 0.9, 0.7, math.nan)
    texts = [
        replace(one, example=replace(one.example, id=str(number)), prediction=replace(one.prediction, probabilities=(p, 0, 0)))
        for number, p in enumerate(shares)
        for one in [seen("a fine film", "fine", "positive", "negative")]
    ]  # fmt: skip
    analysis = grouped(texts, cues_of(cue_lists()))
    assert [one.example.id for one in analysis.texts["no_cue"]] == ["2", "3", "0", "1", "4"]


def cue_lists():
    examples = [
        Example(("dull",), "negative"), Example(("lovely",), "positive"), Example(("open",), "neutral"),
    ] * 20  # fmt: skip
    cues_by_label = cue_words(examples)
    assert {label: {cue.word for cue in cues} for label, cues in cues_by_label.items()} == CUES
    return cues_by_label


def test_a_label_that_is_no_class_is_refused():
    with pytest.raises(BadInput, match="no class of the model"):
        grouped([seen("a lovely film", "lovely", "splendid")], cues_of(cue_lists()))


def test_cue_words_are_log_odds_with_the_formulas_prior():
    examples = [
        *[Example(("good good film",), "up")] * 6,
        *[Example(("bad film",), "down")] * 5,
        Example(("good",), "down"),
    ]
    cues = cue_words(examples, min_count=1)
    counts = {"up": {"good": 6, "film": 6}, "down": {"bad": 5, "film": 5, "good": 1}}  # once a text
    every = {"good": 7, "film": 11, "bad": 5}
    for label, other, word in (("up", "down", "good"), ("down", "up", "bad")):
        prior = {w: 3 * count / 23 for w, count in every.items()}
        terms = []
        for side in (label, other):
            count, total = counts[side].get(word, 0) + prior[word], sum(counts[side].values()) + 3
            terms.append((math.log(count / (total - count)), 1 / count))
        [cue] = cues[label]
        assert cue.word == word
        assert cue.log_odds == pytest.approx(terms[0][0] - terms[1][0])
        assert cue.z == pytest.approx(cue.log_odds / math.sqrt(terms[0][1] + terms[1][1]))
    assert cue_words(examples, min_count=7) == {"down": (), "up": ()}


def test_cues_need_two_classes():
    with pytest.raises(BadInput, match="1 of them"):
        cue_words([Example(("good",), "up"), Example(("bad",))])
    with pytest.raises(BadSetting, match="min_count"):
        cue_words([], min_count=0)


@pytest.mark.parametrize(("count", "of"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (116, 200), (1, 2210)])
def test_intervals_of_shares_are_those_of_scipy(count, of):
    bounds = binomtest(count, of).proportion_ci(0.95, method="wilson")
    assert (share(count, of).low, share(count, of).high) == pytest.approx((bounds.low, bounds.high), abs=1e-12)


def test_intervals_of_shares_and_of_their_difference():
    """Newcombe (1998), Table II, example (a): 56 of 70 against 48 of 80, method 10."""
    over = difference(share(56, 70), share(48, 80))
    assert (round(over.low, 4), round(over.high, 4)) == (0.0524, 0.3339)
    assert share(0, 10).low == 0 and 0.2 < share(0, 10).high < 0.3
    assert math.isnan(share(0, 0).mean) and math.isnan(difference(share(0, 0), share(1, 2)).low)


def test_a_model_is_analysed_from_its_texts(self_explaining):
    train, test = pellucid.examples("pocket", "train")[:60], pellucid.examples("pocket", "test")[:8]
    analysis = pellucid.error_analysis(self_explaining, test, train=train, min_count=2)
    assert analysis.wrong + analysis.right == 8
    assert sum(map(len, analysis.texts.values())) == analysis.wrong > 0
    assert all("spread over half" in caveat for caveat in analysis.caveats)
    foreign = [replace(one, label=one.label[:3]) for one in train]
    with pytest.raises(BadInput, match="no classes of the model"):
        pellucid.error_analysis(self_explaining, test, train=foreign)
    other = pellucid.error_analysis(self_explaining, test, train=[*train, *test[:3]], min_count=2)
    assert "Cue words were learnt from 3 of the 8 texts themselves" in other.caveats[0]
    assert other.record()["caveats"] == list(other.caveats) and "Caution: Cue words" in str(other)


def scored(text, **scores):
    """An explanation of one score a word, 0 where no score is named."""
    plain = explanation_of(text, "occlusion", label="positive", labels=LABELS, probabilities=(0.1, 0.1, 0.8))
    return replace(plain, scores=np.array([scores.get(word, 0.0) for word in plain.units.labels]))


@pytest.mark.parametrize(
    ("pattern", "text", "scores", "shown"),
    [
        (contrast_outside, "dull but lovely film", {"dull": 2.0, "but": 1.0, "film": -1.0}, False),
        (contrast_outside, "dull but lovely film", {"dull": 2.0, "film": 1.0}, True),
        (negation_cut_off, "it is not so good", {"good": 1.0}, True),
        (negation_cut_off, "it is not so good", {"good": 1.0, "not": 0.5}, False),
        (negation_cut_off, "it is not so very good", {"good": 1.0}, False),
        (cue_of_another_class, "dull then lovely", {"dull": 1.0}, True),
        (cue_of_another_class, "dull then lovely", {"dull": 1.0, "lovely": 0.5}, False),
        (no_cue, "dull then lovely", {"then": 1.0, "dull": -1.0}, True),
    ],
)
def test_of_a_score_a_word_the_words_that_speak_for_the_answer_are_evidence(pattern, text, scores, shown):
    assert pattern(evidence_of(scored(text, **scores), CUES)) == shown


def test_at_most_three_words_are_evidence_and_none_that_speaks_against():
    explanation = scored("one two three four five", one=1.0, two=4.0, three=3.0, four=2.0, five=-9.0)
    assert [part.text for part in evidence_parts(explanation)] == ["two", "three", "four"]
    assert evidence_parts(scored("one two", one=-1.0)) == []
    assert evidence_of(scored("one two", one=-1.0), CUES) is None


@pytest.mark.parametrize("method", [None, "occlusion"])
def test_any_model_is_analysed_by_any_method(bert, method):
    test = [replace(one, label=bert.labels[len(one.text) % 2]) for one in pellucid.examples("pocket")[:12]]
    analysis = pellucid.error_analysis(bert, test, method=method, min_count=1)
    assert analysis.method == (method or "integrated_gradients")
    assert analysis.wrong + analysis.right == 12 and analysis.caveats == (HALVES,)
    explained = {one.example.id: one for one in pellucid.explain(bert, test, analysis.method)}
    wrong = {one.example.id for one in explained.values() if one.prediction.label != one.example.label}
    assert {one.example.id for texts in analysis.texts.values() for one in texts} == wrong
    assert f"according to {readable(analysis.method)}" in str(analysis).replace("\n", " ")
    assert not analysis.heaviest.texts and analysis.record()["method"] == analysis.method


def test_a_texts_cue_words_come_from_the_other_half():
    examples = [Example((f"{word} {number}",), label) for number in range(40) for word, label in PAIRS]
    cues = cues_from(None, examples, min_count=2)
    assert cues.exist and cues.caveats == (HALVES,)
    for example in examples:
        other = [one for one in examples if half(one) != half(example)]
        expected = {label: {cue.word for cue in words} for label, words in cue_words(other, 2).items()}
        assert cues.of_example(example) == expected


PAIRS = (("dull", "negative"), ("lovely", "positive"))


def half(example):
    return int(text_digest(example), 16) % 2


def test_without_enough_texts_patterns_of_cue_words_are_left_out():
    texts = [seen("a dull film", "dull", "positive", "negative")]
    cues = cues_from(None, [one.example for one in texts], min_count=1)
    analysis = grouped(texts, cues)
    assert [pattern.name for pattern in analysis.patterns] == [
        "contrast_outside",
        "negation_cut_off",
        "none_of_these",
    ]
    assert analysis.caveats == (TOO_FEW,) and "Cue words\n" not in str(analysis)
    assert [section.heading for section in error_analysis_sections(analysis)][-1] != "Cue words"


def test_classes_without_cue_words_have_no_patterns_of_cue_words():
    examples = [Example((f"the same words {number}",), label) for number in range(40) for label in LABELS[:2]]
    cues = cues_from(examples, examples[:2], min_count=5)
    assert list(cues.by_class) == ["negative", "neutral"] and not cues.exist
    analysis = grouped([seen("a dull film", "dull")], cues)
    assert "no_cue" not in {pattern.name for pattern in analysis.patterns}


def test_texts_seen_in_training_are_counted_in_a_caveat(self_explaining):
    train, test = pellucid.examples("pocket", "train")[:40], pellucid.examples("pocket", "test")[:6]
    knowing = replace(self_explaining, trained_texts=frozenset(map(text_digest, [*train, test[0]])))
    analysis = pellucid.error_analysis(knowing, test, train=train, min_count=2)
    assert analysis.caveats[0].startswith("1 of 6 texts were in the train or dev part")
    assert "1 of 6 texts were in" in error_analysis_sections(analysis)[0].body.text


def test_spans_that_decided_nothing_are_counted_in_a_caveat():
    train, test = pellucid.examples("pocket", "train")[:40], pellucid.examples("pocket", "test")[:6]
    analysis = pellucid.error_analysis(tiny_composed("span", weights="uniform"), test, train=train, min_count=2)
    assert "In 6 of 6 texts the weight is spread over half of all spans or more" in analysis.caveats[0]


def test_a_record_is_json_where_there_is_nothing_to_count():
    record = grouped([seen("a lovely film", "lovely", "positive", "positive")], cues_of(cue_lists())).record()
    assert record["wrong"] == 0 and record["patterns"][0]["share_wrong"]["mean"] is None
    json.dumps(record, allow_nan=False)


def test_a_model_of_several_labels_a_text_is_refused():
    model, train = tiny_composed("span", problem="multi_label"), pellucid.examples("pocket", "train")[:9]
    with pytest.raises(ModelCannot, match=r"one label a text\. Give a single-label model"):
        pellucid.error_analysis(model, train, train=train)


def test_texts_without_a_label_are_counted_before_the_work(bert):
    texts = [Example(("A fine day.",), bert.labels[0], id="a"), Example(("A grey day.",), id="b")]
    with pytest.raises(BadInput, match=r"1 of 2 texts have no label \(b\)"):
        pellucid.error_analysis(bert, texts, method="occlusion", progress=False)


def test_a_method_with_several_scores_a_word_is_refused(bert):
    with pytest.raises(BadSetting, match="chance gives 20 scores a word, one for each draw"):
        pellucid.error_analysis(bert, [("A fine day.", bert.labels[0])] * 3, method="chance", progress=False)


def test_a_model_of_values_is_refused():
    model = tiny_classifier("bert", ("LABEL_0",), problem_type="regression")
    with pytest.raises(ModelCannot, match="gives a value, which is not right or wrong"):
        pellucid.error_analysis(model, [("A fine day.", "1")], method="occlusion", progress=False)
