"""Span attention's own check: the heaviest span read alone, and random spans of its length."""

from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.run.target import class_probabilities
from tests.shared.tiny import tiny_composed

TEXT = "A gripping, lovely film that I liked a lot."


def alone(model, example, words):
    """[class] probabilities of the model on these words, the others absent."""
    batch = model.encode([example])
    every = batch.pieces_of(0, "word")
    removed = [piece for number, pieces in enumerate(every) if number not in words for piece in pieces]
    logits = model.trace([batch.edited(0, removed, "absent")]).logits.detach().double()
    return class_probabilities(logits, model.problem)[0].numpy()


def test_the_heaviest_span_and_all_others_of_its_length_are_read_alone(self_explaining):
    [explanation] = pellucid.explain(self_explaining, TEXT, method="span_attention", random_spans=99)
    spans, best = explanation.units, int(explanation.scores.argmax())
    number_of = {part: number for number, part in enumerate(spans.parts.content)}
    first, last = number_of[int(spans.first[best])], number_of[int(spans.last[best])]
    predicted, size = explanation.prediction.labels.index(explanation.prediction.label), last - first + 1
    probabilities = alone(self_explaining, explanation.example, range(first, last + 1))
    assert explanation.diagnostics["alone_probability"] == pytest.approx(probabilities[predicted], abs=1e-6)
    assert explanation.diagnostics["alone_agrees"] == (probabilities.argmax() == predicted)
    others = [
        alone(self_explaining, explanation.example, range(start, start + size)).argmax() == predicted
        for start in range(len(number_of) - size + 1)
        if start != first
    ]
    assert explanation.diagnostics["random_agrees"] == pytest.approx(np.mean(others))
    assert any("Read alone" in caveat for caveat in explanation.caveats) == (probabilities.argmax() != predicted)


def test_all_spans_that_the_answer_uses_are_read_together():
    model = tiny_composed("span", n_heaviest=2, max_width=2)
    [explanation] = pellucid.explain(model, TEXT, method="span_attention", random_spans=99)
    spans, number_of = (
        explanation.units,
        {part: number for number, part in enumerate(explanation.units.parts.content)},
    )
    used = np.flatnonzero(explanation.scores)
    assert len(used) == 2
    words = {
        word for one in used for word in range(number_of[int(spans.first[one])], number_of[int(spans.last[one])] + 1)
    }
    probabilities = alone(model, explanation.example, words)
    predicted = explanation.prediction.labels.index(explanation.prediction.label)
    assert explanation.diagnostics["alone_probability"] == pytest.approx(probabilities[predicted], abs=1e-6)
    heaviest = alone(model, explanation.example, [*words][:1])
    assert explanation.diagnostics["alone_probability"] != pytest.approx(heaviest[predicted], abs=1e-6)
    assert 0 <= explanation.diagnostics["random_agrees"] <= 1
    (analysis,) = pellucid.spans(model, TEXT, k=1, random_spans=99, progress=False)
    assert analysis.explanation.diagnostics["alone_probability"] == pytest.approx(
        explanation.diagnostics["alone_probability"], abs=1e-6
    )
    [one] = pellucid.explain(model, "fine", method="span_attention")
    assert one.diagnostics["alone_agrees"] == 1 and "random_agrees" not in one.diagnostics


def test_effective_numbers_count_the_spans_that_hold_the_weight(self_explaining):
    [explanation] = pellucid.explain(self_explaining, TEXT, method="span_attention")
    weights = explanation.scores.astype(float)
    assert explanation.diagnostics["effective_spans"] == pytest.approx(1 / (weights**2).sum(), rel=1e-4)
    positive = weights[weights > 0]
    assert explanation.diagnostics["entropy_spans"] == pytest.approx(
        np.exp(-(positive * np.log(positive)).sum()), rel=1e-4
    )


def test_nothing_is_read_alone_at_zero_and_one_word_has_no_other(self_explaining):
    [quiet] = pellucid.explain(self_explaining, TEXT, method="span_attention", random_spans=0)
    assert not {"alone_agrees", "random_agrees"} & {*quiet.diagnostics}
    [one] = pellucid.explain(self_explaining, "fine", method="span_attention")
    assert one.diagnostics["alone_agrees"] == 1 and "random_agrees" not in one.diagnostics


def test_a_long_text_tells_of_its_worst_window(self_explaining):
    [explanation] = pellucid.explain(replace(self_explaining, window=12), TEXT * 3, method="span_attention")
    assert explanation.diagnostics["windows"] > 1
    assert explanation.diagnostics["alone_agrees"] in (0, 1)
