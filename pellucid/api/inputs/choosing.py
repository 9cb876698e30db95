"""Which methods and metrics run when the caller names none, or "all"."""

from collections.abc import Iterable, Sequence

from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.checks import choices
from pellucid.core.foundation.kinds import attributions
from pellucid.core.foundation.kinds import metrics as known_metrics
from pellucid.core.passes.model import WRITING, Model
from pellucid.core.passes.target import TargetName
from pellucid.core.states.hidden_target import HiddenState
from pellucid.core.text.example import Example
from pellucid.core.writing.word import Word
from pellucid.evaluation.comparison.comparison import OF_TEXTS

ALL = "all"  # in a list of methods: every one that is usual and that the model supports


def default_method(
    model: Model, target: TargetName | HiddenState | Word = "predicted", output: str = "logit"
) -> str:
    """The method where none is named: a self-explaining model's own, else integrated gradients, else occlusion.

    A model's own weights say which words the answer was read from; another class, or another number than the logit, they
    cannot explain. Of a model that writes, span attention where it has span weights, else occlusion.
    """
    own = ("span_attention", "rationale", "b_cos") if target == "predicted" and output == "logit" else ()
    if WRITING in model.capabilities:
        words = not isinstance(target, Word) or target.against is None
        # Edited texts serve all words at once.
        return "span_attention" if words and "span_weights" in model.capabilities else "occlusion"
    works = supported_methods(model)
    return next(name for name in (*own, "integrated_gradients", "occlusion") if name in works)


def methods_to_run(model: Model, methods: Iterable[Choice] | None) -> tuple[list[Choice], frozenset[str]]:
    """The methods to run, and the names of those that "all" stands for."""
    listed = [ALL] if methods is None else choices("methods", methods)
    named = [choice for choice in listed if choice != ALL]
    if ALL not in listed:
        return named, frozenset()
    names = {attributions.full_name(choice if isinstance(choice, str) else choice[0]) for choice in named}
    usual = [str(choice) for choice in usual_methods(model) if choice not in names]
    return [*usual, *named], frozenset(usual)


def usual_methods(model: Model) -> list[Choice]:
    """The names of the usual methods that the model supports: those that run without being named."""
    return [name for name in supported_methods(model) if attributions.get(str(name)).facts["usual"]]


def supported_methods(model: Model) -> list[Choice]:
    """The names of all methods that need nothing that the model lacks."""
    return [
        name
        for name in attributions.names()
        if not attributions.get(name).facts["needs"] - model.capabilities
    ]


def default_metrics(model: Model, examples: Sequence[Example]) -> list[Choice]:
    """All usual metrics; where a label is not one of the model's classes, metrics use its prediction instead of the label.

    Of a model that writes those that judge what it writes.
    """
    if WRITING in model.capabilities:
        return [*OF_TEXTS]
    strange = any(example.label not in model.labels for example in examples)
    usual = [name for name in known_metrics.names() if known_metrics.get(name).facts["usual"]]
    names = sorted(usual, key=lambda name: known_metrics.get(name).facts["column"])
    by_prediction = {"reference": "prediction"}
    return [
        (name, by_prediction) if strange and "reference" in known_metrics.get(name).defaults else name
        for name in names
    ]
