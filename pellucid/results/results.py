"""Results: the explanations of many texts, as a sequence that can be filtered, sorted, counted and drawn."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args, overload

import numpy as np

from pellucid.base.checks import known, one_of, short_title
from pellucid.base.errors import Failure
from pellucid.base.kinds import renderers
from pellucid.base.packages import optional_package
from pellucid.results.class_words import MIN_TEXTS, ClassWords, class_words
from pellucid.results.explanation import Explanation
from pellucid.results.summary import Summary, summary_of
from pellucid.text.example import Example

# One explanation as one row of plain values: the text, the answer, and its words with their scores.


class TextRow(TypedDict):
    """The text, the answer, and the words with their scores."""

    id: str
    text: str
    label: str | None
    predicted: str | float
    correct: bool | None
    probability: float
    method: str
    target: str
    value: float
    unread: list[str]
    words: list[str] | None
    scores: list[float] | None


def text_row(explanation: Explanation) -> TextRow:
    """The row of one text; words and scores are lists of one length, None where scores have several rows.

    unread: the words that the model cannot read.
    """
    prediction, target = explanation.prediction, explanation.target
    pairs = None if explanation.rows else list(explanation)
    return {
        "id": explanation.example.id,
        "text": explanation.example.text,
        "label": explanation.example.label,
        "predicted": explanation.answer,
        "correct": explanation.is_correct,
        "probability": prediction.probability,
        "method": explanation.method,
        "target": str(target),
        "value": target.value,
        "unread": explanation.unread(),
        "words": None if pairs is None else [word for word, _ in pairs],
        "scores": None if pairs is None else [score for _, score in pairs],
    }


if TYPE_CHECKING:
    import pandas

Order = Literal["confidence", "value", "text_order"]


@dataclass(frozen=True, eq=False, repr=False)
class Results(Sequence[Explanation]):
    """The explanations of many texts, in order; slices, filters and sorted copies are `Results` too.

    explanations: from `explain`. seconds: how long it took to compute them all; None where that is not known, as for a
    part of them. numbers: for each explanation its place, from 0, in the list that it was first in. failures: row, id
    and reason of each text that has no explanation (`on_error="keep"`); parts and sums of results have none.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> reviews = [("A good film.", "positive"), ("Not good.", "negative"), ("Dull.", "negative")]
    >>> results = pellucid.explain(model, reviews)
    >>> results[1:]
    <Results: 2 explanations by occlusion>
    """

    explanations: tuple[Explanation, ...]
    seconds: float | None = None
    numbers: tuple[int, ...] = ()
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "explanations", tuple(self.explanations))
        object.__setattr__(self, "numbers", tuple(self.numbers) or tuple(range(len(self.explanations))))

    def __len__(self) -> int:
        return len(self.explanations)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Explanation | Results":
        if isinstance(index, slice):
            return Results(self.explanations[index], numbers=self.numbers[index])
        return self.explanations[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results | list) and list(self.explanations) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: "Results | list[Explanation]") -> "Results":
        if not isinstance(other, Results | list):
            return NotImplemented
        theirs = other.seconds if isinstance(other, Results) else None
        seconds = None if self.seconds is None or theirs is None else self.seconds + theirs
        return Results((*self.explanations, *other), seconds)

    def __radd__(self, other: list[Explanation]) -> "Results":
        return Results((*other, *self.explanations)) if isinstance(other, list) else NotImplemented

    def __repr__(self) -> str:
        methods = f" by {', '.join(map(short_title, self.methods))}" if self else ""
        return f"<Results: {len(self):,} explanation{'' if len(self) == 1 else 's'}{methods}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_results").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_results").make(self)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that made the explanations, in order of appearance."""
        return tuple(dict.fromkeys(explanation.method for explanation in self))

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of the model or models, in order of appearance."""
        return tuple(dict.fromkeys(label for explanation in self for label in explanation.prediction.labels))

    def where(
        self,
        correct: bool | None = None,
        *,
        predicted: str | None = None,
        label: str | None = None,
        method: str | None = None,
        unsure: bool | None = None,
        contains: str | None = None,
    ) -> "Results":
        """The explanations that meet all conditions; None sets no condition.

        correct: whether the prediction is the label; texts without a label of the model meet neither True nor False.
        predicted: the predicted class. label: the label of the text. method: the method.
        unsure: whether the two likeliest classes are less than 0.2 apart. contains: a part of the text, in any case.

        Raises `UnknownName` for a class, label or method that none of the explanations has.

        >>> [one.example.text for one in results.where(correct=False, predicted="positive")]
        ['Not good.']
        """
        _check_names(self, predicted, label, method)
        conditions: list[Callable[[Explanation], bool]] = [
            lambda explanation: correct is None or explanation.is_correct is correct,
            lambda explanation: predicted is None or predicted in explanation.prediction.names,
            lambda explanation: label is None or explanation.example.label == label,
            lambda explanation: method is None or explanation.method == method,
            lambda explanation: unsure is None or explanation.prediction.is_unsure is unsure,
            lambda explanation: contains is None or contains.casefold() in explanation.example.text.casefold(),
        ]
        return _at(self, (n for n, explanation in enumerate(self) if all(meets(explanation) for meets in conditions)))

    def sorted_by(self, order: Order = "confidence", *, ascending: bool = True) -> "Results":
        """A sorted copy; ties keep their order.

        order: "confidence", the predicted class's probability, "value", the number that is explained, or "text_order",
            the list that the texts were first in.
        ascending: the least sure, the lowest, or the first, comes first. Raises `BadSetting` for another order.

        >>> [one.example.text for one in results.sorted_by("confidence")]
        ['Dull.', 'A good film.', 'Not good.']
        """
        one_of("order", order, get_args(Order))
        keys = {
            "confidence": lambda: [explanation.prediction.probability for explanation in self],
            "value": lambda: [explanation.target.value for explanation in self],
            "text_order": lambda: self.numbers,
        }[order]()
        places = sorted(range(len(self)), key=keys.__getitem__, reverse=not ascending)
        return _at(self, places, self.seconds)

    def summary(self) -> Summary:
        """Counts over all texts: predicted classes, accuracy, confusion, strongest words, cautions.

        >>> results.summary()
        <Summary: 3 texts, 67% right>
        """
        return summary_of(self.explanations, self.seconds)

    def words(self, *, min_texts: int = MIN_TEXTS) -> ClassWords:
        """The words that speak for and against each class, by their mean scores over the texts.

        min_texts: words that occur in fewer texts are left out. Raises `BadSetting` where several methods are mixed.

        >>> results.words(min_texts=2)
        <ClassWords: 2 words of negative, positive by occlusion>
        """
        return class_words(self.explanations, min_texts=min_texts)

    def data_frame(self) -> "pandas.DataFrame":
        """One row a text, with its answer and its words and scores as lists; needs the package pandas.

        >>> results.data_frame()["predicted"].tolist()
        ['positive', 'positive', 'negative']
        """
        return optional_package("pandas").DataFrame(self.records())

    def records(self) -> list[TextRow]:
        """The rows of `data_frame`, as plain values."""
        return [text_row(explanation) for explanation in self]


def _at(results: Results, places: Iterable[int], seconds: float | None = None) -> Results:
    places = list(places)
    return Results(
        tuple(results.explanations[place] for place in places),
        seconds,
        tuple(results.numbers[place] for place in places),
    )


def _check_names(results: Results, predicted: str | None, label: str | None, method: str | None) -> None:
    """Raise `UnknownName` for a class, label or method that none of the explanations has."""
    if predicted is not None:
        known("class of these results", predicted, results.labels)
    if label is not None:
        known("label of these results", label, {explanation.example.label for explanation in results} - {None})  # type: ignore[arg-type]
    if method is not None:
        known("method of these results", method, results.methods)


# Sequences whose members are read when they are needed, so that memory holds few of them.

Member = TypeVar("Member", covariant=True)
Answer = TypeVar("Answer")
Places = Sequence[int] | np.ndarray
AT_ONCE = 256  # members that are read together


class Stored(Sequence[Member]):
    """Members that are read when they are needed; a slice of them is in memory."""

    @abstractmethod
    def at(self, places: Places) -> Iterator[Member]:
        """The members at some places, in that order; of many places they are read together."""

    def __iter__(self) -> Iterator[Member]:
        for first in range(0, len(self), AT_ONCE):
            yield from self.at(range(first, min(first + AT_ONCE, len(self))))

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as a tuple does
        places = range(len(self))[index]
        return tuple(self.at(places)) if isinstance(places, range) else next(self.at([places]))


class StoredExplanations(Stored[Explanation]):
    """Explanations of the same texts by one or several methods."""

    @property
    @abstractmethod
    def by_method(self) -> "Mapping[str, StoredExplanations]":
        """Each method's title with the explanations by it alone."""

    @property
    @abstractmethod
    def distinct(self) -> np.ndarray:
        """The places of the explanations of different texts: of equal ones the first."""

    @property
    @abstractmethod
    def texts(self) -> Stored[Example]:
        """The text of each explanation."""


@dataclass(frozen=True, eq=False)
class StoredSelection(Stored[Member]):
    """Some of stored members, in an order of their own. places [member]: where each stands in the source."""

    source: Stored[Member]
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.places)

    def at(self, places: Places) -> Iterator[Member]:
        """See `Stored`."""
        return self.source.at(self.places[np.asarray(places, dtype=np.int64)])


def selection_of(source: Sequence[Member], places: np.ndarray) -> Sequence[Member]:
    """Some members of a sequence, in this order: of a stored one they are read when they are needed."""
    if isinstance(source, Stored):
        return StoredSelection(source, places)
    return tuple(source[place] for place in places.tolist())


def members_at(source: Sequence[Member], places: np.ndarray) -> Iterator[Member]:
    """The members at some places of a sequence, few of them in memory."""
    if not isinstance(source, Stored):
        yield from (source[place] for place in places.tolist())
        return
    for first in range(0, len(places), AT_ONCE):
        yield from source.at(places[first : first + AT_ONCE])


def answers_for(members: Sequence[Member], function: Callable[[Member], Answer]) -> list[Answer]:
    """What a function makes of each member, in order; stored ones are read in the order of their source."""
    if not isinstance(members, StoredSelection):
        return [function(member) for member in members]
    order = np.argsort(members.places, kind="stable")
    answers: list[Any] = [None] * len(order)
    for place, member in zip(order.tolist(), members_at(members, order), strict=True):
        answers[place] = function(member)
    return answers
