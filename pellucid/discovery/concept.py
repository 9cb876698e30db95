"""One learnt concept: what it is about, what it does, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.discovery.decoding import DecodedWord
from pellucid.discovery.naming import ConceptWord, NearConcept, name_from
from pellucid.results.explanation import Explanation
from pellucid.results.interval import interval_from, number_from, word_from
from pellucid.results.storage import from_records
from pellucid.results.table import Interval

NO_NAME = "no name"


@dataclass(frozen=True)
class BesideChance:
    """value: a mean with its 95 % interval. chance: the same of random directions. over: value less chance, text by
    text. n: how many texts, or states.
    """

    value: Interval
    chance: Interval
    over: Interval
    n: int

    @property
    def is_ahead(self) -> bool:
        """Whether the value is surely above chance."""
        return self.over.low > 0


@dataclass(frozen=True)
class ClassEffect:
    """What a concept adds to a class: activation times gradient of the class's logit, less its mean over classes."""

    label: str
    value: Interval


@dataclass(frozen=True)
class LearntConcept:
    """One concept. id: its number, from 1, the largest first.

    words, phrases: what stands out of chance, the surest first. limit: the standard errors that a word must exceed.
    near: the person's own concepts that it surely goes with. decoded: words that become likelier along it, by the
    model's language head.
    size: its share of what all concepts make of the states, 0 to 1. active: in which share of the states it is active.
    classes: the classes by what it adds, the most first. removal: by how much the answer's logit moves, in either
    direction, where the concept is taken out of the states, beside a random direction of equal size. texts: up to three
    texts with the highest activations, in colour.
    """

    id: int
    words: tuple[ConceptWord, ...]
    phrases: tuple[ConceptWord, ...]
    limit: float
    size: float
    active: float
    classes: tuple[ClassEffect, ...]
    removal: BesideChance
    texts: tuple[Explanation, ...]
    near: tuple[NearConcept, ...] = ()
    decoded: tuple[DecodedWord, ...] = ()

    @property
    def name(self) -> str:
        """Its first words, else the person's concept that it is nearest to, else the words that it decodes to; "no
        name" where nothing stands out of chance.
        """
        words, decoded = ([word.word for word in words] for words in (self.words, self.decoded))
        near = self.near[0].name if self.near else ""
        return name_from(words) or near or name_from(decoded) or NO_NAME

    @property
    def title(self) -> str:
        """Its number and name."""
        return f"{self.id}: {self.name}"


def concept_from(record: Mapping[str, Any]) -> LearntConcept:
    """A concept of a record of unknown origin; whatever does not fit raises an error of some kind."""
    return LearntConcept(
        int(record["id"]),
        tuple(map(_word, list_from(record["words"]))),
        tuple(map(_word, list_from(record["phrases"]))),
        number_from(record["limit"]),
        number_from(record["size"]),
        number_from(record["active"]),
        tuple(ClassEffect(word_from(e["label"]), interval_from(e["value"])) for e in list_from(record["classes"])),
        beside_from(record["removal"]),
        tuple(from_records(list_from(record["texts"]))),
        tuple(map(_near, list_from(record.get("near", [])))),
        tuple(map(_decoded, list_from(record.get("decoded", [])))),
    )


def _word(record: Mapping[str, Any]) -> ConceptWord:
    return ConceptWord(
        word_from(record["word"]), int(record["texts"]), number_from(record["mean"]), number_from(record["z"])
    )


def _near(record: Mapping[str, Any]) -> NearConcept:
    r, limit = number_from(record["r"]), number_from(record["limit"])
    return NearConcept(word_from(record["name"]), r, limit, int(record["texts"]))


def _decoded(record: Mapping[str, Any]) -> DecodedWord:
    return DecodedWord(word_from(record["word"]), number_from(record["rise"]), number_from(record["limit"]))


def beside_from(record: Mapping[str, Any]) -> BesideChance:
    """Three intervals of a record; raises `ValueError` for anything else."""
    value, chance, over = (interval_from(record[name]) for name in ("value", "chance", "over"))
    return BesideChance(value, chance, over, int(record["n"]))


def list_from(value: object) -> Sequence[Any]:
    """A list of a record; raises `ValueError` for anything else."""
    if not isinstance(value, list):
        raise ValueError("something else stands where a list belongs")
    return value
