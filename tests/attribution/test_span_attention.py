"""Span attention's own check: the heaviest span read alone, and random spans of its length."""

from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.core.passes.target import class_probabilities

TEXT = "A gripping, lovely film that I liked a lot."


def alone(model, example, words):
    """[class] probabilities of the model on these words, the others absent."""
    batch = model.encode([example])
    every = batch.pieces_of(0, "word")
    gone = [piece for number, pieces in enumerate(every) if number not in words for piece in pieces]
    logits = model.trace([batch.edited(0, gone, "absent")]).logits.detach().double()
    return class_probabilities(logits, model.problem)[0].numpy()


def test_the_heaviest_span_and_all_others_of_its_length_are_read_alone(self_explaining):
    [found] = pellucid.explain(self_explaining, TEXT, method="span_attention", random_spans=99)
    spans, best = found.units, int(found.scores.argmax())
    place = {part: number for number, part in enumerate(spans.parts.content)}
    first, last = place[int(spans.first[best])], place[int(spans.last[best])]
    predicted, size = found.prediction.labels.index(found.prediction.label), last - first + 1
    said = alone(self_explaining, found.example, range(first, last + 1))
    assert found.diagnostics["alone_probability"] == pytest.approx(said[predicted], abs=1e-6)
    assert found.diagnostics["alone_agrees"] == (said.argmax() == predicted)
    others = [
        alone(self_explaining, found.example, range(start, start + size)).argmax() == predicted
        for start in range(len(place) - size + 1)
        if start != first
    ]
    assert found.diagnostics["random_agrees"] == pytest.approx(np.mean(others))
    assert any("Read alone" in caveat for caveat in found.caveats) == (said.argmax() != predicted)


def test_effective_numbers_count_the_spans_that_hold_the_weight(self_explaining):
    [found] = pellucid.explain(self_explaining, TEXT, method="span_attention")
    weights = found.scores.astype(float)
    assert found.diagnostics["effective_spans"] == pytest.approx(1 / (weights**2).sum(), rel=1e-4)
    held = weights[weights > 0]
    assert found.diagnostics["entropy_spans"] == pytest.approx(np.exp(-(held * np.log(held)).sum()), rel=1e-4)


def test_nothing_is_read_alone_unless_asked_and_one_word_has_no_other(self_explaining):
    [quiet] = pellucid.explain(self_explaining, TEXT, method="span_attention", random_spans=0)
    assert not {"alone_agrees", "random_agrees"} & {*quiet.diagnostics}
    [one] = pellucid.explain(self_explaining, "fine", method="span_attention")
    assert one.diagnostics["alone_agrees"] == 1 and "random_agrees" not in one.diagnostics


def test_a_long_text_tells_of_its_worst_window(self_explaining):
    [found] = pellucid.explain(replace(self_explaining, window=12), TEXT * 3, method="span_attention")
    assert found.diagnostics["windows"] > 1
    assert found.diagnostics["alone_agrees"] in (0, 1)
