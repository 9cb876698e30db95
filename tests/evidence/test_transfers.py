"""Transfers and the label-leak probe, with real trainings of a small kind: words counted, logistic regression."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.base.errors import BadInput
from pellucid.evidence.transfers import WAYS, one_run, transfers
from pellucid.explaining.planting import features, label_leak


@pytest.fixture(scope="module")
def full():
    sizes = {"train": 200, "dev": 10, "test": 80}
    return {part: pellucid.examples("pocket", part)[:size] for part, size in sizes.items()}


def cut_by(model, full, extractor, **settings):
    return {part: pellucid.extract(model, texts, extractor, **settings) for part, texts in full.items()}


def words_counted(parts, seed):
    """A trainer: a bag of words and a logistic regression."""
    model = make_pipeline(CountVectorizer(), LogisticRegression(random_state=seed))
    model.fit([one.text for one in parts["train"]], [one.label for one in parts["train"]])
    return lambda examples: (
        model.predict([one.text for one in examples]) == np.array([one.label for one in examples])
    ).tolist()


def test_a_rationale_that_is_the_whole_text_gains_exactly_full_accuracy(bert, full):
    """Property 5."""
    learnt = {**full, "test": full["train"][:80]}  # pocket is made so that counting words does not carry over
    cut = cut_by(bert, learnt, "random_span_of_length", budget=1.0)
    over_runs = transfers(learnt, [cut] * 2, words_counted)
    assert over_runs.coverage == 1
    assert len({over_runs.accuracy[way] for way in WAYS}) == 1
    assert over_runs.accuracy["F-F"].mean > 0.9
    assert all(over == over_runs.over_full["F-S"] and over.mean == 0 for over in over_runs.over_full.values())


def test_the_first_letter_is_what_it_is_trained_on(full, bert):
    """A trainer whose models tell by the number of right answers what they were trained and tested on."""
    texts = {one.segments for part in full.values() for one in part}
    counts = {(True, True): 40, (True, False): 10, (False, True): 20, (False, False): 30}

    def telling(parts, seed):
        trained_on_full = parts["train"][0].segments in texts
        return lambda examples: [
            number < counts[trained_on_full, examples[0].segments in texts] for number in range(len(examples))
        ]

    cut = cut_by(bert, full, "random_span_of_length", budget=2)
    run = one_run(full, cut, telling, 0)
    assert {way: sum(right) for way, right in run.items()} == {"F-F": 40, "F-S": 10, "S-F": 20, "S-S": 30}
    over_runs = transfers(full, [cut], telling)
    assert over_runs.over_full["F-S"].mean == pytest.approx((10 - 40) / 80) and over_runs.words == 2
    assert over_runs.coverage == pytest.approx(np.mean([one.coverage for one in cut["test"]]))


def test_extractions_of_other_texts_are_refused(full, bert):
    cut = cut_by(bert, full, "random_span")
    with pytest.raises(BadInput, match="extractions of dev are not of its texts"):
        transfers(full, [{**cut, "dev": cut["dev"][::-1]}], words_counted)


def by_label(model, examples, lengths):
    """Spans whose length tells the label: what an extractor that knows it could do."""
    return [pellucid.extract(model, one, "random_span_of_length", budget=lengths[one.label])[0] for one in examples]


def test_a_cut_that_tells_the_label_leaks_and_a_blind_one_does_not(full, bert):
    train, test = full["train"][:120], full["test"]
    lengths = {"negative": 1, "neutral": 3, "positive": 5}
    open_secret = label_leak(by_label(bert, train, lengths), by_label(bert, test, lengths))
    assert open_secret.leaks and open_secret.accuracy.mean > 0.9
    one_word = dict.fromkeys(lengths, 1)
    blind = label_leak(by_label(bert, train, one_word), by_label(bert, test, one_word))
    assert not blind.leaks and blind.accuracy.mean < 0.6


def test_the_probe_sees_no_word(bert):
    first, second = (
        pellucid.extract(bert, [text], "random_span_of_length", budget=1.0)[0]
        for text in ("good, very good!", "evil, most evil!")
    )
    assert features(first) == features(second)
    assert features(first)["0 words"] == 5 and features(first)["0 !"] == 1


def test_the_probe_needs_labels(bert, full):
    extractions = pellucid.extract(bert, full["dev"], "random_span")
    same = [replace(one, example=replace(one.example, label="a")) for one in extractions]
    with pytest.raises(BadInput, match="two labels or more"):
        label_leak(same, extractions)
