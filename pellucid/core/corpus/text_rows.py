"""One explanation as one row of plain values: the text, the answer, and its words with their scores."""

from typing import TypedDict

from pellucid.core.results.explanation import Explanation


class TextRow(TypedDict):
    """The text, the answer, and the words with their scores."""

    id: str
    text: str
    label: str | None
    predicted: str | float
    correct: bool | None
    probability: float
    method: str
    target: str
    value: float
    words: list[str] | None
    scores: list[float] | None


def text_row(explanation: Explanation) -> TextRow:
    """The row of one text; words and scores are lists of one length, None where scores have several rows."""
    prediction, target = explanation.prediction, explanation.target
    pairs = None if explanation.rows else list(explanation)
    return {
        "id": explanation.example.id,
        "text": explanation.example.text,
        "label": explanation.example.label,
        "predicted": explanation.answer,
        "correct": explanation.is_correct,
        "probability": prediction.probability,
        "method": explanation.method,
        "target": str(target),
        "value": target.value,
        "words": None if pairs is None else [word for word, _ in pairs],
        "scores": None if pairs is None else [score for _, score in pairs],
    }
