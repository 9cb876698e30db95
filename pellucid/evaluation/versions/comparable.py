"""Whether two sets of explanations answer the same question: one method with the same settings, targets, units and classes."""

import json
from collections.abc import Mapping, Sequence

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import clipped, listed, quoted
from pellucid.core.results.explanation import Explanation
from pellucid.evaluation.versions.common_words import unit_of
from pellucid.evaluation.versions.matching import Pair


def check_settings(sides: Sequence[tuple[str, Sequence[Explanation]]]) -> None:
    """Raise `BadInput` where the explanations were not all made with the same settings; sides: (name, explanations)."""
    name, first = sides[0][0], sides[0][1][0]
    for other_name, explanations in sides:
        other = next((one for one in explanations if _plain(one.settings) != _plain(first.settings)), None)
        if other is not None:
            raise BadInput(
                f"{first.method} ran with {_differing(first, other)} in {name} and with {_differing(other, first)} in "
                f"{other_name}; explain both with the same settings."
            )


def check_pairs(pairs: Sequence[Pair], names: tuple[str, str]) -> None:
    """Raise `BadInput` for pairs of explanations that cannot be compared; names: of both sides."""
    if not pairs:
        raise BadInput(
            f"{names[0]} and {names[1]} have no text in common; explain the same texts with both models, for example one "
            "file of data."
        )
    for before, after in pairs:
        _check_target(before, after, names)
        if unit_of(before) != unit_of(after):
            raise BadInput(
                f"{names[0]} has scores a {unit_of(before)}, {names[1]} scores a {unit_of(after)} (text "
                f"{quoted(before.example.id)}); explain both by the same unit."
            )
    _check_classes(pairs[0], names)


def is_same_target(before: Explanation, after: Explanation) -> bool:
    """Whether both explanations are of one class, or one contrast; else their scores cannot be compared."""
    one, other = before.target, after.target
    return (one.label, one.against, one.output) == (other.label, other.against, other.output)


def _check_target(before: Explanation, after: Explanation, names: tuple[str, str]) -> None:
    """Equal targets are fine, and so is each version's own answer."""
    by_answer = all(
        one.target.label == one.prediction.label and not one.target.against for one in (before, after)
    )
    if is_same_target(before, after) or (by_answer and before.target.output == after.target.output):
        return
    raise BadInput(
        f"{names[0]} explains the {before.target}, {names[1]} the {after.target} (text {quoted(before.example.id)}); give "
        "results of one target: each model's own answer, or the same class and output for both."
    )


def _check_classes(pair: Pair, names: tuple[str, str]) -> None:
    one, other = (explanation.prediction.labels for explanation in pair)
    if not set(one) & set(other):
        raise BadInput(
            f"The model of {names[0]} has the classes {listed(one)}, that of {names[1]} {listed(other)}; give two versions "
            "with at least one class in common."
        )


def _plain(settings: Mapping[str, object]) -> str:
    """Settings as a file keeps them, where tuples are lists."""
    return json.dumps(dict(settings), sort_keys=True, default=str)


def _differing(one: Explanation, other: Explanation) -> str:
    """The settings that differ, as this side has them."""
    every = {**one.settings, **other.settings}
    names = [name for name in every if _value(one, name) != _value(other, name)]
    return clipped(", ".join(f"{name}={one.settings.get(name)}" for name in names))


def _value(explanation: Explanation, name: str) -> str:
    return _plain({name: explanation.settings[name]} if name in explanation.settings else {})
