"""Which texts are attacked: those that the model answers right, or whose right answer is not known."""

from pellucid.core.passes.target import Problem
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.label_map import ON, label_names


def is_right(label: str | None, answer: Prediction, problem: Problem, about: str = "") -> bool:
    """Whether an answer is the label; True where the label says nothing of the model's classes, as for one that answers with a value.

    about: where a text can have several labels, the only one that counts; "": all.
    """
    if problem != "multi_label":
        return problem == "regression" or label not in answer.labels or label == answer.label
    names = set(label_names(label, True))
    if label is None or not names <= set(answer.labels):
        return True
    return all(
        (name in names) == (chance >= ON)
        for name, chance in zip(answer.labels, answer.probabilities, strict=True)
        if about in ("", name)
    )
