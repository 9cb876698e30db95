"""Families of methods: what they do to the model, told from what they need; the order of rows on a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.foundation.kinds import attributions
from pellucid.core.results.explanation import Explanation
from pellucid.reports.wording.method_facts import entry_of


@dataclass(frozen=True)
class Family:
    """A heading and one plain sentence for the methods that ask the model in the same way."""

    heading: str
    about: str


REMOVING = Family(
    "By taking words away", "The model answers again and again while parts of the text are gone."
)
BACKWARD = Family(
    "By going back from the answer",
    "Gradients and relevance: how the answer hangs on the numbers that stand for each word.",
)
ATTENTION = Family(
    "By the model’s own weights", "Where the model looked. Weights alone say nothing for or against."
)
FLOOR = Family("Random scores", "For comparison: a picture that could be one of these says nothing.")
UNKNOWN = Family("Others", "Methods that are not installed here.")
FAMILIES = (REMOVING, BACKWARD, ATTENTION, FLOOR, UNKNOWN)


def family_of(method: str) -> Family:
    """The family of a method's title."""
    entry = entry_of(attributions, method)
    if entry is None:
        return UNKNOWN
    needs = entry.facts["needs"]
    if entry.facts["floor"]:
        return FLOOR
    if needs & {"attention", "span_weights", "rationale"}:
        return ATTENTION
    return BACKWARD if needs else REMOVING


def in_families(explanations: Sequence[Explanation]) -> Mapping[Family, list[Explanation]]:
    """The explanations by family, families in the order of the page, without those that have none."""
    groups = {family: [one for one in explanations if family_of(one.method) == family] for family in FAMILIES}
    return {family: found for family, found in groups.items() if found}


def ordered(methods: Sequence[str]) -> list[str]:
    """Methods' titles in the order of the page."""
    return sorted(methods, key=lambda method: FAMILIES.index(family_of(method)))
