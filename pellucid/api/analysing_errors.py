"""The door `error_analysis`: what the evidence of a self-explaining model looks like where it is wrong."""

from collections.abc import Sequence

from pellucid.api.analysing_spans import span_weights
from pellucid.core.error_analysis import ErrorAnalysis
from pellucid.core.errors import ModelCannot
from pellucid.core.example import Example
from pellucid.core.model import Model
from pellucid.core.trained_texts import seen_caveats
from pellucid.evaluation.cue_words import cue_words, same_texts
from pellucid.evaluation.error_grouping import grouped


def error_analysis(
    model: Model,
    examples: Sequence[Example],
    *,
    train: Sequence[Example],
    min_count: int = 5,
    progress: bool | None = None,
) -> ErrorAnalysis:
    """What the evidence of a self-explaining model looks like where it is wrong, counted against where it is right.

    train: labelled texts, other than the examples, to learn each class's cue words from; min_count: in how many of a
    class's train texts a cue word has to be. Raises `ModelCannot` for a model without span attention or with
    several labels a text, `BadInput` for texts without one of its classes as their label.
    """
    if model.problem == "multi_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; error analysis counts right and wrong answers of one label a "
            "text. Give a single-label model."
        )
    cues = cue_words(train, min_count)
    due = (*seen_caveats(model, examples), *same_texts(train, examples))
    return grouped(span_weights(model, examples, "predicted", 0, progress), cues, due)
