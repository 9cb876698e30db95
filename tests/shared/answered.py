"""Explanations of short texts with words, scores, answers and labels as a test wants them."""

from pellucid.results.explanation import Explained, Prediction
from pellucid.text.example import Example
from tests.shared.explanations import explanation, word_units

CLASSES = ("negative", "positive")


def answered(text, scores=None, *, says="positive", sure=0.9, label=None, name="", **parts):
    """One explanation; scores: of its words, without the special tokens at both ends."""
    chances = (1 - sure, sure) if says == "positive" else (sure, 1 - sure)
    words = word_units((text,))
    scores = [0, *([0.0] * (len(words) - 2) if scores is None else scores), 0]
    fields = {
        "example": Example((text,), label, id=name or text[:8]),
        "units": words,
        "target": Explained(says, None, "logit", 1.0),
        "prediction": Prediction(says, CLASSES, (0.0, 1.0), chances),
        "caveats": (),
    }
    return explanation(text, scores, **fields | parts)
