"""Labels of a door's examples beside the classes of its model: renamed by a map, or a notice where they are no classes."""

from collections.abc import Sequence

from pellucid.core.foundation.notices import Notice, notify
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import LabelMap, label_caution, with_label_map


class UnmatchedLabels(Notice):
    """Labels of the data are no classes of the model: how many, which, and the map that would join them."""


def fitting(
    model: Model, examples: Sequence[Example], label_map: LabelMap | None, warn: bool = True
) -> tuple[Example, ...]:
    """The examples with labels renamed by the map; without one, a notice where labels are no classes of the model."""
    if label_map is not None:
        return with_label_map(examples, label_map, model.labels, model.problem == "multi_label")
    if warn and (sentence := strange_labels(model, examples)):
        notify(sentence, UnmatchedLabels)
    return tuple(examples)


def strange_labels(model: Model, examples: Sequence[Example]) -> str:
    """One sentence on labels that are no classes of the model; empty where all are, or where the model has no classes."""
    if model.problem == "regression":
        return ""
    return label_caution(examples, model.labels, model.problem == "multi_label")
