"""`pellucid.extract`: the extractors' formulas, their settings, and data sets of spans that are read back."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.results.extraction import extraction_in
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.trace import Want
from tests.reference import extraction as slow
from tests.shared.tiny import corpus, tiny_composed

LABELLED = [
    pellucid.Example(("A gripping, lovely film.",), "positive", id="a"),
    pellucid.Example(("fine",), "neutral", id="b"),
    pellucid.Example(("The café was closed on Monday.", "Nobody could eat there, it seems."), "negative", id="c"),
    pellucid.Example(("Long, winding and in the end rather dull. Avoid!",), "negative", id="d"),
]


@pytest.mark.parametrize("unit", ("word", "piece"))
def test_a_rationale_is_the_words_that_were_read(unit):
    """Of selected pieces, the words that hold one: their probabilities do not add up to that of the word."""
    model = tiny_composed("rationale", unit=unit)
    texts = corpus()[:12]
    explanations, extractions = (
        pellucid.explain(model, texts, "rationale"),
        pellucid.extract(model, texts, "rationale"),
    )
    for explanation, extraction in zip(explanations, extractions, strict=True):
        words = explanation.words().units
        if explanation.runs():  # where nothing was read, the extractor takes the best word
            assert _touched(words, extraction.spans) == _touched(words, explanation.runs())


def _touched(words, spans):
    return {n for n in words.content for span in spans if words.start[n] < span.end and words.end[n] > span.start}


def test_span_attention_takes_the_spans_that_the_explanation_ranks_first(self_explaining):
    text = LABELLED[3]
    explanation = pellucid.explain(self_explaining, text, "span_attention")[0]
    for n_spans in (1, 3):
        (extraction,) = pellucid.extract(self_explaining, text, n_spans=n_spans)
        best = sorted(explanation.spans(n_spans), key=lambda span: span.start)
        assert [(span.start, span.end, span.score) for span in extraction.spans] == [
            (span.start, span.end, span.score) for span in best
        ]


def test_average_gradient_is_the_l1_norm_of_the_gold_probability_by_finite_differences(bert):
    """S0-13, every entry of every embedding moved by hand."""
    text = LABELLED[0]
    table = bert.network.get_input_embeddings().weight
    (row,) = bert.encode([text]).rows
    gold = bert.labels.index(text.label)
    (explained,) = pellucid.explain(bert, text, "gradient", target="gold", output="probability", norm="l1")
    with torch.no_grad():
        rare = [n for n in range(len(row.ids)) if row.ids.count(row.ids[n]) == 1][1:3]
        vectors = [table[row.ids[n]] for n in rare]
        differences = slow.gradient_of_probability(
            lambda: float(bert.trace([row]).logits.double().softmax(-1)[0, gold]), vectors
        )
    np.testing.assert_allclose(explained.scores[rare], differences, rtol=0.05)
    assert pellucid.extract(bert, text, "average_gradient", selection="literal")[0].spans[0].score == pytest.approx(
        explained.words().scores[~explained.words().special].max()
    )


def test_average_attention_is_the_first_pieces_row_without_specials_scaled_to_one(bert):
    """A0.11."""
    text = LABELLED[0]
    weights = bert.trace(bert.encode([text]).rows, Want(attention=True)).attention[-1][0]
    row = weights.mean(0)[0].detach().numpy()[1:-1]  # [CLS] looks at the text; [CLS] and [SEP] left out
    extraction = pellucid.extract(bert, text, "average_attention", budget=1.0)[0]
    assert extraction.coverage == 1
    assert extraction.spans[0].score * extraction.n_words == pytest.approx(1)  # the mean over words of what sums to 1
    best = pellucid.extract(bert, text, "average_attention", selection="literal")[0].spans[0]
    words = bert.encode([text]).rows[0].word_index[1:-1]
    by_word = [row[[n for n, word in enumerate(words) if word == w]].sum() for w in dict.fromkeys(words)]
    assert best.score == pytest.approx(max(by_word) / row.sum(), rel=1e-4)


def test_lengths_are_those_of_the_other_extraction(self_explaining):
    like = pellucid.extract(self_explaining, LABELLED, n_spans=2)
    for name in ("average_gradient", "random_span_of_length"):
        extractions = pellucid.extract(self_explaining, LABELLED, name, like=like)
        assert [one.coverage for one in extractions] == [one.coverage for one in like]


def test_any_attribution_method_is_an_extractor(bert):
    extractions = pellucid.extract(bert, LABELLED, "occlusion", budget=2, operator="mask")
    assert [len(one.spans[0].words) for one in extractions] == [2, 1, 2, 2]
    assert extractions[0].settings["operator"] == "mask" and extractions[0].extractor == "occlusion"


def test_random_spans_change_with_the_seed_and_cover_a_third(self_explaining):
    text = "one two three four five six seven eight nine ten eleven twelve"
    shares = [pellucid.extract(self_explaining, text, "random_span", seed=seed)[0].coverage for seed in range(60)]
    assert len(set(shares)) > 5
    # of 12 words the mean length of all spans is (12 + 2) / 3
    assert np.mean(shares) == pytest.approx(14 / 3 / 12, abs=0.08)


def test_a_data_set_of_spans_is_written_and_read_back_equal(self_explaining, tmp_path):
    extractions = pellucid.extract(self_explaining, LABELLED, n_spans=2)
    marked = [replace(one, example=replace(one.example, meta={"source": "x"})) for one in extractions]
    pellucid.write_json_lines([one.as_example(" / ") for one in marked], tmp_path / "train.jsonl")
    read = pellucid.examples(tmp_path, "train")
    assert read == [one.as_example(" / ") for one in marked]
    assert [extraction_in(one) for one in read] == marked
    assert [one.label for one in read] == [one.label for one in LABELLED]
    assert all(len(one.segments) == len(other.segments) for one, other in zip(read, LABELLED, strict=True))


def test_neighbouring_spans_are_joined_as_they_stood_and_others_by_the_separator(bert):
    text = "alpha beta gamma delta"
    (whole,) = pellucid.extract(bert, text, "random_span_of_length", budget=4, n_spans=2)
    assert whole.texts(" | ") == (text,)
    (apart,) = pellucid.extract(bert, text, "random_span_of_length", budget=2, n_spans=2, seed=3)
    assert len(apart.spans) == 2
    near = apart.spans[0].words.stop == apart.spans[1].words.start
    assert apart.texts(" | ")[0].count(" | ") == (0 if near else 1)


def test_random_words_are_as_many_as_the_best_ones_and_neighbours_are_one_span(bert):
    text = " ".join(f"word{number}" for number in range(12))
    how = {"selection": "best_words", "budget": 6}
    sizes = set()
    for seed in range(8):
        (extraction,) = pellucid.extract(bert, text, "random_span_of_length", seed=seed, **how)
        assert sum(len(span.words) for span in extraction.spans) == 6
        assert all(one.words.stop < other.words.start for one, other in pairwise(extraction.spans))
        sizes.add(len(extraction.spans))
    assert len(sizes) > 1


def test_a_field_of_the_users_is_not_overwritten(bert):
    example = replace(LABELLED[0], meta={"original": "https://a.site", "year": 1999})
    (extraction,) = pellucid.extract(bert, [example], "average_gradient")
    with pytest.raises(BadInput, match="names original, which an extraction keeps there; rename it"):
        extraction.as_example()
    (once,) = pellucid.extract(bert, LABELLED[:1], "average_gradient", budget=0.5)
    (again,) = pellucid.extract(bert, [once.as_example()], "average_gradient", budget=0.5)
    assert again.as_example().meta["original"] == list(once.as_example().segments)


def test_the_whole_text_is_the_text(bert):
    extractions = pellucid.extract(bert, LABELLED, "average_gradient", budget=1.0)
    assert [one.as_example().segments for one in extractions] == [one.segments for one in LABELLED]


def test_a_text_without_words_stays_as_it_is(bert):
    (extraction,) = pellucid.extract(bert, [("fine", "\u200b")], "random_span")
    assert extraction.as_example().segments == ("fine", "\u200b")


@pytest.mark.parametrize(
    ("extractor", "settings", "error", "message"),
    [
        ("span_attentoin", {}, UnknownName, "Did you mean 'span_attention'"),
        ("span_attention", {}, ModelCannot, "no span weights"),
        ("occlusion", {"selection": "top_spans"}, BadSetting, "not spans"),
        ("random_span", {"budget": 3}, BadSetting, "random_span takes the selections top_spans"),
        ("chance", {}, BadSetting, "several rows"),
        ("average_gradient", {"norm": "l2"}, UnknownName, "No setting of average_gradient"),
        ("average_gradient", {"like": []}, BadInput, "0 extractions for 4 examples"),
    ],
)
def test_what_cannot_be_is_refused_in_words(bert, extractor, settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.extract(bert, LABELLED, extractor, **settings)


def test_extractions_of_other_texts_are_refused(bert):
    like = pellucid.extract(bert, LABELLED[::-1], "random_span")
    with pytest.raises(BadInput, match="not of the same texts"):
        pellucid.extract(bert, LABELLED, "random_span_of_length", like=like)


def test_an_ordinary_example_holds_no_extraction():
    with pytest.raises(BadInput, match="holds no extraction"):
        extraction_in(LABELLED[0])


def test_a_text_of_several_labels_needs_a_target_that_is_no_label():
    model = tiny_composed("span", problem="multi_label")
    example = pellucid.Example(("a fine film",), f"{model.labels[0]}, {model.labels[1]}", id="both")
    with pytest.raises(BadInput, match=r"'both' has 2 labels: .* Give target='predicted' or one of the classes"):
        pellucid.extract(model, [example], "average_gradient")
    for target in ("predicted", model.labels[1]):
        assert pellucid.extract(model, [example], "average_gradient", target=target)[0].spans


@pytest.mark.parametrize("within", (None, 0.02))
def test_enough_words_give_the_answer_and_one_fewer_does_not(bert, within):
    """Literally: each number of the best words is read by the model's own edit, and the first that is enough is taken."""
    for extraction in pellucid.extract(bert, LABELLED, "occlusion", selection="enough", within=within):
        batch = bert.encode([extraction.example])
        scores = pellucid.explain(bert, extraction.example, "occlusion")[0].view("word")
        pieces, n_segments = batch.pieces_of(0, "word"), len(extraction.example.segments)
        of_words = scores.scores[~scores.special]

        def alone(words, batch=batch, pieces=pieces):
            row = batch.edited(0, [one for n, of in enumerate(pieces) if n not in words for one in of], "absent")
            logits = evaluate_rows(bert, scheduler_for(bert), [row])[0]
            return logits.double().softmax(-1)

        whole = alone(range(len(pieces)))

        def enough(words, whole=whole, alone=alone):
            answer, label = alone(words), whole.argmax()
            return bool(answer.argmax() == label) and abs(float(answer[label] - whole[label])) <= (within or 1.0)

        selected = sorted({word for span in extraction.spans for word in span.words})
        assert enough(selected) and len(selected) >= n_segments
        by_score = sorted(selected, key=lambda word, of_words=of_words: -of_words[word])
        assert len(selected) == n_segments or not enough(by_score[:-1])
        assert extraction.settings.get("within") == within


def test_enough_needs_a_class_and_within_needs_enough(bert):
    with pytest.raises(BadSetting, match="within= belongs to selection='enough'; 'best_words' came"):
        pellucid.extract(bert, LABELLED[0], "occlusion", selection="best_words", budget=2, within=0.1)
    value = pellucid.from_function(
        lambda texts: [[float(len(text))] for text in texts], ["length"], problem="regression"
    )
    with pytest.raises(BadSetting, match="gives no class; choose another selection"):
        pellucid.extract(value, LABELLED[0], "occlusion", selection="enough")
