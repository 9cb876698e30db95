"""Labels of a door's examples beside the classes of its model: renamed by a map, or a notice where they are no classes."""

from collections.abc import Sequence
from typing import Literal

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.notices import UnmatchedLabels, notify
from pellucid.core.passes.model import Model
from pellucid.core.passes.target import TargetName
from pellucid.core.states.hidden_target import HiddenState
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import LabelMap, label_caution, with_label_map
from pellucid.core.writing.word import Word

StrangeLabels = Literal["notice", "error", "allowed"]


def fitting(
    model: Model, examples: Sequence[Example], label_map: LabelMap | None, strange: StrangeLabels = "notice"
) -> tuple[Example, ...]:
    """The examples with labels renamed by the map; without one, `strange` says what labels that are no classes lead to."""
    if label_map is not None:
        return with_label_map(examples, label_map, model.labels, model.problem == "multi_label")
    sentence = "" if strange == "allowed" else strange_labels(model, examples)
    if sentence and strange == "error":
        raise BadInput(sentence)
    if sentence:
        notify(sentence, UnmatchedLabels)
    return tuple(examples)


def strange_for(target: TargetName | HiddenState | Word) -> StrangeLabels:
    """What labels that are no classes lead to: an error where the target is the gold class, else a notice."""
    return "error" if reads_label(target) else "notice"


def reads_label(target: TargetName | HiddenState | Word) -> bool:
    """Whether what is explained depends on a text's label."""
    parts = target if isinstance(target, tuple) else (target,)
    return any(isinstance(part, str) and part == "gold" for part in parts)


def strange_labels(model: Model, examples: Sequence[Example]) -> str:
    """One sentence on labels that are no classes of the model; empty where all are, or where the model has no classes."""
    if model.problem == "regression":
        return ""
    return label_caution(examples, model.labels, model.problem == "multi_label")
