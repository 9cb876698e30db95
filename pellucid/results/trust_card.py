"""The trust card of a comparison: which methods to use for this model, which not, and on what evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pellucid.base.kinds import renderers

Kind = Literal["use", "fast", "second", "people", "unclear", "avoid", "untested", "limits"]


@dataclass(frozen=True)
class Advice:
    """One point of the card.

    kind: "use", "fast" (where speed matters), "second" (faithful, but less), "people" (agrees with what people marked), "unclear", "avoid", "untested" (what was
    not measured) or "limits" (what the numbers cannot say). methods: those that it is about. sentence: the advice, with its
    reason. evidence: the tests behind it, one sentence each.
    """

    kind: Kind
    methods: tuple[str, ...]
    sentence: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class TrustCard:
    """What a comparison advises for one model.

    model: its name. n_texts: how many texts were compared. advice: the points, most important first. tests: how they were tested,
    in a sentence.
    """

    model: str
    n_texts: int
    advice: tuple[Advice, ...]
    tests: str

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_trust_card").make(self)

    def __repr__(self) -> str:
        return f"<TrustCard of {self.model}: {self.n_texts:,} texts, recommended: {', '.join(self.recommended) or 'none'}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_html_of_trust_card").make(self)

    def points(self, kind: Kind) -> tuple[Advice, ...]:
        """The points of one kind."""
        return tuple(one for one in self.advice if one.kind == kind)

    @property
    def recommended(self) -> tuple[str, ...]:
        """The methods to use for faithful reading, the best one first; none where the evidence does not suffice."""
        return tuple(method for one in self.points("use") for method in one.methods)

    @staticmethod
    def read(record: Mapping[str, Any]) -> "TrustCard":
        """The card from the record that `dataclasses.asdict` makes; raises `ValueError`, `LookupError` or `TypeError` for another."""
        advice = tuple(_advice(one) for one in record["advice"])
        n_texts = record["n_texts"]
        if not isinstance(n_texts, int) or isinstance(n_texts, bool):
            raise TypeError("the number of texts is no whole number")
        return TrustCard(_word(record["model"]), n_texts, advice, _word(record["tests"]))


def _advice(record: Mapping[str, Any]) -> Advice:
    if record["kind"] not in get_args(Kind):
        raise ValueError("a point of the card is of no known kind")
    methods, evidence = _words(record["methods"]), _words(record["evidence"])
    return Advice(record["kind"], methods, _word(record["sentence"]), evidence)


def _words(record: Sequence[object]) -> tuple[str, ...]:
    if isinstance(record, str):
        raise TypeError("a text stands where a list of texts belongs")
    return tuple(map(_word, record))


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("something else stands where a text belongs")
    return value
