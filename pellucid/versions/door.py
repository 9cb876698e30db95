"""The door `diff`: explanations of the same texts under two versions of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pellucid.base.checks import clipped, every, in_syntax, known, listed, listed_members, of_class, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.explaining.read import read_explanations
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.versions.measuring import Side, difference
from pellucid.versions.record import Difference

MOST_RESAMPLES, MOST_WORDS = 1_000_000, 1000
HIGHEST_SEED = 2**63 - 1  # as in run/blank.py, which imports torch, and nothing here computes with it
Saved = str | Path | Sequence[Explanation]


def diff(
    a: Saved,
    b: Saved,
    *,
    twins: Saved | Sequence[Saved] = (),
    method: str | None = None,
    k: int = 3,
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """What changed between two versions of a model: its answers to the same texts, and the words that they depended on.

    a, b: the explanations of the first and of the second version: what `explain` or `read` returned, a file that `save`
        wrote, or a comparison's folder. Texts are matched by id and text, then by text alone.
    twins: explanations of the same texts by further trainings of the first version, which differ in their random seed
        alone: one of these forms, or a list of them. They are the noise floor: how far two trainings differ without any
        change.
    method: the method to compare, where there are explanations of several.
    k: how many of a text's highest-scored words are compared, 1 or more.
    resamples: bootstrap draws behind each 95 % interval, 10 or more. seed: of these draws.

    Returns the texts, worst first, and means with intervals over all of them. Raises `BadInput` for explanations that
    cannot be compared: no text in common, other targets, methods, settings, units or classes; `BadSetting` where
    several methods are mixed; `BadFile` for a file that cannot be read.

    >>> def version(word):
    ...     answer = lambda texts: [[0.1, 0.9] if word in text else [0.8, 0.2] for text in texts]
    ...     return pellucid.from_function(answer, ["negative", "positive"])
    >>> texts = [("A good film.", "positive"), ("A good, long evening.", "positive")]
    >>> texts.append(("Dull, and not long.", "negative"))
    >>> before, after = (pellucid.explain(version(word), texts) for word in ("good", "long"))
    >>> changes = pellucid.diff(before, after)
    >>> changes
    <Difference: 2 of 3 answers changed, by occlusion>
    >>> worst = changes[0]
    >>> worst.after.example.text, worst.words_after
    ('Dull, and not long.', ('long',))
    >>> changes.summary().became_wrong, round(changes.summary().means.overlap.mean, 2)
    (2, 0.73)
    """
    whole("k", k, 1, MOST_WORDS)
    whole("resamples", resamples, 10, MOST_RESAMPLES)
    whole("seed", seed, 0, HIGHEST_SEED)
    if method is not None:
        of_class("The method", method, str, "give its name")
    sides = [_results(a, "a"), _results(b, "b"), *_twins(twins)]
    name = _method(sides, method)
    before, after, *others = (_of_method(side, name) for side in sides)
    return difference(before, after, others, k=k, resamples=resamples, seed=seed)


def _results(results: Saved, name: str) -> Side:
    """What messages call the explanations, and themselves: from a file or folder, or in memory."""
    if isinstance(results, str | Path):
        name, explanations = clipped(str(results)), read_explanations(results)
    else:
        members = every(name, results, Explanation, "give what explain or read returned, or a file that save wrote")
        explanations = Results(tuple(members))
    if not explanations:
        raise BadInput(f"There is no explanation in {name}; give results of at least one text.")
    return name, explanations


def _twins(twins: Saved | Sequence[Saved]) -> list[Side]:
    """Each twin's explanations; one twin is a list of one."""
    members = None if isinstance(twins, str | Path | Results) else listed_members(twins)
    if members is None or (members and all(isinstance(member, Explanation) for member in members)):
        return [_results(twins, "the twin")]  # type: ignore[arg-type]  # checked there
    return [_results(member, f"twin {number}") for number, member in enumerate(members, 1)]  # type: ignore[arg-type]


def _method(sides: Sequence[Side], method: str | None) -> str:
    """The method of all sides: the named one, or the only one."""
    methods = [_methods(explanations) for _, explanations in sides]
    common = [name for name in methods[0] if all(name in others for others in methods)]
    if method is not None:
        for (side, _), names in zip(sides, methods, strict=True):
            known(f"method of {side}", method, names)
        return method
    if not common:
        by = "; ".join(f"{side} is by {listed(names)}" for (side, _), names in zip(sides, methods, strict=True))
        raise BadInput(f"There is no method in common: {by}. Explain both versions by the same method.")
    if len(common) > 1:
        raise BadSetting(
            f"These results are of several methods; {in_syntax('give method=', 'add --method')} with one of: "
            f"{listed(common)}."
        )
    return common[0]


def _methods(explanations: Sequence[Explanation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.method for one in explanations))


def _of_method(side: Side, method: str) -> Side:
    return side[0], [one for one in side[1] if one.method == method]
