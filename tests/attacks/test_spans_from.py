"""Spans that another model's extractor found, in place of those that an attack would find itself."""

import pytest

import pellucid
from pellucid.attacks.apertium.modes import installed_pivots
from pellucid.base.errors import BadInput, BadSetting

TEXTS = ["The film was a good one, and it was long.", "So good a day."]


def answer_by(word):
    def answer(texts):
        values = [0.2 + 0.5 * (word in text) for text in texts]
        return [[1 - value, value] for value in values]

    return answer


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer_by("good"), ["negative", "positive"])


@pytest.fixture(scope="module")
def extractions(model):
    return pellucid.extract(model, TEXTS, "occlusion", budget=1, progress=False)


def attacked(model, texts=TEXTS, attack="span_paraphrase", **settings):
    return pellucid.attack(model, texts, attack, progress=False, **settings)


@pytest.mark.skipif("spanish" not in installed_pivots(), reason="Debian's package apertium-eng-spa is not installed")
def test_the_edits_lie_in_the_spans_and_finding_them_costs_nothing(model, extractions, tmp_path):
    other = pellucid.from_function(answer_by("long"), ["negative", "positive"])
    pellucid.write_json_lines([one.as_example() for one in extractions], tmp_path / "spans.jsonl")
    own = attacked(model)
    for source in (extractions, tmp_path / "spans.jsonl", str(tmp_path / "spans.jsonl")):
        for victim in (model, other):
            for one, extraction in zip(attacked(victim, spans_from=source), extractions, strict=True):
                (span,) = extraction.spans
                assert all((edit.start, edit.end) == (span.start, span.end) for edit in one.edits)
    assert all(
        one.queries < before.queries for one, before in zip(attacked(model, spans_from=extractions), own, strict=True)
    )


def test_spans_of_other_texts_or_for_words_are_refused(model, extractions):
    with pytest.raises(BadInput, match="has no spans of the text 'Dull"):
        attacked(model, ["Dull."], spans_from=extractions)
    with pytest.raises(BadSetting, match="deepwordbug edits words"):
        attacked(model, attack="deepwordbug", spans_from=extractions)
