"""What a console shows of a result or model is one short line, whatever it holds."""

import pytest

import pellucid
from pellucid.results.results import Results
from tests.shared.answered import answered
from tests.shared.sample_results import sample_table
from tests.shared.tiny import tiny_classifier

FINE = answered("fine film", [1, 2], label="positive")


def doubled(texts):
    """Probabilities of two classes."""
    return [[0.5, 0.5] for _ in texts]


@pytest.mark.parametrize(
    ("make", "expected"),
    (
        (lambda: sample_table(), "<Table: 4 methods × 4 metrics of pocket-model>"),
        (lambda: Results((FINE, FINE)).summary(), "<Summary: 2 texts, 100% right>"),
        (lambda: Results((answered("fine"),)).summary(), "<Summary: 1 text>"),
        (lambda: Results((FINE,)).words(min_texts=1), "<ClassWords: 2 words of positive by occlusion>"),
        (lambda: tiny_classifier("bert"), "<Classifier tiny bert: negative, neutral, positive>"),
        (
            lambda: pellucid.from_function(doubled, ["no", "yes"], name="mine"),
            "<FunctionClassifier mine: no, yes>",
        ),
    ),
)
def test_a_short_line(make, expected):
    assert repr(make()) == expected
