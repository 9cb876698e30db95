"""Counts of heaviest spans over many texts, in all commands that report them: training, spans, errors, compare."""

import json
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.comparison.judged_part import JudgedPart
from pellucid.data.load import load_examples
from pellucid.explaining.report import write_page as report
from pellucid.models.composed.composed import load_composed
from pellucid.results.heaviest_spans import HeaviestSpans, analysed_heaviest, heaviest_spans
from pellucid.text.example import Example
from pellucid.text.lexicon import words_with_content
from pellucid.training.trained_folder import TrainedFolder
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import save_encoder, trained

CONTENT = "film book tent goat song heron scone train door lamp soup rain".split()
LABELS = ("negative", "neutral", "positive")
TEXTS = [  # most spans of one word say nothing
    Example((f"It is the {word}, and {other} of it .",), LABELS[number % 3], id=f"{word} {other}")
    for number, (word, other) in enumerate((word, other) for word in CONTENT for other in CONTENT[:2])
]


@pytest.fixture(scope="module")
def models():
    """One model that can put all its weight on a single word, and one that cannot."""
    return tiny_composed("span", max_width=1), tiny_composed("span", max_width=1, spans="with_content")


def on(text, start, end):
    """An explanation with all the weight on these characters."""
    (explanation,) = ask(tiny_composed("span"), [text], "span_attention")
    places = [explanation.units.characters(number)[1:] for number in range(len(explanation.units))]
    return replace(explanation, scores=np.array([float(place == (start, end)) for place in places]))


@pytest.mark.parametrize(("start", "end", "bare"), [(14, 15, 1), (0, 5, 1), (8, 14, 0), (0, 15, 0)])
def test_a_span_is_counted_by_the_words_that_it_touches(start, end, bare):
    text = "It is a filmed."
    counted = heaviest_spans([on(text, start, end)])
    assert (counted.texts, counted.without_content) == (1, bare)


def test_a_span_may_begin_inside_a_word():
    assert words_with_content("It is amazing.", 8, 13)  # "azing"
    assert words_with_content("It is amazing.", 6, 7)  # its "a" is no article
    assert not words_with_content("It is amazing.", 3, 6) and not words_with_content("It is amazing.", 13, 14)


def test_texts_that_say_nothing_and_even_weights_are_not_counted():
    assert heaviest_spans([on("It is the one .", 0, 2)]).texts == 1
    assert heaviest_spans([on("It is and it was .", 0, 2)]).texts == 0
    even = on("It is a film .", 0, 2)
    assert heaviest_spans([replace(even, scores=np.ones(len(even.units)))]).texts == 0
    assert heaviest_spans(ask(tiny_composed("span"), ["A film."], "gradient")).texts == 0


@pytest.mark.parametrize(
    ("counts", "collapsed", "random"),
    [
        (HeaviestSpans(20, 6, 20, 15.0, 10.0), True, False),
        (HeaviestSpans(20, 5, 20, 10.0, 10.0), False, True),
        (HeaviestSpans(19, 19, 19, 0.0, 10.0), False, False),  # too few to tell
        (HeaviestSpans(), False, False),
    ],
)
def test_the_level_is_a_quarter_of_twenty_texts(counts, collapsed, random):
    assert (counts.collapsed, counts.says_no_more_than_random) == (collapsed, random)
    cautions = " ".join(counts.cautions())
    assert ("collapsed: in 6 of 20 texts" in cautions) == collapsed
    assert ("no more than random ones" in cautions) == random
    assert sum([counts, counts], HeaviestSpans()).without_content == 2 * counts.without_content


def test_all_that_is_shown_of_a_model_says_it(models, tmp_path):
    collapsed, sound = models
    for model, due in ((collapsed, True), (sound, False)):
        analyses = pellucid.spans(model, TEXTS, k=1, random_spans=2, progress=False)
        page = report(analyses, path=tmp_path / "spans.html").read_text(encoding="utf-8")
        errors = pellucid.error_analysis(model, TEXTS, train=load_examples("pocket", "train"), progress=False)
        table = pellucid.compare(model, TEXTS, ["span_attention"], ["sufficiency"], resamples=10, progress=False)
        for shown in (page, str(errors), " ".join(table.caveats), " ".join(errors.caveats)):
            assert ("have collapsed" in shown) == due
        assert analysed_heaviest(analyses).collapsed == due
        assert "has a content word in" in page and "has a content word in" in str(errors)
        for share in (errors.record()["heaviest_spans"], table.about["heaviest_spans"]):
            assert share["heaviest_without_content"] == analysed_heaviest(analyses).share_without_content
            assert 0 <= share["alone_agrees"] <= 1 and 0 <= share["random_agrees"] <= 1
        assert [one.record()["heaviest_has_content"] for one in analyses].count(False) == (
            analysed_heaviest(analyses).without_content
        )


def test_the_method_says_it_of_one_text(models):
    caveats_of_texts = [one.caveats for one in ask(models[0], [one.text for one in TEXTS], "span_attention")]
    bare = [any("it names no reason" in caveat for caveat in caveats) for caveats in caveats_of_texts]
    assert sum(bare) == heaviest_spans(ask(models[0], [one.text for one in TEXTS], "span_attention")).without_content


def test_parts_of_a_comparison_keep_it_and_those_of_earlier_versions_are_read(tmp_path):
    path = tmp_path / "0.json"
    JudgedPart({}, 1, 2, HeaviestSpans(4, 1, 4, 3.0, 1.5)).save(path)
    assert JudgedPart.read(path).heaviest == HeaviestSpans(4, 1, 4, 3.0, 1.5)
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["heaviest"], record["seal"]  # files of that version have neither
    path.write_text(json.dumps(record), encoding="utf-8")
    assert JudgedPart.read(path).heaviest == HeaviestSpans()
    path.write_text(json.dumps({**record, "heaviest": {"texts": "many"}}), encoding="utf-8")
    with pytest.raises(
        pellucid.BadFile if hasattr(pellucid, "BadFile") else Exception, match="is no part of a comparison"
    ):
        JudgedPart.read(path)


@pytest.mark.whole
def test_training_looks_at_it_after_each_epoch_and_the_folder_knows_it(tmp_path):
    encoder = save_encoder(tmp_path / "encoder")
    trained(encoder, tmp_path / "model", epochs=2)
    lines = [json.loads(line) for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        assert 0 <= line["heaviest_without_content"] <= 1
        assert {"alone_agrees", "random_agrees"} <= line.keys()
    counts = TrainedFolder(tmp_path / "model").heaviest_spans
    assert counts.texts == 12
    assert counts.record() in [{name: line[name] for name in counts.record()} for line in lines]
    trained(encoder, tmp_path / "plain", pooler="mean", epochs=1)
    assert TrainedFolder(tmp_path / "plain").heaviest_spans == HeaviestSpans()
    assert load_composed(tmp_path / "model").labels == LABELS


@pytest.mark.whole
def test_looking_at_the_spans_changes_no_bit_of_the_training(tmp_path, monkeypatch):
    encoder = save_encoder(tmp_path / "encoder")
    trained(encoder, tmp_path / "seen", epochs=2)
    for place in ("pellucid.training.loop.spans_on_dev", "pellucid.training.train.spans_on_dev"):
        monkeypatch.setattr(place, lambda *_: HeaviestSpans())
    trained(encoder, tmp_path / "unseen", epochs=2)
    weights = [(tmp_path / folder / "model.safetensors").read_bytes() for folder in ("seen", "unseen")]
    assert weights[0] == weights[1]
