"""What a reader must know of a method to read its picture: signs, sums, and whether it is random."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pellucid.base.catalogue import Catalogue, Entry
from pellucid.base.checks import short_title
from pellucid.base.kinds import attributions
from pellucid.results.explanation import WRITTEN, Explanation
from pellucid.text.units import Spans


@dataclass(frozen=True)
class MethodFacts:
    """signed: negative scores mean "against". complete: the scores add up to the rise of the target.

    floor: the scores are random. spans: they belong to spans. of_class: they change with the class that is explained.
    of_state: its explanations are of hidden states.
    """

    title: str
    signed: bool
    complete: bool
    floor: bool
    spans: bool
    of_class: bool = True
    of_state: bool = False
    summary: str = ""
    paper: str = ""


def readable(name: str) -> str:
    """A registered name for people: its underscores become spaces; long settings are shortened."""
    head, bracket, settings = short_title(name).partition("(")
    return head.replace("_", " ") + (f" ({settings}" if bracket else "")


def entry_of(catalogue: Catalogue, title: str) -> Entry | None:
    """The entry that a title such as `name(setting=3)` names; None if its plug-in is not installed."""
    name = title.partition("(")[0]
    return catalogue.get(name) if name in catalogue else None


def facts_of(method: str, explanations: Iterable[Explanation] = ()) -> MethodFacts:
    """The facts that a method registered; its explanations show whether it has negative scores or spans."""
    examples = list(explanations)
    entry = entry_of(attributions, method)
    facts = entry.facts if entry else {"signed": False, "complete": False, "floor": False, "of_class": True}
    return MethodFacts(
        title=readable(method),
        signed=(facts["signed"] and not facts["floor"]) or any((example.scores < 0).any() for example in examples),
        complete=facts["complete"],
        floor=facts["floor"],
        spans=any(isinstance(example.units, Spans) for example in examples),
        of_class=facts["of_class"],
        of_state=bool(examples) and all(map(explains_state, examples)),
        summary=entry.summary if entry else "",
        paper=entry.paper if entry else "",
    )


def explains_state(explanation: Explanation) -> bool:
    """Whether the scores explain hidden states, which speak for no class."""
    return explanation.target.output.startswith("hidden state")


def explains_written(explanation: Explanation) -> bool:
    """Whether the scores explain words that a model writes."""
    return explanation.target.output == WRITTEN


def measure_of(method: str) -> str:
    """The unit that all layers of a method share, such as nats, or "" where each layer has a scale of its own."""
    entry = entry_of(attributions, method)
    return str(entry.facts["measure"]) if entry else ""


def in_words(facts: MethodFacts) -> str:
    """How to read this method's colours or lines."""
    if facts.floor:
        return "Random scores, shown for comparison: the picture means nothing."
    if facts.spans and facts.signed:
        return "The spans with the largest scores: above 0 they speak for the explained answer, below 0 against it."
    if facts.spans:
        return (
            "The spans with the largest weights, heaviest first. A weight says that a span counted, not which answer "
            "it speaks for."
        )
    if facts.of_state and facts.signed:
        return "Orange words strengthen the explained hidden state, blue words weaken it."
    if facts.of_state:
        return (
            "The stronger the orange, the more the explained hidden state depends on the word. The colour says nothing "
            "about a class."
        )
    if facts.signed:
        return "Orange words speak for the explained answer, blue words against it."
    return (
        "The stronger the orange, the more a word counts. The colour does not say whether the word speaks for the "
        "answer or against it."
    )


# Families of methods, by what they need of the model; the order of the rows on a page.


@dataclass(frozen=True)
class Family:
    """A heading and one plain sentence for methods that question the model in the same way."""

    heading: str
    about: str


REMOVING = Family("By removing words", "The model reads the text many times, each time without some of its parts.")
BACKWARD = Family(
    "By working back from the answer",
    "Gradients and relevance: how the answer depends on the numbers that stand for each word.",
)
ATTENTION = Family(
    "By the model’s own weights",
    "Where the model looked. A weight does not say whether a word speaks for the answer or against it.",
)
FLOOR = Family("Random scores", "For comparison. A picture that looks like one of these says nothing about the model.")
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
    groups = {
        family: [explanation for explanation in explanations if family_of(explanation.method) == family]
        for family in FAMILIES
    }
    return {family: members for family, members in groups.items() if members}


def in_families_of(methods: Sequence[str]) -> Mapping[Family, list[str]]:
    """The titles of methods by family, in the order of the page; families without methods are left out."""
    groups = {family: [method for method in methods if family_of(method) == family] for family in FAMILIES}
    return {family: members for family, members in groups.items() if members}


def ordered(methods: Sequence[str]) -> list[str]:
    """The titles of methods, in the order of the page."""
    return sorted(methods, key=lambda method: FAMILIES.index(family_of(method)))
