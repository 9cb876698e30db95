"""Diagnostics: those that every explanation may have, and the facts of all, looked up by name.

A name that nobody registered, such as that of an absent plug-in, has no words; its highest value counts as the worst.
"""

from collections.abc import Sequence

from pellucid.core.foundation.catalogue import Entry
from pellucid.core.foundation.kinds import diagnostics


@diagnostics.add(worst="highest")
def parity(residual: float) -> str:
    """The largest difference between the logits that were explained and the model's own for the single text."""
    return ""  # a page says it once, for all methods together


@diagnostics.add(worst="highest")
def parity_of_sample(residual: float) -> str:
    """The largest `parity` of the texts that were checked, for a text that was not among them."""
    return ""


@diagnostics.add(worst="highest")
def resolution(size: float) -> str:
    """The size below which a score may be nothing but rounding, in the scores' unit; pictures and counts take such scores for 0."""
    return ""  # a caution says it where it matters


@diagnostics.add(worst="highest")
def windows(count: float) -> str:
    """The number of windows that a long text was read in."""
    return ""


@diagnostics.add(worst="highest")
def overlap_disagreement(share: float) -> str:
    """How much the scores of what stands in several windows differ between them: 0 to 1, 0 where they agree."""
    return ""


def worst_of(name: str, values: Sequence[float]) -> float:
    """Of several values of one diagnostic, the one that speaks most against the result."""
    entry = _entry(name)
    return min(values) if entry is not None and entry.facts["worst"] == "lowest" else max(values)


def sentence_of(name: str, value: float) -> str:
    """What a value means; empty where the diagnostic has no sentence, or no value (nan)."""
    entry = _entry(name)
    return "" if entry is None or value != value else entry.make(value)


def brief_of(name: str, value: float) -> str:
    """What a value means, in a few words; empty where the diagnostic has none, or no value (nan)."""
    entry = _entry(name)
    brief = None if entry is None else entry.facts["brief"]
    return "" if brief is None or value != value else brief(value)


def _entry(name: str) -> Entry | None:
    return diagnostics.get(name) if name in diagnostics.names() else None
