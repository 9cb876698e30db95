"""A model's answer in words: its class, all its classes where a text can have several, or its value."""

from pellucid.core.results.explanation import Explanation
from pellucid.core.results.prediction import NO_CLASS
from pellucid.reports.wording.numbers import number, percent


def answer_name(explanation: Explanation) -> str:
    """The class; several with commas between them; or the value of a model that gives one."""
    answer = explanation.answer
    return number(answer) if isinstance(answer, float) else answer or NO_CLASS


def answer_with_chances(explanation: Explanation) -> str:
    """The same with probabilities in brackets: positive (93 %)."""
    prediction = explanation.prediction
    if explanation.predicted_value is not None or not prediction.probabilities:
        return answer_name(explanation)
    chances = dict(zip(prediction.labels, prediction.probabilities, strict=True))
    return ", ".join(f"{name} ({percent(chances[name])})" for name in prediction.names) or NO_CLASS
