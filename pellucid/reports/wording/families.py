"""Families of methods, by what they need of the model; the order of the rows on a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.foundation.kinds import attributions
from pellucid.core.results.explanation import Explanation
from pellucid.reports.wording.method_facts import entry_of


@dataclass(frozen=True)
class Family:
    """A heading and one plain sentence for methods that question the model in the same way."""

    heading: str
    about: str


REMOVING = Family(
    "By removing words", "The model reads the text many times, each time without some of its parts."
)
BACKWARD = Family(
    "By working back from the answer",
    "Gradients and relevance: how the answer depends on the numbers that stand for each word.",
)
ATTENTION = Family(
    "By the model’s own weights",
    "Where the model looked. A weight does not say whether a word speaks for the answer or against it.",
)
FLOOR = Family(
    "Random scores", "For comparison. A picture that looks like one of these says nothing about the model."
)
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
    if needs & {"attention", "span_weights", "unit_weights", "rationale"}:
        return ATTENTION
    return BACKWARD if needs else REMOVING


def in_families(explanations: Sequence[Explanation]) -> Mapping[Family, list[Explanation]]:
    """The explanations of each family, in the order of the page; families without explanations are left out."""
    groups = {family: [one for one in explanations if family_of(one.method) == family] for family in FAMILIES}
    return {family: members for family, members in groups.items() if members}


def ordered(methods: Sequence[str]) -> list[str]:
    """The titles of methods, in the order of the page."""
    return sorted(methods, key=lambda method: FAMILIES.index(family_of(method)))
