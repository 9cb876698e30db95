"""What a composed network returns: logits, and its pooler's own weights."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.wording import listed, quoted
from pellucid.models.pooling.pooler import OwnWeights
from pellucid.run.trace import StateTrace
from pellucid.text.example import is_utf8


@dataclass(frozen=True, kw_only=True)
class Output(OwnWeights):
    """logits: [batch class]. states: what the encoder made of the word vectors; None where the network shows neither."""

    logits: Tensor
    states: StateTrace | None = None


# Class names: they come from files of strangers, stand on every page, and name a class that is to be
# explained.


def class_names(setting: str, labels: object) -> tuple[str, ...]:
    """The classes' names as strings; raises `BadSetting` for what is no list of names."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise BadSetting(
            f"{setting}={quoted(labels)} is no list of names; give one name a class: ['negative', 'positive']."
        )
    try:
        return tuple(map(str, labels))
    except Exception as error:  # of a stranger's class
        raise BadSetting(
            f"The names in {setting} cannot be read ({type(error).__name__}); give strings."
        ) from None


def check_labels(labels: Sequence[object]) -> None:
    """Raise `ModelCannot` for no class, for names that are no strings or cannot be written, or the same one twice."""
    for label in labels:
        if not isinstance(label, str) or not is_utf8(label):
            raise ModelCannot(
                f"A class is called {quoted(label)}; rename it, in the model's config.json, with plain characters."
            )
    if not labels or len(set(labels)) < len(labels):
        twice = sorted({label for label in labels if labels.count(label) > 1})  # type: ignore[type-var]
        problem = f"Two classes share a name ({listed(twice)})" if twice else "The model has no class"  # type: ignore[arg-type]
        raise ModelCannot(f"{problem}; name every class in id2label of the model's config.json.")
