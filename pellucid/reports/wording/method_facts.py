"""What a reader must know of a method to read its picture: has it signs, do scores sum up, is it luck?"""

from collections.abc import Iterable
from dataclasses import dataclass

from pellucid.core.foundation.catalogue import Catalogue, Entry
from pellucid.core.foundation.kinds import attributions
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Spans


@dataclass(frozen=True)
class MethodFacts:
    """signed: negative scores mean "against". complete: scores sum to the target's rise. floor: luck alone.

    of_class: scores change with what is explained.
    """

    title: str
    signed: bool
    complete: bool
    floor: bool
    spans: bool
    of_class: bool = True
    summary: str = ""
    paper: str = ""


def readable(name: str) -> str:
    """A registered name for people: underscores before the settings become spaces."""
    head, bracket, settings = name.partition("(")
    return head.replace("_", " ") + (f" ({settings}" if bracket else "")


def entry_of(catalogue: Catalogue, title: str) -> Entry | None:
    """The registered thing that a title like `name(setting=3)` names, or None for an absent plug-in."""
    name = title.partition("(")[0]
    return catalogue.get(name) if name in catalogue.names() else None


def facts_of(method: str, explanations: Iterable[Explanation] = ()) -> MethodFacts:
    """The facts a method registered; signs and spans also as seen in its explanations."""
    seen = list(explanations)
    entry = entry_of(attributions, method)
    facts = entry.facts if entry else {"signed": False, "complete": False, "floor": False, "of_class": True}
    return MethodFacts(
        title=readable(method),
        signed=(facts["signed"] and not facts["floor"]) or any((found.scores < 0).any() for found in seen),
        complete=facts["complete"],
        floor=facts["floor"],
        spans=any(isinstance(found.units, Spans) for found in seen),
        of_class=facts["of_class"],
        summary=entry.summary if entry else "",
        paper=entry.paper if entry else "",
    )


def in_words(facts: MethodFacts) -> str:
    """One plain sentence: how to read this method's colours."""
    if facts.floor:
        return "Random scores, shown for comparison: the picture means nothing."
    if facts.spans:
        return "The spans of text that weigh most, thickest line first; they say what counted, not for what."
    if facts.signed:
        return "Orange speaks for the explained answer, blue against it."
    return "The stronger the orange, the more the word counts; it does not say for or against what."
