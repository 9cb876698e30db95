"""Pairs: no span crosses from one text into the other, in tokenizers of either manner, and the pooled vector reads
both.
"""

import os
from itertools import islice
from pathlib import Path

import pytest
import torch

from pellucid.base.kinds import poolers
from pellucid.data.formats.json_lines import json_lines
from pellucid.models.classifiers.classifier import Classifier
from pellucid.text.example import as_examples
from tests.models.pieces import pieces_of
from tests.shared.tiny import tiny_classifier

FOLDER = os.environ.get("PELLUCID_DATA")
FAMILIES = ("bert", "roberta", "xlm_roberta")  # one separator between the texts, or two
WIDTH = 4


@pytest.fixture(scope="module", params=FAMILIES)
def classifier(request):
    return tiny_classifier(request.param)


def pairs():
    """Pairs of ours, and of SNLI where it lies beside the project."""
    ours = as_examples([("A man sleeps.", "He is awake ."), ("x", "No one , not even a cat"), ("Two . dots .", "y")])
    if FOLDER is None:
        return list(ours)
    (path,) = Path(FOLDER).glob("snli/dev.jsonl*")
    return [*ours, *islice(json_lines(path, "all"), 200)]


def pooled(classifier: Classifier, example, unit):
    """The pooler's answer to states that know nothing of each other, the states and the batch."""
    batch = classifier.encode([example])
    torch.manual_seed(0)
    pooler = poolers.get("span").make(WIDTH, unit=unit)
    states = torch.randn(1, len(batch.rows[0]), WIDTH, requires_grad=True)
    row = batch.rows[0]
    pieces = pieces_of(torch.tensor([row.word_index]), torch.tensor([row.segments]))
    return pooler(states, pieces), states, batch


@pytest.mark.parametrize("unit", ("word", "piece"))
def test_no_span_crosses_and_both_texts_are_read(classifier, unit):
    for example in pairs():
        answer, states, batch = pooled(classifier, example, unit)
        segments = [batch.units[0].segment[pieces[0]] for pieces in batch.pieces_of(0, unit)]
        weights = (answer.spans.scores[0] - answer.spans.log_normaliser[0]).exp()
        legal = torch.tensor(
            [[i <= j and segments[i] == segments[j] for j in range(len(segments))] for i in range(len(segments))]
        )
        assert set(segments) == {0, 1}
        assert torch.equal(weights > 0, legal)
        (gradient,) = torch.autograd.grad(answer.vector.sum(), states)
        read = gradient[0].abs().sum(-1) > 0
        assert read.tolist() == [segment >= 0 for segment in batch.rows[0].segments]
